package fieldreport

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

func TestR23APassGoesOnWhereItWasKilled(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		w.fill(0, 2000, nil)
		progress := func() (sum float64) {
			for _, s := range w.life.sweeps() {
				sum += float64(s.Pass-1) + s.Progress
			}
			return sum / float64(w.partitions)
		}
		reached := 0.0
		for range 20 {
			w.start()
			w.wait(300 * time.Millisecond)
			if now := progress(); now < reached-0.1 {
				t.Errorf("after a restart %.2f passes are done, %.2f were", now, reached)
			}
			w.wait(w.periods(0.6) - 300*time.Millisecond)
			reached = progress()
			w.kill()
		}
		w.passesAre(10, 12) // 12 periods of running time
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.3)), flowtest.Gap(l, w.periods(1.3)), flowtest.Fresh(l))
	})
}

func TestR24RestartsMoreFrequentThanThePeriodDoNotStopTheClock(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{period: time.Minute})
		w.fill(0, 1000, nil)
		for i := range 30 {
			w.start()
			if i == 15 { // three owners in a row, each for a moment
				for range 3 {
					w.wait(5 * time.Second)
					w.takeOver()
				}
				w.wait(5 * time.Second)
			} else {
				w.wait(20 * time.Second)
			}
			w.kill()
			w.wait(time.Duration(w.rng.Int64N(int64(2 * time.Second))))
		}
		w.passesAre(8, 11) // each start costs a tick
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)))
	})
}

// takeOver makes somebody else the owner of every partition, who then goes away.
func (w *world) takeOver() {
	w.t.Helper()
	for _, p := range w.ranges() {
		if _, err := w.store.RaiseGeneration(w.t.Context(), p.ID); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestR25AShortOutageOfTheStoreLeavesNothingStuck(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		var out atomic.Bool
		w.fault = func(storetest.Call) storetest.Fault {
			if out.Load() {
				return storetest.Unavailable()
			}
			return storetest.Fault{}
		}
		w.fill(0, 1000, nil)
		w.start()
		w.wait(w.periods(1.5))
		out.Store(true)
		w.wait(3 * time.Second)
		if message := w.life.problem("background_fill"); !strings.Contains(message, "unavailable") {
			t.Errorf("what shows of the outage is %q", message)
		}
		out.Store(false)
		back := w.now()
		w.wait(w.periods(0.6)) // the longest back-off in 3 s, and some ticks
		for i, s := range w.life.Status().Partitions {
			if s.Phase != engine.Working || s.Error != "" {
				t.Errorf("partition %d is %s with %q after the outage", i, s.Phase, s.Error)
			}
		}
		for i, p := range w.ranges() {
			if n := w.rec.Committed().Where(owns(p)).Visits(flowtest.Span{From: back, To: w.now()}); n == 0 {
				t.Errorf("no visit in partition %d since the outage", i)
			}
		}
		w.wait(w.periods(3))
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.2)+6*time.Second), flowtest.Fresh(l))
	})
}

func TestR27KeysOfADeadOwnerAreVisitedByTheNext(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		w.fill(0, 1000, nil)
		w.start()
		w.wait(w.periods(1.4))
		w.kill()
		w.wait(w.periods(5))
		back := w.now()
		w.start()
		w.wait(w.periods(2.5))
		w.pause()
		l := w.rec.Committed()
		// What was visited of the pass is not visited again, what was not, is.
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.2)), flowtest.Cover(l.Since(back), w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)))
	})
}

func TestR28AFormerOwnerChangesNothing(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{partitions: 1})
		w.on = func(c *call) error {
			if c.visit != nil {
				c.do, c.emit = put, 1
			}
			return nil
		}
		w.fill(0, 500, nil)
		// The first owner freezes with visits ready to commit, and never gets as far
		// as noticing that it is no owner.
		freeze := make(chan struct{})
		frozen := make(chan struct{})
		var once sync.Once
		var refused atomic.Int64
		former := w.begin(func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpRaiseGeneration && refused.Load() > 0 {
				return storetest.Unavailable()
			}
			if c.Op == storetest.OpRaiseGeneration || c.Op != storetest.OpCommit || len(c.Commit.States) == 0 || w.now() < w.period/2 {
				return storetest.Fault{}
			}
			refused.Add(1)
			once.Do(func() { close(frozen) })
			return storetest.Held(freeze)
		})
		<-frozen
		w.takeOver()
		before := w.rec.Committed()
		w.start()
		for range 100 {
			w.send(uint64(w.rng.IntN(500)), set)
		}
		w.wait(5 * time.Second)
		close(freeze)
		w.wait(w.periods(1))
		former.kill()
		w.pause()
		l := w.rec.Committed()
		if len(l.Events) <= len(before.Events) {
			t.Error("the new owner did nothing")
		}
		w.check(flowtest.Fresh(l), flowtest.Once(l), flowtest.Cover(l, w.periods(1.3)))
		if stored := w.stored(); len(stored) != 500 {
			t.Errorf("%d keys", len(stored))
		}
	})
}

