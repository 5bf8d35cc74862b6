package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

var queueTogetherTests = map[string]func(t *testing.T, h Harness){
	// D-25
	"offsets have no gaps under concurrent commits and pushes": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		w.queue("r", 1)
		var writers sync.WaitGroup
		for i := range 5 {
			writers.Go(func() { w.writeQueues(i) })
		}
		writers.Wait()
		for place, rows := range map[string]int{"q/0": 5 * 30 * 2, "q/1": 5 * 30, "r/0": 5 * 30} {
			w.checkOrder(place, rows)
		}
		before := w.dump()
		w.reopen()
		w.equal("dump", w.dump(), before)
	},
	"readers and trimmers never see a gap": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		var done atomic.Bool
		var others sync.WaitGroup
		for i := range 2 {
			others.Go(func() {
				for from := uint64(0); !done.Load(); {
					from = w.readOn(from, i == 0)
				}
			})
		}
		for n := range 300 {
			w.must(0, appends(fmt.Sprintf("q/0=%d", 2*n), fmt.Sprintf("q/0=%d", 2*n+1)))
		}
		done.Store(true)
		others.Wait()
		qs, err := w.Queues(w.ctx)
		w.check(err)
		if p := qs[0].Partitions[0]; p.Next != 600 || p.First > 600 {
			t.Fatalf("the queue has rows [%d,%d), want up to 600", p.First, p.Next)
		}
		w.readOn(0, false)
	},
	"nothing is appended to a queue that is dropped meanwhile": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		for range 5 {
			w.queue("q", 2)
			var writers sync.WaitGroup
			begun := make(chan struct{}, len(w.parts))
			for i := range w.parts {
				writers.Go(func() {
					first := true
					for {
						c := w.commit(i, appends("q/1=x", "q/0=x"), consumed("q", "c", 1, 1))
						if err := w.Commit(w.ctx, c); err != nil {
							w.isClass(err, store.ErrNoQueue)
							return
						}
						if first {
							begun <- struct{}{}
							first = false
						}
					}
				})
			}
			for range w.parts {
				<-begun
			}
			w.check(w.DropQueue(w.ctx, "q"))
			writers.Wait()
			w.described("")
		}
		w.queue("q", 2)
		w.reopen()
		w.described("q [0,0)0B [0,0)0B")
	},
}

// writeQueues makes 30 transactions, each with rows for three queue partitions
// in an order of the writer's own, and with others between them that fail. The
// first three writers are partitions, the rest push.
func (w *world) writeQueues(writer int) {
	places := []string{"q/0", "r/0", "q/1", "q/0"}
	for n := range 30 {
		var rows, bad []string
		for i := range places {
			place := places[(i+writer)%len(places)]
			rows = append(rows, fmt.Sprintf("%s=%d-%d-%d", place, writer, n, i))
			bad = append(bad, place+"=bad")
		}
		if writer >= len(w.parts) {
			w.push(rows...)
			w.isClass(w.PushQueue(w.ctx, queueRows(append(bad, "q/2=bad")...)), store.ErrNoQueue)
			continue
		}
		w.must(writer, appends(rows...))
		stale := w.commit(writer, appends(bad...))
		stale.Generation--
		w.fails(store.ErrFenced, stale)
		ended, cancel := context.WithCancel(w.ctx)
		cancel()
		if err := w.Commit(ended, w.commit(writer, appends(bad...))); !errors.Is(err, store.ErrUnavailable) {
			w.t.Fatalf("a commit with an ended context: %v", err)
		}
	}
}

// checkOrder wants as many rows, the offsets without gaps, those of each writer
// in order, and those of a transaction next to each other.
func (w *world) checkOrder(place string, want int) {
	w.t.Helper()
	at := queueRows(place + "=")[0]
	rows, err := w.ReadQueue(w.ctx, store.QueueRequest{Queue: at.Queue, Partition: at.Partition})
	w.check(err)
	w.equal("rows of "+place, len(rows), want)
	last := map[int][2]int{}
	var previous [2]int
	for i, row := range rows {
		var writer, n, part int
		if _, err := fmt.Sscanf(string(row.Value), "%d-%d-%d", &writer, &n, &part); err != nil || row.Offset != uint64(i) {
			w.t.Fatalf("row %d of %s is %d: %q (%v)", i, place, row.Offset, row.Value, err)
		}
		before, begun := last[writer]
		if begun && (n < before[0] || n == before[0] && part <= before[1]) {
			w.t.Fatalf("%s: row %q comes after %d-%d-%d", place, row.Value, writer, before[0], before[1])
		}
		if begun && n == before[0] && previous != [2]int{writer, n} {
			w.t.Fatalf("%s: the rows of transaction %d of writer %d do not lie together", place, n, writer)
		}
		last[writer], previous = [2]int{n, part}, [2]int{writer, n}
	}
}

// readOn reads rows whose values are their offsets, and returns where to go on;
// a trimmer then trims what was read.
func (w *world) readOn(from uint64, trim bool) uint64 {
	rows, err := w.ReadQueue(w.ctx, store.QueueRequest{Queue: "q", From: from, MaxRows: 7})
	w.check(err)
	for i, row := range rows {
		if string(row.Value) != fmt.Sprint(row.Offset) || i > 0 && row.Offset != rows[i-1].Offset+1 || row.Offset < from {
			w.t.Fatalf("read from %d: row %d is %d with value %q", from, i, row.Offset, row.Value)
		}
		from = row.Offset + 1
	}
	if trim && len(rows) > 0 {
		w.check(w.TrimQueue(w.ctx, "q", 0, from))
	}
	return from
}
