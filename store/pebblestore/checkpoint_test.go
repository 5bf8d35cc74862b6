package pebblestore_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// numbered writes n under two keys in one commit.
func numbered(p store.Partition, n int) *store.Commit {
	c := state(p, "a", strconv.Itoa(n))
	c.States = append(c.States, store.StateWrite{Key: "b", Name: "/x", Value: []byte(strconv.Itoa(n))})
	return c
}

// number reads what numbered wrote: both keys have it.
func number(t *testing.T, s store.Store) int {
	t.Helper()
	rows, err := s.GetStates(t.Context(), "c", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	a, b := string(rows[0][0].Value), string(rows[1][0].Value)
	n, err := strconv.Atoi(a)
	if err != nil || a != b {
		t.Fatalf("the keys of one commit have %q and %q", a, b)
	}
	return n
}

// The commits go on while copies are made. Each copy has what had returned before
// it, every commit whole, and lasts when the machine fails.
func TestACopyOfAStoreAtWorkHasEveryCommitWhole(t *testing.T) {
	disk := vfs.NewCrashableMem()
	s, p := owned(t, pebblestore.Options{FS: disk, MemTableBytes: smallTables}, 1)
	var done atomic.Int64
	stop, stopped := make(chan struct{}), make(chan error, 1)
	if err := s.Commit(t.Context(), numbered(p[0], 0)); err != nil {
		t.Fatal(err)
	}
	go func() {
		for n := 1; ; n++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := s.Commit(t.Context(), numbered(p[0], n)); err != nil {
				stopped <- err
				return
			}
			done.Store(int64(n))
		}
	}()
	for i := range 5 {
		before := done.Load()
		dir := fmt.Sprintf("copy%d", i)
		if err := s.Checkpoint(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		after := done.Load()
		lasting := disk.CrashClone(vfs.CrashCloneCfg{})
		n := number(t, open(t, dir, pebblestore.Options{FS: lasting}))
		if int64(n) < before || int64(n) > after+1 {
			t.Errorf("copy %d has commit %d, made between %d and %d", i, n, before, after)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

func TestACopyAndItsStoreGoTheirOwnWays(t *testing.T) {
	disk := vfs.NewMem()
	s, p := owned(t, pebblestore.Options{FS: disk}, 1)
	commit := func(s store.Store, p store.Partition, n int) {
		t.Helper()
		if err := s.Commit(t.Context(), numbered(p, n)); err != nil {
			t.Fatal(err)
		}
	}
	commit(s, p[0], 1)
	if err := s.Checkpoint(t.Context(), "copy"); err != nil {
		t.Fatal(err)
	}
	c := open(t, "copy", pebblestore.Options{FS: disk})
	commit(s, p[0], 2)
	if got := number(t, c); got != 1 {
		t.Errorf("the copy has commit %d of the store, made later", got)
	}
	job, err := c.RaiseGeneration(t.Context(), p[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	commit(c, job.Partition, 3)
	if got := number(t, s); got != 2 {
		t.Errorf("the store has commit %d of the copy", got)
	}
}

func TestACopyIsNotMadeOverSomethingAndAnInterruptedOneIsNoStore(t *testing.T) {
	disk := vfs.NewMem()
	s, _ := owned(t, pebblestore.Options{FS: disk}, 1)
	if err := disk.MkdirAll("there", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(t.Context(), "there"); err == nil {
		t.Error("a copy was made in a folder that was there")
	}
	if err := s.Checkpoint(t.Context(), "copy"); err != nil {
		t.Fatal(err)
	}
	if err := disk.Remove("copy/rondo.format"); err != nil { // it is written last
		t.Fatal(err)
	}
	if _, err := pebblestore.Open("copy", pebblestore.Options{FS: disk}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("an interrupted copy opens with %v, want ErrCorrupt", err)
	}
}
