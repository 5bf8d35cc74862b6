package fieldreport

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/visit"
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

// machineRun drives the visit machine alone, whose wall clock a test may set.
type machineRun struct {
	cfg    visit.Config
	params visit.Params
	v      *visit.Visitor
	stored visit.Stored
	now    visit.Instant
	keys   []visit.Key
	rec    *flowtest.Recorder
	schema *flow.KeySchema
}

func newMachineRun(t *testing.T, period time.Duration, n int) *machineRun {
	m := &machineRun{schema: flowtest.Schema(t, "hash uint64 required"), params: visit.DefaultParams(), now: visit.Instant{Wall: int64(1e18)}}
	m.params.Period, m.params.Finite = period, false
	m.cfg = visit.Config{Stream: "sweep", Range: visit.FullRange(), Buckets: 4, Generation: 1, Sources: 1}
	m.rec = flowtest.NewRecorder(func() time.Duration { return m.now.Mono })
	for i := range n {
		k := flowtest.Key(t, m.schema, inOrder(uint64(n))(uint64(i)))
		m.keys = append(m.keys, visit.Key{Hash: inOrder(uint64(n))(uint64(i)), Bytes: k.Encoded()})
		m.rec.Add(flowtest.Event{Kind: flowtest.MessageCall, Key: k, Left: 1})
	}
	m.restart()
	return m
}

// restart makes the machine of the next owner.
func (m *machineRun) restart() {
	m.cfg.Generation++
	m.v = visit.New(m.cfg, m.params, m.stored, m.now)
}

// run goes on for a time.
func (m *machineRun) run(d time.Duration) {
	const tick = 10 * time.Millisecond
	for until := m.now.Mono + d; m.now.Mono < until; m.now.Mono, m.now.Wall = m.now.Mono+tick, m.now.Wall+int64(tick) {
		for l, ok := m.v.NextList(m.now); ok; l, ok = m.v.NextList(m.now) {
			m.v.AcceptList(m.now, l)
			var a visit.Answer
			for _, k := range m.keys {
				if l.Range.Contains(k) {
					a.Keys = append(a.Keys, visit.Found{Key: k, Bytes: 1})
					a.Rows++
				}
			}
			m.v.Listed(m.now, l.Token, []visit.Answer{a})
		}
		m.epoch()
	}
}

func (m *machineRun) epoch() {
	m.v.EpochOpened(m.now)
	visits := m.v.NextVisits(m.now, nil, 1000)
	for _, v := range visits {
		m.rec.Add(flowtest.Event{Kind: flowtest.VisitCall, Key: flow.NewKey(m.schema, v.Key.Bytes), Pass: v.Pass, Found: 1, Left: 1})
	}
	m.v.AcceptVisits(m.now, visit.Outcome{Delivered: len(visits)})
	m.store(m.v.Delta())
	m.v.EpochCommitted(m.now)
}

func (m *machineRun) store(d visit.Delta) {
	if m.stored.Buckets == nil {
		m.stored.Buckets = map[int][]byte{}
	}
	if d.Record != nil {
		m.stored.Record = d.Record
	}
	for _, b := range d.Buckets {
		m.stored.Buckets[b.Index] = b.Value
		if b.Value == nil {
			delete(m.stored.Buckets, b.Index)
		}
	}
}

func TestR45TheWallClockMayStep(t *testing.T) {
	const period = 20 * time.Second
	steps := []time.Duration{-time.Hour, time.Hour, 5 * time.Minute, -5 * time.Minute, -24 * time.Hour, 24 * time.Hour}
	for name, restart := range map[string]bool{"in one process": false, "between two owners": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachineRun(t, period, 500)
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
