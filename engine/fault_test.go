package engine

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

var (
	seeds     = flag.Int("seeds", 25, "how many random histories to run")
	firstSeed = flag.Uint64("first-seed", 1, "the first of them: `-run NAME -seeds 1 -first-seed N` runs one again")
)

// forSeeds runs a history for each seed, in virtual time.
func forSeeds(t *testing.T, f func(t *testing.T, rng *rand.Rand)) {
	for i := range *seeds {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

// taking is a handler that takes virtual time.
func taking(d time.Duration) func(flow.Message) error {
	return func(flow.Message) error {
		<-time.After(d)
		return nil
	}
}

// run runs a pipeline until it is completed.
func (r *rig) run(s store.Store) *Summary {
	r.t.Helper()
	sum, err := r.pipeline().Run(r.t.Context(), s)
	if err != nil {
		r.t.Fatal(err)
	}
	if !sum.Completed {
		r.t.Fatalf("not completed: %+v", sum)
	}
	return sum
}

// TestFiguresHoldThroughStoreFaults: commits that fail, are fenced, or whose
// outcome is lost, and reads that fail, neither lose nor repeat anything (D-2,
// D-3).
func TestFiguresHoldThroughStoreFaults(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 600, 57)
		r.partitions = 1 + rng.IntN(4)
		if rng.IntN(2) == 0 {
			r.dynamic = "inbox_row_limit = 20;" // sizes that drift would stop it
		}
		r.run(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault { return someFault(rng, c) }))
		r.check()
	})
}

func someFault(rng *rand.Rand, c storetest.Call) storetest.Fault {
	switch c.Op {
	case storetest.OpCommit:
		switch rng.IntN(40) {
		case 0:
			return storetest.Unavailable()
		case 1:
			return storetest.Lost(true)
		case 2:
			return storetest.Lost(false)
		case 3:
			return storetest.Fails(store.ErrFenced)
		}
	case storetest.OpGetStates, storetest.OpListStates, storetest.OpReadInbox, storetest.OpRaiseGeneration:
		if rng.IntN(25) == 0 {
			return storetest.Unavailable()
		}
	}
	return storetest.Fault{}
}

// TestFiguresHoldThroughKills: the process dies at random moments and the same
// command runs again.
func TestFiguresHoldThroughKills(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 600, 57)
		r.onMessage = taking(time.Millisecond)
		s := storetest.NewModel()
		for range 12 {
			life, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(120))*time.Millisecond)
			faults := storetest.NewFaults(s, nil)
			sum, err := r.pipeline().Run(life, faults)
			cancel()
			if err == nil && sum.Completed {
				break
			}
		}
		sum := r.run(s)
		if sum.Messages != 600 {
			t.Errorf("%d messages over all runs, want 600", sum.Messages)
		}
		r.check()
		if again := r.run(s); again.Messages != 600 || again.Visits != sum.Visits || again.Passes != sum.Passes {
			t.Errorf("a completed pipeline run again says %+v, before it was %+v", again, sum)
		}
	})
}

// TestPausedAndStoppedPipelinesGoOn: pause and stop return without an error, lose
// nothing, and the next run goes on (D-21).
func TestPausedAndStoppedPipelinesGoOn(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 600, 57)
		r.onMessage = taking(time.Millisecond)
		s := storetest.NewModel()
		for range 6 {
			p := r.pipeline()
			stop := rng.IntN(2) == 0
			timer := time.AfterFunc(time.Duration(rng.IntN(150))*time.Millisecond, func() {
				if stop {
					p.Stop()
				} else {
					p.Pause()
				}
			})
			sum, err := p.Run(t.Context(), s)
			timer.Stop()
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Status(); got.Messages != sum.Messages || got.Visits != sum.Visits {
				t.Errorf("the status says %d messages and %d visits, the summary %d and %d", got.Messages, got.Visits, sum.Messages, sum.Visits)
			}
			if sizes, _ := s.InboxSizes(t.Context()); stop && len(sizes) > 0 {
				t.Errorf("a stopped pipeline has messages in flight: %+v", sizes)
			}
			if sum.Completed {
				break
			}
		}
		r.run(s)
		r.check()
	})
}

