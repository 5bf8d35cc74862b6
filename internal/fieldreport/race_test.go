package fieldreport

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// inOrder spreads n keys evenly over the hashes, in their order.
func inOrder(n uint64) func(uint64) uint64 {
	return func(key uint64) uint64 { return key * (1 << 63 / n * 2) }
}

func TestR34ARefreshIsNeitherMissedNorLost(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys, repetitions = 1000, 10_000
		w := newWorld(t, setting{period: time.Second, hash: inOrder(keys)})
		rng := newDice()
		var together, evicted atomic.Int64
		w.visitCost, w.messageCost = 100*time.Microsecond, 100*time.Microsecond
		w.on = func(c *call) error {
			c.data = uint64(w.now())
			if c.visit == nil {
				if c.visit == nil && c.found.Stamp != 0 && w.now()-time.Duration(c.found.Data) < 10*time.Millisecond {
					together.Add(1)
				}
				return nil
			}
			// Whatever is sent now meets its visit in this epoch or in one beside it.
			for range 2 {
				w.send(min(c.key+uint64(rng.below(12)), keys-1), set)
			}
			if w.now()-time.Duration(c.found.Data) > 300*time.Millisecond {
				c.do = drop
				evicted.Add(1)
			}
			return nil
		}
		w.fill(0, keys, nil)
		w.start()
		for sent := 0; sent < repetitions; {
			w.wait(time.Second)
			w.send(uint64(rng.below(keys)), set)
			sent = len(w.rec.Committed().Events) / 3
		}
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Fresh(l), flowtest.NoGhost(l), flowtest.Once(l), flowtest.Atomic(l, w.stored(), w.sink.byStamp()))
		if evicted.Load() < 500 || together.Load() < 500 {
			t.Errorf("%d evictions and %d messages right after another: the race was not run", evicted.Load(), together.Load())
		}
	})
}

func TestR35TheConditionIsJudgedAtDelivery(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 2000
		w := newWorld(t, setting{partitions: 2, period: time.Second})
		w.visitCost = time.Millisecond // the buffer is always full
		var ttl, late atomic.Int64
		ttl.Store(int64(3 * time.Second))
		var mu sync.Mutex
		refreshed := map[uint64]time.Duration{} // committed or about to be
		w.on = func(c *call) error {
			mu.Lock()
			defer mu.Unlock()
			now := w.now()
			if c.visit == nil {
				c.data, refreshed[c.key] = uint64(now), now
				return nil
			}
			listed := time.Duration(c.visit.SystemTimestamp) - time.Duration(w.began.UnixNano())
			if refreshed[c.key] > listed {
				late.Add(1)
			}
			if now-time.Duration(c.found.Data) > time.Duration(ttl.Load()) {
				c.do = drop
				if age := now - refreshed[c.key]; age <= time.Duration(ttl.Load()) {
					t.Errorf("key %d was refreshed %s ago and is evicted", c.key, age)
				}
			}
			return nil
		}
		w.fill(0, keys, nil)
		w.start()
		w.load(500, keys, 10*time.Second)
		ttl.Store(int64(time.Second))
		w.load(500, keys, 10*time.Second)
		for late.Load() < 100 { // the race was not run as often as it is to be
			w.load(500, keys, 10*time.Second)
		}
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Fresh(l), flowtest.NoGhost(l), flowtest.Once(l))
	})
}

func TestR36AKeyThatGoesWhileItWaitsIsNotVisited(t *testing.T) {
	for name, model := range map[string]bool{"on Pebble": false, "on the model store": true} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				const keys = 800
				w := newWorld(t, setting{partitions: 2, period: 400 * time.Millisecond, model: model, visitor: "buffer_row_limit = 100;"})
				w.visitCost = time.Millisecond
				w.fill(0, keys, nil)
				w.start()
				for range 1000 {
					op := int64(set)
					if w.rng.IntN(2) == 0 {
						op = remove
					}
					w.send(uint64(w.rng.IntN(keys)), op)
					w.wait(5 * time.Millisecond)
				}
				w.pause()
				l := w.rec.Committed()
				passes, err := w.summaries()
				gone := uint64(0)
				var claims []flowtest.Claim
				for _, p := range passes {
					gone += p.Gone
					claims = append(claims, p.Claim)
				}
				w.check(err, flowtest.NoGhost(l), flowtest.Fresh(l), flowtest.Once(l), flowtest.Honest(l, 0, claims...),
					flowtest.Atomic(l, w.stored(), w.sink.byStamp()))
				if gone == 0 {
					t.Error("no key went while it waited: the race was not run")
				}
			})
		})
	}
}

