package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// The server's disk becomes full, which ends the server too, until there is room and
// it is started again.
func TestFiguresAreExactThroughFullDisksOfTheDatabase(t *testing.T) {
	disk := pgtest.SmallDisk(t, "200m")
	if disk == "" {
		return
	}
	server, err := pgtest.StartOn(disk, "-c", "max_wal_size=32MB", "-c", "min_wal_size=32MB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	j := newJob(t, seed(), shape{rows: 10}).on(server, "job")
	j.command = buildCommand(t)
	ballast := filepath.Join(disk, "ballast")
	j.withstand(fault{
		strike: func() error { return fill(server, ballast) },
		heal:   func() error { return errors.Join(os.Remove(ballast), server.Crash(), server.Begin()) },
	})
}

// fill fills the disk, and has the server write its log until it finds that.
func fill(server *pgtest.Server, ballast string) error {
	full := os.WriteFile(ballast, make([]byte, 200<<20), 0o600)
	if full == nil {
		return errors.New("the disk is larger than thought")
	}
	const logged = "SELECT pg_logical_emit_message(false, 'rondo', repeat('x', 1000000)) FROM generate_series(1, 100)"
	if err := do(server, logged); err == nil {
		return fmt.Errorf("the server has room on a disk of which this is said: %w", full)
	}
	return nil
}
