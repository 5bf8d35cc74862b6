package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

var durabilityTests = map[string]func(t *testing.T, h Harness){
	"everything is there after the store was reopened": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		fillWorld(w)
		before, job := w.dump(), "executing "+everyFieldText(w, "1")
		w.reopen()
		w.equal("dump", w.dump(), before)
		w.equal("job", describeJob(w.raise(0)), job)
	},
	"an owner goes on with its generation after the store was reopened": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		stale := w.commit(0, set("a", "/x", "stale"))
		w.raise(0)
		w.reopen()
		w.refuses(store.ErrFenced, stale)
		w.must(0, set("a", "/x", "1"))
		w.gets("left", "a", `{"/x"="1"}`)
	},
}

// testCrashes needs a harness for every crash.
func testCrashes(t *testing.T, fresh func(t TB) Harness) {
	if fresh(t).Crash == nil {
		return // the store's own tests kill its process
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("nothing acknowledged is lost, seed %d", seed), func(t *testing.T) {
			crashAtRest(newWorld(t, fresh(t)), seed)
		})
		t.Run(fmt.Sprintf("commits under way are whole or absent, seed %d", seed), func(t *testing.T) {
			crashUnderWay(newWorld(t, fresh(t)), seed)
		})
	}
}

// crashed returns the world that a crash leaves.
func (w *world) crashed(seed uint64) *world {
	w.t.Helper()
	after := &world{t: w.t, h: w.h.Crash(w.t, seed), ctx: w.ctx, parts: slices.Clone(w.parts), numbers: maps.Clone(w.numbers)}
	after.open()
	return after
}

func crashAtRest(w *world, seed uint64) {
	fillWorld(w)
	before, job := w.dump(), "executing "+everyFieldText(w, "1")
	after := w.crashed(seed)
	after.equal("dump after the crash", after.dump(), before)
	w.must(0, set("zombie", "/x", "1")) // the dead process goes on by itself
	after.equal("dump later", after.dump(), before)
	after.equal("job", describeJob(after.raise(0)), job)
	after.must(0, set("alive", "/x", "1"), appends("q/0=alive"))
	after.readsQueue(store.QueueRequest{Queue: "q", From: 3}, "3:alive@1")
}

// crashUnderWay crashes while two partitions commit. A commit writes two states, a
// timer, a message, a row of a table and one of a queue that both append to, so that
// half a commit would show.
func crashUnderWay(w *world, seed uint64) {
	w.queue("q", 1)
	w.table("whole")
	var stop atomic.Bool
	var acked [2]atomic.Int64
	var workers sync.WaitGroup
	begun := make(chan struct{})
	for i := range acked {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for n := int64(1); !stop.Load(); n++ {
				if w.Commit(w.ctx, wholeCommit(w.parts[i], w.parts[2].ID, n)) != nil {
					return
				}
				acked[i].Store(n)
				if n == 10 {
					begun <- struct{}{}
				}
			}
		}()
	}
	for range acked {
		<-begun
	}
	least := [2]int64{acked[0].Load(), acked[1].Load()}
	after := w.crashed(seed)
	stop.Store(true)
	workers.Wait()
	for i := range acked {
		after.checkWhole(i, least[i])
	}
}

func wholeCommit(p store.Partition, target store.PartitionID, n int64) *store.Commit {
	c := &store.Commit{Partition: p.ID, Generation: p.Generation, Computation: p.Computation}
	key, text := fmt.Sprintf("%d-%06d", p.ID, n), fmt.Sprint(n)
	set(key, "/x", text)(c)
	set(key, "/y", text)(c)
	sets(key, n, "t")(c)
	c.Offset = []byte(text)
	appends("q/0=" + key)(c)
	writes(1, key+"="+text)(c)
	c.Produced = []store.InboxRow{{
		InboxKey: store.InboxKey{Target: target, Layout: 1, Producer: p.ID, Generation: p.Generation, Number: uint64(n)},
		Previous: uint64(n - 1), Count: 1, Payload: []byte(text),
	}}
	return c
}

// checkWhole finds the commits of partition i from the first to some last one,
// at least the one given, and each of them whole.
func (w *world) checkWhole(i int, least int64) {
	w.t.Helper()
	p := w.parts[i]
	found := map[string]int{}
	for _, k := range w.list(p.Computation) {
		found[k.Key] = len(k.Rows)
	}
	var last int64
	for found[fmt.Sprintf("%d-%06d", p.ID, last+1)] == 2 {
		last++
	}
	for key, rows := range found {
		if strings.HasPrefix(key, fmt.Sprintf("%d-", p.ID)) && (rows != 2 || key > fmt.Sprintf("%d-%06d", p.ID, last)) {
			w.t.Fatalf("commit %s has %d states, the commits before %d are whole", key, rows, last+1)
		}
	}
	if last < least {
		w.t.Fatalf("partition %d has its commits up to %d, %d were acknowledged", p.ID, last, least)
	}
	rows := int64(0)
	for _, row := range w.inbox(2) {
		if row.Producer == p.ID {
			rows++
		}
	}
	w.equal("inbox rows", rows, last)
	w.equal("timers", w.timersBy(fmt.Sprintf("%d-", p.ID)), last)
	w.equal("queue rows", w.appendedBy(p.ID), last)
	w.equal("table rows", w.writtenBy(p.ID), last)
	w.equal("offset", string(w.raise(i).Offset), fmt.Sprint(last))
}

// timersBy counts the timers of keys with a prefix; each is found by its key too.
func (w *world) timersBy(prefix string) (n int64) {
	w.t.Helper()
	for _, t := range w.timerPages(store.TimerRequest{Computation: "left", Stream: "t", After: store.TimersFront}) {
		if strings.HasPrefix(t.Key, prefix) {
			w.keyTimers(t.Key, fmt.Sprintf("%d/t", t.Trigger))
			n++
		}
	}
	return n
}

// fillWorld puts a row of every kind into the store.
func fillWorld(w *world) {
	w.must(0, everyField("1"), set("a", "/x", "1"), set("b", "/x", "2"), sets("a", 1, "t"), sets("b", 2, "tt"), w.produce(2, 4, "p"), w.produce(1, 2, "q"))
	w.must(1, everyField("2"), set("a", "/x", ""), set("c", "/x", "3"), unsets("b", 2, "tt"), take(w.inbox(1)[0].InboxKey, 0, 2, true))
	w.must(2, set("k", "/x", "1"), take(w.inbox(2)[0].InboxKey, 0, 3, false))
	w.check(w.SavePipeline(w.ctx, &store.Pipeline{Name: "flights", Static: fmt.Sprint(w.parts)}))
	fillQueues(w)
	fillTables(w)
}
