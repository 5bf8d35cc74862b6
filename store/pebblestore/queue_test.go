package pebblestore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// appending is a commit with rows for partition 0 of queue "q".
func appending(p store.Partition, values ...string) *store.Commit {
	c := state(p, "last", "1")
	for _, v := range values {
		c.Appended = append(c.Appended, store.QueueAppend{Queue: "q", Value: []byte(v)})
	}
	return c
}

func values(t *testing.T, s store.Store) string {
	t.Helper()
	rows, err := s.ReadQueue(context.Background(), store.QueueRequest{Queue: "q"})
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, r := range rows {
		words = append(words, string(r.Value))
	}
	return strings.Join(words, " ")
}

// The lock of a queue partition is not held over a sync: those who append to it
// share one.
func TestWritersOfAQueueShareASync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newPausing(vfs.NewMem(), logSync)
		s, p := owned(t, pebblestore.Options{FS: disk}, 2)
		if err := s.CreateQueue(t.Context(), "q", 1); err != nil {
			t.Fatal(err)
		}
		resume := disk.pause()
		var done [3]*atomic.Bool
		for i, write := range []func() error{
			func() error { return s.Commit(t.Context(), appending(p[0], "a", "b")) },
			func() error { return s.Commit(t.Context(), appending(p[1], "c")) },
			func() error { return s.PushQueue(t.Context(), []store.QueueAppend{{Queue: "q", Value: []byte("d")}}) },
		} {
			done[i] = running(func() {
				if err := write(); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		if got := values(t, s); got != "a b c d" || done[0].Load() || done[1].Load() || done[2].Load() {
			t.Fatalf("while the log syncs the queue has %q", got)
		}
		resume()
		synctest.Wait()
		if !done[0].Load() || !done[1].Load() || !done[2].Load() {
			t.Fatal("a writer waits after the sync")
		}
		_ = s.Close()
	})
}

// Pebble treats a batch that is larger than half a memtable in a way of its own.
func TestATransactionLargerThanAMemtableIsAppendedWhole(t *testing.T) {
	fs := vfs.NewCrashableMem()
	o := pebblestore.Options{FS: fs, MemTableBytes: smallTables}
	s, p := owned(t, o, 1)
	if err := s.CreateQueue(t.Context(), "q", 1); err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range 5 {
		long := strings.Repeat(fmt.Sprint(i), 100_000)
		if err := s.Commit(t.Context(), appending(p[0], long, "small")); err != nil {
			t.Fatal(err)
		}
		want += " " + long + " small"
	}
	for _, at := range []*pebblestore.Store{s, open(t, "data", pebblestore.Options{FS: fs.CrashClone(vfs.CrashCloneCfg{})})} {
		if got := values(t, at); got != want[1:] {
			t.Errorf("the queue has %d bytes of rows, want %d", len(got), len(want)-1)
		}
	}
}

// queueAttempt appends to a queue until it is refused or has done enough.
type queueAttempt struct {
	acked int // transactions acknowledged
	err   error
}

const queueAttempts = 6

func (a *queueAttempt) run(t *testing.T, fs vfs.FS) {
	s, err := pebblestore.Open("data", pebblestore.Options{FS: fs, MemTableBytes: 32 << 10})
	if a.err = err; err != nil {
		return
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("close after %v: %v", a.err, err)
		}
	}()
	ps, err := appendOwned(t.Context(), s, nil)
	if a.err = err; err == nil {
		a.err = s.CreateQueue(t.Context(), "q", 1)
	}
	for i := 0; i < queueAttempts && a.err == nil; i++ {
		value := strings.Repeat(fmt.Sprint(i), 10_000)
		if i%2 == 0 {
			a.err = s.Commit(t.Context(), appending(ps[0], value, value))
		} else {
			rows := appending(ps[0], value, value).Appended
			a.err = s.PushQueue(t.Context(), rows)
		}
		if a.err == nil {
			a.acked++
		}
	}
	if a.err == nil {
		a.err = s.TrimQueue(t.Context(), "q", 0, 7)
	}
}

// check wants each acknowledged transaction whole, and of the one after at most
// all.
func (a *queueAttempt) check(t *testing.T, disk vfs.FS) {
	t.Helper()
	s, err := pebblestore.Open("data", pebblestore.Options{FS: disk})
	if err != nil {
		t.Fatalf("open after %v: %v", a.err, err)
	}
	defer s.Close()
	qs, err := s.Queues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(qs) == 0 {
		if a.acked > 0 {
			t.Errorf("after %d transactions there is no queue (%v)", a.acked, a.err)
		}
		return
	}
	q := qs[0].Partitions[0]
	rows, err := s.ReadQueue(t.Context(), store.QueueRequest{Queue: "q"})
	if err != nil {
		t.Fatal(err)
	}
	if n := int(q.Next); n != 2*a.acked && n != 2*a.acked+2 || len(rows) != n-int(q.First) || q.First != 0 && q.First != 7 {
		t.Errorf("after %d transactions (%v) the queue is [%d,%d) with %d rows", a.acked, a.err, q.First, q.Next, len(rows))
	}
	for i, r := range rows {
		if want := q.First + uint64(i); r.Offset != want || r.Value[0] != byte('0'+want/2) {
			t.Errorf("row %d of the queue is %d, %q", want, r.Offset, r.Value[:1])
		}
	}
}

// Every write of a run is made to fail in turn, with all that follow: offsets are
// neither lost nor given twice.
func TestAnyFailedWriteLeavesQueuesWhole(t *testing.T) {
	for n := int64(1); ; n++ {
		disk := vfs.NewCrashableMem()
		var hit atomic.Bool
		var a queueAttempt
		a.run(t, failing(disk, func(i int64, _ errorfs.Op) bool {
			if i >= n {
				hit.Store(true)
			}
			return i >= n
		}))
		if !hit.Load() {
			if a.err != nil || a.acked != queueAttempts {
				t.Fatalf("a run without a failure: %d transactions, %v", a.acked, a.err)
			}
			return
		}
		if a.err != nil && !errors.Is(a.err, store.ErrUnavailable) && !errors.Is(a.err, store.ErrUnknownOutcome) {
			t.Errorf("write %d failed: %v has no class", n, a.err)
		}
		a.check(t, disk.CrashClone(vfs.CrashCloneCfg{}))
		a.check(t, disk)
	}
}