// TestStalledSourceHoldsTheFinalPassBack: passes go on while the source waits
// before its last row, none of them is final, and the last row counts.
func TestStalledSourceHoldsTheFinalPassBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 200, 20)
		r.gate = make(chan struct{})
		p := r.pipeline()
		time.AfterFunc(10*time.Second, func() {
			if passes := p.Status().Passes; passes < 3*400 {
				t.Errorf("%d passes in 10 s of period 20 ms on 3 partitions", passes)
			}
			for _, m := range r.sink.written {
				if m.Payload.Bool("final") {
					t.Error("a final visit before the source ended")
					break
				}
			}
			close(r.gate)
		})
		if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
			t.Fatal(err)
		}
		r.check()
	})
}

// TestSlowConsumerHoldsProducersBack: an inbox overshoots its limit by one epoch
// of each producer at most (D-18), and nothing is lost.
func TestSlowConsumerHoldsProducersBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000, 57)
		r.partitions = 1
		r.dynamic = "inbox_row_limit = 100;"
		r.onMessage = taking(5 * time.Millisecond)
		s := storetest.NewModel()
		most := 0
		faults := storetest.NewFaults(s, func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpCommit {
				sizes, _ := s.InboxSizes(t.Context())
				for _, size := range sizes {
					most = max(most, size.Messages)
				}
			}
			return storetest.Fault{}
		})
		r.run(faults)
		r.check()
		if limit := 100 + 2*37; most > limit || most < 100 {
			t.Errorf("at most %d messages waited, want about 100 and no more than %d", most, limit)
		}
	})
}

// TestFailingHandlerIsShownAndTriedAgain: errors and panics fail the epoch, show
// with partition and key, and clear with the next good epoch (D-24).
func TestFailingHandlerIsShownAndTriedAgain(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("sour milk") },
		"panic": func() error { panic("sour milk") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 100, 10)
				var healed atomic.Bool
				r.onMessage = func(flow.Message) error {
					if healed.Load() {
						return nil
					}
					return fail()
				}
				p := r.pipeline()
				time.AfterFunc(time.Minute, func() {
					checkShown(t, p.Status())
					healed.Store(true)
				})
				if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
					t.Fatal(err)
				}
				r.check()
				for _, s := range p.Status().Partitions {
					if s.Error != "" {
						t.Errorf("error %q shows after the end", s.Error)
					}
				}
			})
		})
	}
}

func checkShown(t *testing.T, s Status) {
	shown := 0
	for _, p := range s.Partitions {
		if p.Error == "" {
			continue
		}
		shown++
		for _, part := range []string{"counter", fmt.Sprintf("partition %d", p.ID), "key [", "sour milk"} {
			if !strings.Contains(p.Error, part) {
				t.Errorf("error %q does not say %q", p.Error, part)
			}
		}
	}
	if shown == 0 {
		t.Error("no error shows")
	}
}

// TestLongHandlerCallShowsItsKey: a call that runs for more than 30 s is named in
// the status (D-23).
func TestLongHandlerCallShowsItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10, 10)
		r.onMessage = taking(45 * time.Second)
		p := r.pipeline()
		busy := func() (shown int) {
			for _, s := range p.Status().Partitions {
				if s.Busy != "" && s.BusyFor > 0 {
					shown++
				}
			}
			return shown
		}
		time.AfterFunc(29*time.Second, func() {
			if n := busy(); n > 0 {
				t.Errorf("%d calls show as long after 29 s", n)
			}
		})
		time.AfterFunc(40*time.Second, func() {
			if busy() == 0 {
				t.Error("no call shows after 40 s")
			}
			p.Pause()
		})
		if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNewInputWakesAnIdlePartition: batch_duration and empty_batch_backoff are
// upper bounds of waiting, not delays (D-19).
func TestNewInputWakesAnIdlePartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		r.period = "1h"
		r.gate = make(chan struct{})
		var released, last time.Time
		r.onMessage = func(flow.Message) error { last = time.Now(); return nil }
		r.partitions = 1
		time.AfterFunc(time.Minute, func() {
			released = time.Now()
			close(r.gate)
		})
		r.run(storetest.NewModel())
		if waited := last.Sub(released); waited < 0 || waited > time.Millisecond {
			t.Errorf("the last message was handled %s after it came", waited)
		}
	})
}