func TestR37WhateverIsDeletedAndMadeAroundTheCursorThePassGoesOn(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys, most = 500, 10_000
		const gap = 1 << 63 / keys * 2
		w := newWorld(t, setting{hash: func(key uint64) uint64 { return key }}) // keys are hashes
		rng := newDice()
		var made atomic.Int64
		w.on = func(c *call) error {
			if c.visit == nil || c.visit.Pass > 3 {
				return nil
			}
			switch rng.below(6) {
			case 0:
				c.do = drop
			case 1:
				w.send(c.key+gap, remove) // the next
			case 2:
				w.send(c.key-gap, remove) // the one before
			}
			if made.Add(1) < most { // one ahead and one behind for every visit
				w.send(c.key+1+uint64(rng.below(1000)), set)
				w.send(c.key-1-uint64(rng.below(1000)), set)
			}
			return nil
		}
		for i := range uint64(keys) {
			w.fill(i*gap+1<<20, i*gap+1<<20+1, nil)
		}
		w.start()
		w.wait(w.periods(5.7))
		w.passesAre(5, 5)
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.NoGhost(l), flowtest.Fresh(l), flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)))
	})
}

func TestR37AHandlerMayDeleteEverything(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		w.on = func(c *call) error { c.do = drop; return nil }
		w.fill(0, 1000, nil)
		w.start()
		w.wait(w.periods(3.7))
		w.passesAre(3, 3)
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.NoGhost(l), flowtest.Atomic(l, w.stored(), w.sink.byStamp()))
		if len(w.stored()) != 0 || l.Visits(flowtest.Span{To: w.now()}) != 1000 {
			t.Errorf("%d keys are left after %d visits", len(w.stored()), l.Visits(flowtest.Span{To: w.now()}))
		}
	})
}

func TestR39AKeyIsOneKeyWhateverStatesHoldIt(t *testing.T) {
	for name, c := range map[string]struct {
		static string
		names  []string
	}{
		"all states": {"", []string{"/a", "/b", "/c", "/d"}},
		"two listed": {`names = ["/b"; "/d"];`, []string{"/b", "/d"}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				const keys = 1500
				w := newWorld(t, setting{static: c.static})
				w.quiet = true
				visits := map[uint64]int{}
				var mu sync.Mutex
				w.on = func(c *call) error {
					mu.Lock()
					defer mu.Unlock()
					if visits[c.key]++; c.visit.Pass > 1 {
						c.do = drop
					}
					return nil
				}
				w.layout()
				want := map[uint64]int{}
				for i, name := range []string{"/a", "/b", "/c", "/d"} {
					w.write(0, keys, func(key uint64) store.StateWrite {
						row := store.StateWrite{Name: name}
						if (key%15+1)>>i&1 == 1 { // every combination but none
							row.Value = []byte("x")
							for _, n := range c.names {
								if n == name {
									want[key] = 2
								}
							}
						}
						return row
					})
				}
				w.start()
				w.wait(w.periods(2.7))
				w.passesAre(2, 2)
				w.pause()
				for key := range uint64(keys) {
					if visits[key] != want[key] {
						t.Fatalf("key %d, in states %04b, has %d visits in two passes: want %d", key, key%15+1, visits[key], want[key])
					}
				}
				for key, left := range w.rows() {
					if h := flow.NewKey(w.keys, key); want[mustKey(t, h)] > 0 {
						t.Fatalf("key %s was evicted and has %d states left", h, left)
					}
				}
			})
		})
	}
}

func mustKey(t *testing.T, k flow.Key) uint64 {
	t.Helper()
	row, err := schema.DecodeKey(k.Encoded())
	if err != nil {
		t.Fatal(err)
	}
	return row[1].AsUint64()
}

// rows counts the stored states by key.
func (w *world) rows() map[string]int {
	w.t.Helper()
	a, err := w.store.ListStates(w.t.Context(), store.ListRequest{Computation: "keeper"})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]int{}
	for _, k := range a.Keys {
		out[k.Key] = len(k.Rows)
	}
	return out
}

func TestR42WhatAnotherOwnerWroteIsNotOverwritten(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 300
		w := newWorld(t, setting{period: time.Second})
		w.on = func(c *call) error { c.do = put; return nil }
		w.fill(0, keys, nil)
		first := w.begin(nil)
		w.wait(w.periods(2.3))
		for range 5 {
			w.rewrite() // and is the owner for as long as that takes
			w.send(uint64(w.rng.IntN(keys)), set)
			w.wait(w.periods(1.5))
		}
		first.Pause()
		<-first.done
		w.start() // a second pipeline, with caches of its own
		w.wait(w.periods(1.5))
		w.rewrite()
		w.wait(w.periods(1.5))
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Fresh(l), flowtest.NoGhost(l), flowtest.Atomic(l, w.stored(), w.sink.byStamp()))
	})
}

// rewrite makes this test the owner of every partition and changes all states.
func (w *world) rewrite() {
	w.t.Helper()
	for _, p := range w.ranges() {
		job, err := w.store.RaiseGeneration(w.t.Context(), p.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		var states []store.StateWrite
		for key, before := range w.stored() {
			k := flow.NewKey(w.keys, key)
			if !owns(p)(k) {
				continue
			}
			v := cell{Stamp: w.stamp()}
			w.rec.Add(flowtest.Event{Kind: flowtest.MessageCall, Key: k, Stamp: v.Stamp, Found: before, Left: v.Stamp})
			value, _ := cellCodec{}.Encode(v)
			states = append(states, store.StateWrite{Key: key, Name: "/cell", Value: value})
		}
		w.commit(&job.Partition, states)
	}
}
