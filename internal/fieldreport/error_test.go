package fieldreport

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store/storetest"
)

func TestR59OneBadKeyStopsNoOther(t *testing.T) {
	for name, fail := range map[string]func() error{
		"an error": func() error { return errRefused },
		"a panic":  func() error { panic("spilt milk") },
		"a time-out": func() error {
			take(300 * time.Millisecond)
			return context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				const keys, bad = 10_000, 42
				w := newWorld(t, setting{skips: true})
				w.on = func(c *call) (err error) {
					if c.visit == nil || c.key != bad {
						return nil
					}
					defer func() {
						if r := recover(); r != nil {
							w.failedVisit(c)
							panic(r)
						}
					}()
					return fail()
				}
				w.fill(0, keys, nil)
				w.start()
				w.wait(w.periods(4.4))
				if n := w.life.restarts(); n > 0 {
					t.Errorf("%d restarts", n)
				}
				named := ""
				for _, p := range w.life.Status().Partitions {
					for _, f := range p.Failed {
						named += f.Path + " " + f.Message
					}
				}
				if !strings.Contains(named, "/key_visitor/sweep/failed_visits") || !strings.Contains(named, " 42u]") {
					t.Errorf("what is shown is %q", named)
				}
				claims := w.claims()
				w.pause()
				l := w.rec.Committed()
				passes, err := w.summaries()
				failed := uint64(0)
				for _, p := range passes {
					failed, claims = failed+p.Failed, append(claims, p.Claim)
				}
				w.check(err, flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)), flowtest.Once(l), flowtest.Honest(l, w.period, claims...))
				if failed != 4 {
					t.Errorf("%d failed visits in the passes kept, of one key in 4", failed)
				}
			})
		})
	}
}

func TestR59FailingHardStopsThePartitionAndNoOther(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys, bad = 1000, 42
		w := newWorld(t, setting{})
		w.on = func(c *call) error {
			if c.visit != nil && c.key == bad {
				return errRefused
			}
			return nil
		}
		w.fill(0, keys, nil)
		w.start()
		w.wait(w.periods(6.4))
		for i, p := range w.ranges() {
			status := w.partition(i)
			if owns(p)(flow.NewKey(w.keys, w.encoded(bad))) {
				if status.Phase != engine.BackedOff || status.Restarts > 20 || !strings.Contains(status.Error, "42u") {
					t.Errorf("the partition with the bad key is %s after %d restarts and says %q", status.Phase, status.Restarts, status.Error)
				}
				continue
			}
			l := w.rec.Committed().Where(owns(p))
			w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)))
		}
		w.pause()
	})
}

func TestR60TheLimiterIsWaitedForWithNothingOpen(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{partitions: 16, period: time.Second, visitor: "max_visits_per_second = 50;", dynamic: "max_rows_per_batch = 100;"})
		w.fill(0, 3200, nil)
		w.start()
		w.wait(100 * time.Second)
		if n := w.life.restarts(); n > 0 {
			t.Errorf("%d restarts", n)
		}
		w.pause()
		if n := w.rec.Committed().Visits(flowtest.Span{To: w.now()}); n < 4750 || n > 5250 {
			t.Errorf("%d visits in 100 s: the limit is 50 a second", n)
		}
		if d := time.Duration(w.store.slowest.Load()); d > 0 {
			t.Errorf("a call of the store was open for %s", d)
		}
		w.check(flowtest.Once(w.rec.Committed()))
	})
}

func TestR61WhatFailedIsNotCalledComplete(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 4000
		w := newWorld(t, setting{skips: true})
		rng := newDice()
		w.on = func(c *call) error {
			if c.visit != nil && rng.one(100) {
				return errRefused
			}
			return nil
		}
		w.fill(0, keys, nil)
		unreadable := w.ranges()[1]
		var failures atomic.Int64
		w.fault = func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpListStates && owns(unreadable)(flow.NewKey(w.keys, c.List.Lower)) {
				failures.Add(1)
				return storetest.Fails(errUnreadable)
			}
			return storetest.Fault{}
		}
		w.start()
		w.wait(w.periods(3.4))
		sweeps := w.life.sweeps()
		if s := sweeps[1]; s.Progress != 0 || s.Pass != 1 || s.Lag < w.periods(2) || failures.Load() == 0 {
			t.Errorf("the unreadable partition shows %.0f%% of pass %d done and a lag of %s", 100*s.Progress, s.Pass, s.Lag)
		}
		if message := w.life.problem("background_fill"); !strings.Contains(message, "moth-eaten") {
			t.Errorf("what is shown is %q", message)
		}
		claims := w.claims()
		w.pause()
		l := w.rec.Committed()
		passes, err := w.summaries()
		for _, p := range passes {
			claims = append(claims, p.Claim)
		}
		if len(passes) != 3*3 {
			t.Errorf("%d passes are kept", len(passes))
		}
		for i := range claims {
			claims[i].MaxAge = 0
		}
		readable := l.Where(func(k flow.Key) bool { return !owns(unreadable)(k) })
		w.check(err, flowtest.Honest(l, w.period, claims...), flowtest.Cover(readable, w.periods(1.2)), flowtest.Once(l))
	})
}

var errUnreadable = errors.New("moth-eaten")
