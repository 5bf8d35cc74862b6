package pgstore_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// A full disk stops epochs, each of which is whole or absent, and once there is room
// they go on.
func TestEpochsAreWholeOrAbsentWhenTheDiskIsFull(t *testing.T) {
	disk := pgtest.SmallDisk(t, "160m")
	if disk == "" {
		return
	}
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
