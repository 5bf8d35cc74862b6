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

var fenceTests = map[string]func(t *testing.T, h Harness){
	// D-2
	"a commit of a former generation changes nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, set("a", "/x", "1"))
		stale := w.commit(0, set("a", "/x", "2"), w.produce(2, 1, "p"))
		stale.Offset, stale.Done, stale.Totals = []byte("o"), true, &store.Totals{Epochs: 1}
		w.raise(0)
		w.refuses(store.ErrFenced, stale)
		w.must(0, set("a", "/x", "3"))
		w.gets("left", "a", `{"/x"="3"}`)
	},
	"only the current generation of an existing partition commits": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		next := w.commit(0, set("a", "/x", "1"))
		next.Generation++
		w.refuses(store.ErrFenced, next)
		other := w.commit(0, set("a", "/x", "1"))
		other.Generation = w.parts[1].Generation
		w.refuses(store.ErrFenced, other)
		unknown := w.commit(0, set("a", "/x", "1"))
		unknown.Partition = 1000
		w.refuses(store.ErrFenced, unknown)
		_, err := w.RaiseGeneration(w.ctx, 1000)
		w.isClass(err, store.ErrFenced)
	},
	"a partition that was never owned takes no commit": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		ps, err := w.CreatePartitions(w.ctx, []store.Partition{{Computation: "left", Kind: store.SourcePartition, Name: "s/0"}})
		w.check(err)
		c := &store.Commit{Partition: ps[0].ID, Computation: "left"}
		w.refuses(store.ErrFenced, c)
	},
	// D-1
	"generations are never used twice": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		seen := map[store.Generation]bool{}
		for round := range 3 {
			for g := range w.raiseAtOnce(8) {
				if seen[g] {
					t.Fatalf("generation %d was given out twice", g)
				}
				seen[g] = true
			}
			if round == 1 {
				w.reopen()
			}
		}
	},
	// D-2: the stale owner keeps many commits on the way, as a client that
	// pipelines them does.
	"no pipelined commit takes effect after the generation was raised": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		p := &pipeline{w: w, owner: w.parts[0], begun: make(chan struct{}, 40)}
		for i := range 8 {
			p.workers.Add(1)
			go p.commitUntilFenced(i)
		}
		for range cap(p.begun) {
			<-p.begun
		}
		w.raise(0)
		p.check(t, keysOf(w.list("left")))
	},
	"a defect of the caller changes nothing and has no class": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 2, "p"))
		row := w.inbox(2)[0].InboxKey
		w.refuses(nil, w.commit(0, set("a", "", "1"), set("b", "/x", "1")))
		foreign := w.commit(0, set("a", "/x", "1"))
		foreign.Computation = "right"
		w.refuses(nil, foreign)
		w.refuses(nil, w.commit(2, set("a", "/x", "1"), take(row, 0, 3, true)))
		w.refuses(nil, w.commit(2, set("a", "/x", "1"), take(row, 0, 2, false)))
		again := w.commit(0, set("a", "/x", "1"), w.produce(2, 1, "q"))
		again.Produced[0].Number = 1
		w.refuses(nil, again)
	},
	"a context that has ended commits nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		before := w.dump()
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		err := w.Commit(ctx, w.commit(0, set("a", "/x", "1")))
		w.isClass(err, store.ErrUnavailable)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %q does not say that the context was cancelled", err)
		}
		w.equal("dump", w.dump(), before)
	},
	"calls after Close fail, and a second Close does not": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		c := w.commit(0, set("a", "/x", "1"))
		w.check(w.Close())
		w.check(w.Close())
		w.fails(store.ErrUnavailable, c)
		_, err := w.GetStates(w.ctx, "left", []string{"a"})
		w.isClass(err, store.ErrUnavailable)
		_, err = w.Partitions(w.ctx)
		w.isClass(err, store.ErrUnavailable)
	},
}

// raiseAtOnce raises the generations of all partitions, times each, from as many
// goroutines, and returns what was given out.
func (w *world) raiseAtOnce(times int) map[store.Generation]int {
	var mu sync.Mutex
	out := map[store.Generation]int{}
	var raisers sync.WaitGroup
	errs := make(chan error, times*len(w.parts))
	for i := range times * len(w.parts) {
		raisers.Add(1)
		go func() {
			defer raisers.Done()
			job, err := w.RaiseGeneration(w.ctx, w.parts[i%len(w.parts)].ID)
			if err != nil {
				errs <- err
				return
			}
			mu.Lock()
			defer mu.Unlock()
			out[job.Partition.Generation]++
		}()
	}
	raisers.Wait()
	close(errs)
	for err := range errs {
		w.check(err)
	}
	w.equal("different generations", len(out), times*len(w.parts))
	return out
}

// pipeline is a stale owner with several commits on the way at any time.
type pipeline struct {
	w       *world
	owner   store.Partition
	workers sync.WaitGroup
	begun   chan struct{} // gets one for each of the first commits
	raised  atomic.Bool
	acked   sync.Map // keys of acknowledged commits
}

// check ends the workers, who are fenced by now: what is there is what was
// acknowledged, and stays that.
func (p *pipeline) check(t *testing.T, after []string) {
	p.raised.Store(true)
	p.workers.Wait()
	p.w.equal("states after the last stale commit failed", keysOf(p.w.list("left")), after)
	for _, key := range after {
		if _, ok := p.acked.LoadAndDelete(key); !ok {
			t.Fatalf("commit %s took effect but was not acknowledged", key)
		}
	}
	p.acked.Range(func(key, _ any) bool {
		t.Fatalf("commit %s was acknowledged but is not there", key)
		return false
	})
}

// commitUntilFenced commits one new key after the other. A commit that begins
// after the raise is the last one, whatever comes of it.
func (p *pipeline) commitUntilFenced(worker int) {
	defer p.workers.Done()
	for i, last := 0, false; !last; i++ {
		key := fmt.Sprintf("%d-%06d", worker, i)
		c := &store.Commit{Partition: p.owner.ID, Generation: p.owner.Generation, Computation: p.owner.Computation}
		set(key, "/x", "1")(c)
		last = p.raised.Load()
		err := p.w.Commit(p.w.ctx, c)
		switch {
		case errors.Is(err, store.ErrFenced):
			return
		case err != nil:
			key = err.Error() // will be said to be acknowledged and not there
		}
		p.acked.Store(key, true)
		select {
		case p.begun <- struct{}{}:
		default:
		}
	}
}
