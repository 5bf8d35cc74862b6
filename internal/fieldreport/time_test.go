package fieldreport

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store/storetest"
)

func TestR44APauseIsFollowedByOnePacedPass(t *testing.T) {
	for name, stall := range map[string]func(w *world, until time.Duration){
		"of every handler": func(w *world, until time.Duration) {
			w.on = func(c *call) error {
				if w.now() > w.periods(2.5) && w.now() < until {
					take(until - w.now())
				}
				return nil
			}
		},
		"of the store": func(w *world, until time.Duration) {
			thaw := make(chan struct{})
			time.AfterFunc(until-w.now(), func() { close(thaw) })
			w.fault = func(storetest.Call) storetest.Fault {
				if w.now() > w.periods(2.5) && w.now() < until {
					return storetest.Held(thaw)
				}
				return storetest.Fault{}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				const keys = 4000
				w := newWorld(t, setting{})
				w.fill(0, keys, nil)
				thaw := w.periods(12.5)
				stall(w, thaw)
				w.start()
				w.wait(thaw + w.periods(5) - w.now())
				w.pause()
				l := w.rec.Committed()
				w.check(flowtest.Once(l))
				// At most what is left of the pass, at its pace, and then the next ones.
				for from := thaw; from < w.now()-w.period; from += w.period / 4 {
					if n := l.Visits(flowtest.Span{From: from, To: from + w.period}); n > keys*13/10 || from > thaw+w.period && n < keys*7/10 {
						t.Errorf("%d visits in the period from %s on, of %d keys", n, from, keys)
					}
				}
				w.check(flowtest.Smooth(l, flowtest.Span{From: thaw + w.period, To: thaw + w.periods(5)}, 40, 0.6, 1.4),
					flowtest.Cover(l.Since(thaw), w.periods(1.2)))
			})
		})
	}
}

func TestR45TheWallClockMayStep(t *testing.T) {
	const period = 20 * time.Second
	steps := []time.Duration{-time.Hour, time.Hour, 5 * time.Minute, -5 * time.Minute, -24 * time.Hour, 24 * time.Hour}
	for name, restart := range map[string]bool{"in one process": false, "between two owners": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachines(t, period, 500)
			for _, step := range steps {
				m.run(13 * time.Second) // in the middle of some pass
				m.now.Wall += int64(step)
				if restart {
					m.restart()
				}
				m.run(17 * time.Second)
			}
			l := m.rec.All()
			for _, err := range []error{flowtest.Gap(l, period*12/10), flowtest.Cover(l, period*12/10), flowtest.Once(l)} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestR47IdlePipelinesAreVisitedAllTheSame(t *testing.T) {
	for name, disturb := range map[string]func(w *world){
		"no input": func(*world) {},
		"one partition is idle": func(w *world) {
			idle := owns(w.ranges()[2])
			for range 400 {
				w.wait(w.periods(0.05))
				if key := uint64(w.rng.IntN(2000)); !idle(flow.NewKey(w.keys, w.encoded(key))) {
					w.send(key, set)
				}
			}
		},
		"input held back": func(w *world) {
			w.send(7, set)
			for range 2000 {
				w.send(uint64(w.rng.IntN(2000)), set)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				w := newWorld(t, setting{partitions: 8, dynamic: "inbox_row_limit = 10; max_rows_per_batch = 5;"})
				if name == "input held back" {
					w.on = func(c *call) error {
						if c.message != nil && c.key == 7 {
							take(w.periods(20)) // the source waits behind it
						}
						return nil
					}
				}
				w.fill(0, 2000, nil)
				busy := owns(w.ranges()[0])
				for i, p := range w.ranges() {
					if owns(p)(flow.NewKey(w.keys, w.encoded(7))) {
						busy = owns(w.ranges()[i])
					}
				}
				w.start()
				disturb(w)
				w.wait(w.periods(20.6) - w.now())
				if name != "input held back" {
					w.passesAre(19, 20)
				}
				l := w.rec.Committed()
				w.kill()
				if name == "input held back" {
					l = l.Where(func(k flow.Key) bool { return !busy(k) })
				}
				w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)), flowtest.Once(l),
					flowtest.Smooth(l, flowtest.Span{From: w.periods(2), To: w.periods(20)}, 180, 0.7, 1.3))
			})
		})
	}
}
