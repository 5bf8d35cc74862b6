package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
)

func openQueues(t *testing.T, fs vfs.FS, queues ...string) *Store {
	t.Helper()
	s, err := Open("data", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, name := range queues {
		if err := s.CreateQueue(t.Context(), name, 3); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// places names the claims that are held.
func (cs claims) places() string {
	var words []string
	for _, c := range cs {
		if c.held != nil {
			words = append(words, fmt.Sprintf("%s/%d", c.name, c.partition))
		}
	}
	return strings.Join(words, " ")
}

func (s *Store) heldLocks() int {
	n := 0
	for _, q := range s.queues.byName {
		for _, p := range q.partitions {
			n += len(p.lock)
		}
	}
	return n
}

// D-25: in one order for all, each once, whatever order the rows have.
func TestQueueLocksAreTakenInKeyOrder(t *testing.T) {
	s := openQueues(t, vfs.NewMem(), "a", "b", "aa")
	rows := []store.QueueAppend{{Queue: "b", Partition: 2}, {Queue: "a", Partition: 1}, {Queue: "b"}, {Queue: "aa"}, {Queue: "b", Partition: 2}, {Queue: "a"}}
	positions := []store.QueuePosition{{Queue: "a", Partition: 2}, {Queue: "b"}, {Queue: "gone"}, {Queue: "b", Partition: 9}}
	cs, err := s.claimQueues(t.Context(), rows, positions)
	if want := "a/0 a/1 a/2 aa/0 b/0 b/2"; err != nil || cs.places() != want {
		t.Fatalf("held %s (%v), want %s", cs.places(), err, want)
	}
	cs.release()
	cs.release()
	if n := s.heldLocks(); n != 0 {
		t.Fatalf("%d locks are held after release", n)
	}
}

func TestAClaimThatFailsHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openQueues(t, vfs.NewMem(), "a", "b")
		defer s.Close()
		rows := []store.QueueAppend{{Queue: "b"}, {Queue: "a"}}
		if _, err := s.claimQueues(t.Context(), append(rows, store.QueueAppend{Queue: "gone"}), nil); !errors.Is(err, store.ErrNoQueue) {
			t.Fatalf("a missing queue: %v", err)
		}
		holder, err := s.claimQueues(t.Context(), rows[:1], nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, call := range map[string]func(ctx context.Context) error{
			"push": func(ctx context.Context) error { return s.PushQueue(ctx, rows) },
			"trim": func(ctx context.Context) error { return s.TrimQueue(ctx, "b", 0, 1) },
			"drop": func(ctx context.Context) error { return s.DropQueue(ctx, "b") },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := call(ctx)
			cancel()
			if !errors.Is(err, store.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s while the lock is held: %v", name, err)
			}
			if n := s.heldLocks(); n != 1 {
				t.Fatalf("after %s %d locks are held, want the holder's", name, n)
			}
		}
		holder.release()
		if err := s.PushQueue(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
	})
}

// Who has found a queue and waits for its lock while it is dropped finds it gone.
func TestNobodyAppendsToAQueueDroppedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openQueues(t, vfs.NewMem(), "a")
		defer s.Close()
		rows := []store.QueueAppend{{Queue: "a"}}
		holder, err := s.claimQueues(t.Context(), rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		var drop, push, trim error
		for _, wait := range []func(){ // they get the lock in this order
			func() { drop = s.DropQueue(t.Context(), "a") },
			func() { push = s.PushQueue(t.Context(), rows) },
			func() { trim = s.TrimQueue(t.Context(), "a", 0, 1) },
		} {
			go wait()
			synctest.Wait()
		}
		holder.release()
		synctest.Wait()
		if drop != nil || !errors.Is(push, store.ErrNoQueue) || !errors.Is(trim, store.ErrNoQueue) {
			t.Fatalf("drop %v, push %v, trim %v", drop, push, trim)
		}
	})
}

func TestADroppedQueueLeavesNothing(t *testing.T) {
	s := openQueues(t, vfs.NewMem(), "a", "b")
	rows := []store.QueueAppend{{Queue: "a", Value: []byte("x")}, {Queue: "a", Partition: 2}, {Queue: "b"}}
	if err := errors.Join(s.PushQueue(t.Context(), rows), s.DropQueue(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	var left []string
	err := s.scan([]byte{kindQueue}, func(key, _ []byte) error {
		left = append(left, string(key[1:2]))
		return nil
	})
	if got := strings.Join(left, ""); err != nil || got != "abd" { // b's name, head and row
		t.Fatalf("rows of kinds %q are left (%v)", got, err)
	}
}

// What is stored is checked wherever it is read: a row that is missing, and
// values and keys that nobody wrote.
func TestDamagedQueuesAreCorrupt(t *testing.T) {
	bytes := func(key, value string) func(*pebble.Batch) {
		return func(b *pebble.Batch) { put(b, []byte(key), []byte(value)) }
	}
	id := "\x00\x00\x00\x00\x00\x00\x00\x01"
	for name, damage := range map[string]func(b *pebble.Batch){
		"a missing row":                func(b *pebble.Batch) { remove(b, queueRowKey(1, 0, 1)) },
		"a row without header":         func(b *pebble.Batch) { put(b, queueRowKey(1, 0, 1), []byte{0x80}) },
		"a row key that is too long":   func(b *pebble.Batch) { put(b, append(queueRowKey(1, 0, 1), 0), []byte{0, 0}) },
		"a head of no queue":           func(b *pebble.Batch) { put(b, queueHeadKey(9, 0), appendQueueHead(nil, &queueHead{})) },
		"a head of no partition":       func(b *pebble.Batch) { put(b, queueHeadKey(1, 3), appendQueueHead(nil, &queueHead{})) },
		"a head that is too short":     func(b *pebble.Batch) { put(b, queueHeadKey(1, 1), []byte{0}) },
		"a position that is no number": func(b *pebble.Batch) { put(b, queuePositionKey(1, "c", 0), nil) },
		"a place that is too short":    bytes("qb"+id, ""),
		"a key without a part":         bytes("q", ""),
		"a queue without partitions":   bytes("qaz", "\x02\x00"),
		"a queue of too many":          bytes("qaz", "\x02\xff\xff\xff\xff\x7f"),
		"a queue without an id":        bytes("qaz", ""),
	} {
		t.Run(name, func(t *testing.T) {
			s := openQueues(t, vfs.NewMem(), "a")
			rows := make([]store.QueueAppend, 3)
			for i := range rows {
				rows[i].Queue = "a"
			}
			if err := s.PushQueue(t.Context(), rows); err != nil {
				t.Fatal(err)
			}
			b := s.db.NewBatch()
			defer b.Close()
			damage(b)
			if err := s.apply(b); err != nil {
				t.Fatal(err)
			}
			_, list := s.Queues(t.Context())
			_, read := s.ReadQueue(t.Context(), store.QueueRequest{Queue: "a"})
			if !errors.Is(list, store.ErrCorrupt) && !errors.Is(read, store.ErrCorrupt) {
				t.Fatalf("list: %v, read: %v", list, read)
			}
		})
	}
}
