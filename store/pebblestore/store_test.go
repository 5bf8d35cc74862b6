package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// pausing is a disk on which some operations wait while it is paused.
type pausing struct {
	vfs.FS
	gate atomic.Pointer[chan struct{}]
}

func newPausing(disk vfs.FS, waits func(errorfs.Op) bool) *pausing {
	p := &pausing{}
	p.FS = errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if gate := p.gate.Load(); gate != nil && waits(op) {
			<-*gate
		}
		return nil
	}))
	return p
}

// logSync is what a commit waits for.
func logSync(op errorfs.Op) bool {
	sync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
	return sync && strings.HasSuffix(op.Path, ".log")
}

func tableRead(op errorfs.Op) bool {
	return op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, ".sst")
}

func (p *pausing) pause() (resume func()) {
	gate := make(chan struct{})
	p.gate.Store(&gate)
	return func() {
		p.gate.Store(nil)
		close(gate)
	}
}

// owned returns an open store with n partitions that have a generation.
func owned(t *testing.T, o pebblestore.Options, n int) (*pebblestore.Store, []store.Partition) {
	t.Helper()
	s := open(t, "data", o)
	made, err := s.CreatePartitions(t.Context(), make([]store.Partition, 0))
	for range n {
		if err == nil {
			made, err = appendOwned(t.Context(), s, made)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, made
}

func appendOwned(ctx context.Context, s store.Store, ps []store.Partition) ([]store.Partition, error) {
	made, err := s.CreatePartitions(ctx, []store.Partition{{Computation: "c", Kind: store.RangePartition, Open: true}})
	if err != nil {
		return nil, err
	}
	job, err := s.RaiseGeneration(ctx, made[0].ID)
	if err != nil {
		return nil, err
	}
	return append(ps, job.Partition), nil
}

func state(p store.Partition, key, value string) *store.Commit {
	return &store.Commit{
		Partition: p.ID, Generation: p.Generation, Computation: p.Computation,
		States: []store.StateWrite{{Key: key, Name: "/x", Value: []byte(value)}},
	}
}

// running starts f and tells whether it has ended.
func running(f func()) (ended *atomic.Bool) {
	ended = &atomic.Bool{}
	go func() {
		f()
		ended.Store(true)
	}()
	return ended
}

// D-1: the new owner reads only when the former one's commit is settled.
func TestRaiseGenerationWaitsForTheCommitInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newPausing(vfs.NewMem(), logSync)
		s, p := owned(t, pebblestore.Options{FS: disk}, 2)
		resume := disk.pause()
		var commit, raise error
		committed := running(func() { commit = s.Commit(t.Context(), state(p[0], "a", "1")) })
		synctest.Wait()
		raised := running(func() { _, raise = s.RaiseGeneration(t.Context(), p[0].ID) })
		synctest.Wait()
		if committed.Load() || raised.Load() {
			t.Fatalf("while the log syncs: committed %v, raised %v", committed.Load(), raised.Load())
		}
		resume()
		synctest.Wait()
		if commit != nil || raise != nil || !committed.Load() || !raised.Load() {
			t.Fatalf("after the sync: commit %v, raise %v", commit, raise)
		}
		if err := s.Commit(t.Context(), state(p[0], "a", "2")); !errors.Is(err, store.ErrFenced) {
			t.Fatalf("stale commit: %v", err)
		}
		_ = s.Close()
	})
}

// A commit waits for its own sync only: the lock is the partition's.
func TestPartitionsShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newPausing(vfs.NewMem(), logSync)
		s, p := owned(t, pebblestore.Options{FS: disk}, 3)
		resume := disk.pause()
		var done [3]*atomic.Bool
		for i := range done {
			done[i] = running(func() {
				if err := s.Commit(t.Context(), state(p[i], fmt.Sprint(i), "1")); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		// All three are applied, which is seen, and wait for the disk.
		got, err := s.GetStates(t.Context(), "c", []string{"0", "1", "2"})
		if err != nil || len(got[0])+len(got[1])+len(got[2]) != 3 || done[0].Load() || done[1].Load() || done[2].Load() {
			t.Fatalf("while the log syncs: %v, %v", got, err)
		}
		resume()
		synctest.Wait()
		_ = s.Close()
	})
}

func TestACallThatWaitsForALockEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newPausing(vfs.NewMem(), logSync)
		s, p := owned(t, pebblestore.Options{FS: disk}, 1)
		resume := disk.pause()
		running(func() { _ = s.Commit(t.Context(), state(p[0], "a", "1")) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := s.Commit(ctx, state(p[0], "b", "1"))
		if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("commit behind a slow one: %v", err)
		}
		resume()
		synctest.Wait()
		got, err := s.GetStates(t.Context(), "c", []string{"a", "b"})
		if err != nil || len(got[0]) != 1 || len(got[1]) != 0 {
			t.Fatalf("states %v, %v", got, err)
		}
		_ = s.Close()
	})
}

func TestCloseWaitsForCallsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		s, p := owned(t, pebblestore.Options{FS: mem}, 1)
		for i := range 20 { // several blocks, so that opening does not read them all
			if err := s.Commit(t.Context(), bulky(p[0], i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		disk := newPausing(mem, tableRead)
		s = open(t, "data", pebblestore.Options{FS: disk})
		resume := disk.pause()
		var got [][]store.StateRow
		var get error
		running(func() { got, get = s.GetStates(t.Context(), "c", []string{"7"}) })
		synctest.Wait()
		closed := running(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if closed.Load() {
			t.Fatal("closed under a running call")
		}
		if _, err := s.Partitions(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Fatalf("call while closing: %v", err)
		}
		resume()
		synctest.Wait()
		if get != nil || len(got[0]) != 2 || !closed.Load() {
			t.Fatalf("get %v, %v, closed %v", got, get, closed.Load())
		}
	})
}

// KV-19: over a long run of deleted rows, in memory and in files, a list ends
// when its work is done, not when it finds a row.
func TestAListOverDeletedRowsEndsWithItsWork(t *testing.T) {
	fs := vfs.NewMem()
	s, p := owned(t, pebblestore.Options{FS: fs}, 1)
	for _, value := range []string{"1", ""} {
		c := state(p[0], "~last", "1")
		for i := range 20_000 {
			c.States = append(c.States, store.StateWrite{Key: fmt.Sprintf("%06d", i), Name: "/x", Value: []byte(value)})
		}
		if err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		checkWork(t, s, value == "")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, "data", pebblestore.Options{FS: fs})
		checkWork(t, s, value == "")
	}
}

func checkWork(t *testing.T, s store.Store, deleted bool) {
	t.Helper()
	a, err := s.ListStates(t.Context(), store.ListRequest{Computation: "c", Lower: "005", MaxWork: 500})
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case a.Complete: // the deleted rows are gone already
	case a.CompleteTo <= "005000" || a.CompleteTo > "005501":
		t.Fatalf("500 rows of work from 005000 on reach %q", a.CompleteTo)
	case deleted != (len(a.Keys) == 0):
		t.Fatalf("deleted %v: %d keys", deleted, len(a.Keys))
	}
}

func TestCorruptFilesStopTheStore(t *testing.T) {
	fs := vfs.NewMem()
	s, p := owned(t, pebblestore.Options{FS: fs}, 1)
	if err := s.Commit(t.Context(), state(p[0], "a", strings.Repeat("value", 10_000))); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, "data", pebblestore.Options{FS: fs}).Close(); err != nil { // writes the table
		t.Fatal(err)
	}
	damage(t, fs)
	var said safeBuffer
	s, err := pebblestore.Open("data", pebblestore.Options{FS: fs, Logger: logTo(&said)})
	if err == nil {
		defer s.Close()
		// The second key is beyond the table, so that reading it is no problem.
		_, err = s.GetStates(t.Context(), "c", []string{"a", "b"})
		if _, later := s.Partitions(t.Context()); !errors.Is(later, store.ErrCorrupt) {
			t.Errorf("a later call: %v", later)
		}
	}
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(said.String(), ".sst") {
		t.Fatalf("reading damaged bytes: %v, log: %s", err, said.String())
	}
}

// damage flips bits in the middle of every table.
func damage(t *testing.T, fs *vfs.MemFS) {
	t.Helper()
	names, err := fs.List("data")
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, name := range names {
		if !strings.HasSuffix(name, ".sst") {
			continue
		}
		tables++
		data, err := fs.UnsafeGetFileDataBuffer("data/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 20; i < 60; i++ {
			data[i] ^= 0xFF
		}
	}
	if tables == 0 {
		t.Fatal("there is no table to damage")
	}
}
