package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// failing is a disk whose writes fail as decide says. It counts writes from 1.
func failing(disk vfs.FS, decide func(n int64, op errorfs.Op) bool) vfs.FS {
	var writes atomic.Int64
	return errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && decide(writes.Add(1), op) {
			return syscall.ENOSPC
		}
		return nil
	}))
}

// attempt is one process: it opens a store, commits until it is refused or has
// done enough, and closes it.
type attempt struct {
	t *testing.T
	// acked commits were acknowledged; of an unknown one, at most, nobody knows.
	acked, unknown int
	err            error
}

const attemptCommits = 30

func (a *attempt) run(fs vfs.FS) {
	s, err := pebblestore.Open("data", pebblestore.Options{FS: fs, MemTableBytes: 32 << 10})
	if err != nil {
		a.err = err
		return
	}
	defer func() {
		if err := s.Close(); err != nil {
			a.t.Errorf("close after %v: %v", a.err, err)
		}
	}()
	made, err := s.CreatePartitions(context.Background(), []store.Partition{{Computation: "c", Kind: store.RangePartition, Open: true}})
	if a.err = err; err != nil {
		return
	}
	job, err := s.RaiseGeneration(context.Background(), made[0].ID)
	if a.err = err; err != nil {
		return
	}
	a.commits(s, job.Partition)
}

func (a *attempt) commits(s store.Store, p store.Partition) {
	for i := 1; i <= attemptCommits; i++ {
		a.err = s.Commit(context.Background(), bulky(p, i))
		switch {
		case errors.Is(a.err, store.ErrUnknownOutcome):
			a.unknown = i
			a.stopped(s, p)
			return
		case a.err != nil:
			a.stopped(s, p)
			return
		}
		a.acked = i
	}
}

// stopped wants every later call to be refused and to say why.
func (a *attempt) stopped(s store.Store, p store.Partition) {
	again := s.Commit(context.Background(), bulky(p, attemptCommits+1))
	_, get := s.GetStates(context.Background(), "c", []string{"1"})
	_, raise := s.RaiseGeneration(context.Background(), p.ID)
	for _, err := range []error{again, get, raise} {
		if !errors.Is(err, store.ErrStopped) || !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "no space left") {
			a.t.Errorf("a call to the store that stopped returns %v", err)
		}
	}
}

// bulky is commit number i: big enough that a few of them fill a memtable, and
// two states that must be there together.
func bulky(p store.Partition, i int) *store.Commit {
	value := make([]byte, 4<<10)
	rnd := rand.NewChaCha8([32]byte{byte(i)})
	_, _ = rnd.Read(value)
	return &store.Commit{
		Partition: p.ID, Generation: p.Generation, Computation: p.Computation,
		States: []store.StateWrite{
			{Key: fmt.Sprint(i), Name: "/x", Value: value}, {Key: fmt.Sprint(i), Name: "/y", Value: value},
		},
	}
}

// recovered opens what is on the disk and wants every acknowledged commit, whole,
// and at most the unknown one beside them.
func (a *attempt) recovered(disk vfs.FS) {
	a.t.Helper()
	s, err := pebblestore.Open("data", pebblestore.Options{FS: disk})
	if err != nil {
		a.t.Fatalf("open after %v: %v", a.err, err)
	}
	defer s.Close()
	list, err := s.ListStates(context.Background(), store.ListRequest{Computation: "c"})
	if err != nil {
		a.t.Fatal(err)
	}
	found := map[string]int{}
	for _, k := range list.Keys {
		found[k.Key] = len(k.Rows)
	}
	for i := 1; i <= attemptCommits+1; i++ {
		rows := found[fmt.Sprint(i)]
		lost := i <= a.acked && rows != 2
		half := rows == 1
		invented := rows > 0 && i > a.acked && i != a.unknown
		if lost || half || invented {
			a.t.Errorf("%d commits acknowledged, %d unknown (%v): commit %d has %d states", a.acked, a.unknown, a.err, i, rows)
		}
	}
}

// Every write of a run is made to fail in turn, alone and with all that follow.
// The store must stop with a class, not hang, and leave what was acknowledged,
// whether the process or the machine ends then.
func TestAnyFailedWriteStopsTheStoreAndLosesNothing(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		t.Run(fmt.Sprintf("lasting=%v", lasting), func(t *testing.T) {
			stopped := 0
			for n := int64(1); ; n++ {
				disk := vfs.NewCrashableMem()
				var hit atomic.Bool
				a := &attempt{t: t}
				a.run(failing(disk, func(i int64, op errorfs.Op) bool {
					fail := i == n || lasting && i > n
					if fail {
						hit.Store(true)
					}
					return fail
				}))
				if !hit.Load() {
					break // the run has fewer writes
				}
				if a.err != nil {
					stopped++
				}
				if a.err != nil && !errors.Is(a.err, store.ErrUnavailable) && !errors.Is(a.err, store.ErrUnknownOutcome) {
					t.Errorf("write %d failed: %v has no class", n, a.err)
				}
				a.recovered(disk.CrashClone(vfs.CrashCloneCfg{}))
				a.recovered(disk)
			}
			if stopped < 20 {
				t.Fatalf("only %d failed writes stopped the store", stopped)
			}
		})
	}
}

func TestADiskThatFillsUpWithTablesDoesNotHangWriters(t *testing.T) {
	disk := vfs.NewCrashableMem()
	a := &attempt{t: t}
	a.run(failing(disk, func(_ int64, op errorfs.Op) bool {
		return op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".sst")
	}))
	if a.err == nil {
		t.Fatal("no commit failed")
	}
	a.recovered(disk)
}

func TestAFolderThatCannotBeMadeSaysSo(t *testing.T) {
	disk := failing(vfs.NewMem(), func(_ int64, op errorfs.Op) bool { return op.Kind == errorfs.OpMkdirAll })
	_, err := pebblestore.Open("data", pebblestore.Options{FS: disk})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "data") {
		t.Fatalf("open: %v", err)
	}
}