func TestR29ManyPassesWithPanicsAndStopsLeakNothing(t *testing.T) {
	alone(t, func(t *testing.T) {
		const passes = 10_000
		w := newWorld(t, setting{partitions: 2, model: true, period: 100 * time.Millisecond, visitor: `background_fill_period = "50ms";`})
		w.quiet = true
		var panics atomic.Bool
		w.on = func(c *call) error {
			if c.visit != nil && c.key == 42 && panics.CompareAndSwap(true, false) {
				panic("spilt milk")
			}
			return nil
		}
		w.fill(0, 100, nil)
		var early flowtest.Memory
		for round := 0; ; round++ {
			w.start()
			if round%2 == 0 {
				panics.Store(true)
				if !w.blames(42) {
					t.Error("no partition blames key 42 for the panic")
				}
			} else {
				w.wait(time.Second)
				w.takeOver()
			}
			w.wait(20*time.Second + time.Duration(w.rng.Int64N(int64(time.Second))))
			if took := w.pause(); took > time.Second {
				t.Errorf("the pause took %s", took)
			}
			least, _ := w.passes()
			if m := flowtest.MeasureMemory(); early.Heap == 0 && least > passes/10 {
				early = m
			} else if least > passes {
				w.check(flowtest.Mem(early, m, 4<<20))
				break
			}
		}
	})
}

// blames waits until a failure shows with its key; false if none does.
func (w *world) blames(key uint64) bool {
	w.t.Helper()
	row, err := flow.NewKey(w.keys, w.encoded(key)).Row()
	if err != nil {
		w.t.Fatal(err)
	}
	for range 100 {
		for _, p := range w.life.Status().Partitions {
			if strings.Contains(p.Error, row[1].String()) && strings.Contains(p.Error, "spilt milk") {
				return true
			}
		}
		w.wait(10 * time.Millisecond)
	}
	return false
}

func TestR31AFailedReadDoesNotCostAPass(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{period: 20 * time.Second})
		var failed atomic.Int64
		rng := newDice()
		w.fault = func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpListStates && rng.one(100) {
				failed.Add(1)
				return storetest.Unavailable()
			}
			return storetest.Fault{}
		}
		w.fill(0, 2000, nil)
		w.start()
		w.wait(w.periods(10.2))
		w.passesAre(9, 10)
		if n := w.life.restarts(); n > 0 || failed.Load() < 10 {
			t.Errorf("%d restarts after %d failed reads", n, failed.Load())
		}
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)))
	})
}

func TestR33VisitsWithoutInputAreCommittedWithTheirOutput(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		w.on = func(c *call) error { c.do, c.emit = put, 1; return nil }
		w.fill(0, 500, nil)
		w.start()
		w.wait(w.periods(5))
		w.wait(2 * time.Second)
		w.kill()
		if n := len(w.sink.byStamp()); n < 4*500 {
			t.Errorf("%d messages came out while it ran", n)
		}
		w.start()
		w.stop()
		l := w.rec.Committed()
		w.check(flowtest.Atomic(l, w.stored(), w.sink.byStamp()), flowtest.Once(l), flowtest.Fresh(l))
	})
}

func TestR33EmittingAndDeletingHappenTogetherAtEveryFault(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{partitions: 2, period: time.Second})
		w.on = func(c *call) error {
			if c.visit != nil {
				c.do, c.emit = drop, 1
			}
			return nil
		}
		outcomes := []storetest.Fault{storetest.Lost(true), storetest.Lost(false), storetest.Unavailable(), storetest.Fails(store.ErrConflict)}
		var key uint64
		for i := range 60 {
			w.fill(key, key+40, nil)
			key += 40
			left := atomic.Int64{}
			left.Store(int64(i / len(outcomes)))
			w.fault = func(c storetest.Call) storetest.Fault {
				if c.Op == storetest.OpCommit && left.Add(-1) == -1 {
					return outcomes[i%len(outcomes)]
				}
				return storetest.Fault{}
			}
			w.start()
			if i%2 == 0 {
				w.wait(w.periods(0.5))
				w.kill()
				w.start()
			}
			w.wait(w.periods(2))
			w.kill()
		}
		w.fault = nil
		w.start()
		w.wait(w.periods(3))
		w.stop()
		l := w.rec.Committed()
		w.check(flowtest.Atomic(l, w.stored(), w.sink.byStamp()), flowtest.Once(l), flowtest.NoGhost(l))
		if n := len(w.sink.byStamp()); n != int(key) || len(w.stored()) != 0 {
			t.Errorf("%d of %d keys came out, %d are left", n, key, len(w.stored()))
		}
	})
}
