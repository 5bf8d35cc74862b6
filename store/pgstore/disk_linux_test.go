package pgstore_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// apartVariable tells a child that it has mounts of its own.
const apartVariable = "RONDO_PGSTORE_APART"

// apart runs the test once more in a process with mounts of its own, which end with
// it, and tells whether this is that process.
func apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apartVariable) != "" {
		must(t, syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""))
		return true
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may mount the small disk that this test fills; as root it runs")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), apartVariable+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this machine lets not even root make mounts of its own, such as the small disk that this test fills")
	}
	if err != nil {
		t.Fatalf("in the child: %v\n%s", err, out)
	}
	return false
}

// A full disk stops epochs, each of which is whole or absent, and once there is room
// they go on.
func TestEpochsAreWholeOrAbsentWhenTheDiskIsFull(t *testing.T) {
	if !apart(t) {
		return
	}
	disk := t.TempDir()
	must(t, syscall.Mount("none", disk, "tmpfs", 0, "size=160m,mode=0755"), os.Chmod(filepath.Dir(disk), 0o755))
	t.Cleanup(func() { must(t, syscall.Unmount(disk, 0)) })
	ballast := filepath.Join(disk, "ballast")
	must(t, os.WriteFile(ballast, make([]byte, 64<<20), 0o600))
	s, err := pgtest.StartOn(disk, "-c", "max_wal_size=32MB", "-c", "min_wal_size=32MB", "-c", "autovacuum=off")
	must(t, err)
	closes(t, s)
	url := fresh(t, s)
	kept := open(t, url, pgstore.Options{})
	p := owned(t, kept, 1)[0]
	acked, full := 0, error(nil)
	for n := 1; full == nil; n++ {
		c := numbered(p, n)
		value := make([]byte, 256<<10)
		_, _ = rand.Read(value) // it does not fail
		c.States = append(c.States, store.StateWrite{Key: fmt.Sprintf("large %d", n), Name: "/x", Value: value})
		if full = kept.Commit(t.Context(), c); full == nil {
			acked = n
		}
	}
	if !errors.Is(full, store.ErrUnavailable) && !errors.Is(full, store.ErrUnknownOutcome) {
		t.Fatalf("a commit on a full disk: %v", full)
	}
	t.Logf("after %d commits: %v", acked, full)
	must(t, kept.Close(), os.Remove(ballast), s.Crash(), s.Begin())
	kept = open(t, url, pgstore.Options{})
	last := whole(t, kept, p, acked)
	p = raise(t, kept, p.ID).Partition
	must(t, kept.Commit(t.Context(), &store.Commit{Partition: p.ID, Generation: p.Generation, Computation: p.Computation, Offset: []byte("after")}))
	t.Logf("%d commits are there", last)
}
