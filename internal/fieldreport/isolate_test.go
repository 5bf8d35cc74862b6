package fieldreport

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store/storetest"
)

// times collects latencies of all jobs.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *times) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// take returns what was collected since the last time.
func (l *times) take() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.all
	l.all = nil
	return out
}

// load pushes messages at random moments, so many a second on average, for a
// time.
func (w *world) load(perSecond float64, keys int, d time.Duration) {
	for until := w.now() + d; w.now() < until; {
		w.send(uint64(w.rng.IntN(keys)), set)
		w.wait(time.Duration(w.rng.ExpFloat64() / perSecond * float64(time.Second)))
	}
}

func TestR08MessagesDoNotWaitForAPass(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys, parts = 60_000, 6 // as 100 000 in ten
		latencies := func(off bool) (first, whole []time.Duration) {
			w := newWorld(t, setting{partitions: parts, period: 160 * time.Second, off: off})
			defer w.close()
			w.messageCost, w.visitCost = time.Millisecond, time.Millisecond
			var all times
			w.latency = all.add
			w.fill(0, keys, nil)
			from := w.now()
			w.start()
			const load = 0.2 * 1000 * parts
			w.load(load, keys, time.Second)
			first = all.take()
			w.load(load, keys, 9*time.Second)
			w.wait(60 * time.Second)
			w.load(load, keys, 10*time.Second)
			whole = append(all.take(), first...)
			if !off {
				w.wait(w.periods(1.02) - (w.now() - from))
				w.check(flowtest.Smooth(w.rec.Committed(), flowtest.Span{From: from, To: from + w.period}, 10, 0.7, 1.3))
			}
			w.pause()
			return first, whole
		}
		firstOff, off := latencies(true)
		firstOn, on := latencies(false)
		t.Logf("99 of 100 take up to %s without and %s with visits", flowtest.Percentile(off, 0.99), flowtest.Percentile(on, 0.99))
		for _, err := range []error{flowtest.Isolate(off, on, 2), flowtest.Isolate(firstOff, firstOn, 2)} {
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// TestR08MessagesWaitLittleWhateverACommitTakes: quick calls, and commits that
// take what they do on disks.
func TestR08MessagesWaitLittleWhateverACommitTakes(t *testing.T) {
	for _, commit := range []time.Duration{500 * time.Microsecond, 3 * time.Millisecond} {
		t.Run(commit.String(), func(t *testing.T) {
			play(t, func(t *testing.T) {
				const keys = 50_000
				latencies := func(off bool) []time.Duration {
					w := newWorld(t, setting{partitions: 2, off: off})
					defer w.close()
					w.quiet = true
					w.messageCost, w.visitCost = 20*time.Microsecond, 20*time.Microsecond
					var all times
					w.latency = all.add
					w.fault = func(c storetest.Call) storetest.Fault {
						if c.Op != storetest.OpCommit {
							return storetest.Fault{}
						}
						done := make(chan struct{})
						time.AfterFunc(commit, func() { close(done) })
						return storetest.Held(done)
					}
					w.fill(0, keys, nil)
					w.start()
					w.wait(200 * time.Millisecond)
					w.load(4000, keys, 2*time.Second)
					return all.take()
				}
				if err := flowtest.Isolate(latencies(true), latencies(false), 1.5); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestR09APassThatIsTooSlowIsSaidToBeAndStacksNothing(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		w.messageCost, w.visitCost = 10*time.Millisecond, 120*time.Millisecond
		var all times
		w.latency = all.add
		w.fill(0, 1000, nil) // 250 in each partition: three periods
		w.start()
		w.load(4*30, 1000, w.periods(15))
		message := w.life.problem("period_unreachable")
		if !strings.Contains(message, "a pass takes about") {
			t.Errorf("what is shown of it is %q", message)
		}
		t.Log(message)
		w.passesAre(2, 5)
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Fresh(l), flowtest.Cover(l, w.periods(6)))
		if slow := flowtest.Percentile(all.take(), 0.99); slow > 5*w.visitCost {
			t.Errorf("99 of 100 messages take up to %s beside visits of %s", slow, w.visitCost)
		}
	})
}

func TestR10BackPressureDoesNotHoldUpAPause(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 50_000
		w := newWorld(t, setting{period: time.Second, dynamic: "max_rows_per_batch = 100; inbox_row_limit = 5000;"})
		w.sink.wait = func(n int) { take(time.Duration(n) * time.Millisecond) }
		w.on = func(c *call) error {
			if c.visit != nil {
				c.emit = 10
			}
			return nil
		}
		w.fill(0, keys, nil)
		for range 10 {
			w.start()
			w.wait(time.Duration(w.rng.Int64N(int64(3 * time.Second))))
			if took := w.pause(); took > 200*time.Millisecond {
				t.Errorf("the pause took %s", took)
			}
			l := w.rec.Committed()
			w.check(flowtest.Once(l), flowtest.Fresh(l))
		}
		w.sink.wait = nil
		w.start()
		for least := uint64(0); least == 0; least, _ = w.passes() {
			w.wait(time.Second)
		}
		w.stop()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Fresh(l), flowtest.Atomic(l, w.stored(), w.sink.byStamp()))
	})
}

func TestR11ResumingDoesNotExceedTheLimit(t *testing.T) {
	play(t, func(t *testing.T) {
		const limit, parts = 5000.0, 4
		keys := size(100_000, 1_000_000)
		w := newWorld(t, setting{partitions: parts, period: 15 * time.Second, visitor: "max_visits_per_second = 5000;"})
		w.quiet = true
		w.messageCost, w.visitCost = time.Millisecond, 50*time.Microsecond
		var visits times
		w.on = func(c *call) error {
			if c.visit != nil {
				visits.add(w.now())
			}
			return nil
		}
		var all times
		w.latency = all.add
		w.fill(0, keys, nil)
		w.visitor += "enabled = %false;"
		w.start()
		w.wait(w.periods(10))
		w.load(0.2*1000*parts, int(keys), 10*time.Second)
		w.pause()
		off := all.take()
		if n := len(visits.take()); n != 0 {
			t.Errorf("%d visits while they are disabled", n)
		}
		w.visitor = strings.ReplaceAll(w.visitor, "enabled = %false;", "")
		from := w.now()
		w.start()
		w.load(0.2*1000*parts, int(keys), 10*time.Second)
		seconds := make([]int, 10)
		for _, at := range visits.take() {
			if s := int((at - from) / time.Second); s < len(seconds) {
				seconds[s]++
			}
		}
		sum := 0
		for s, n := range seconds {
			// What one second misses, the next may make up for.
			if sum += n; float64(sum) > 1.02*limit*float64(s+1) || s > 1 && float64(n) < 0.9*limit {
				t.Errorf("%d visits in second %d after the resume, %d so far: the limit is %.0f a second", n, s, sum, limit)
			}
		}
		w.pause()
		w.check(flowtest.Isolate(off, all.take(), 2))
	})
}

func TestR12AQuickPassTakesItsWholePeriod(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 10_000
		w := newWorld(t, setting{period: 100 * time.Second})
		w.visitCost = 2 * w.period / 100 * 4 / keys // in each of 4 partitions, 2 % of the period
		w.fill(0, keys, nil)
		from := w.now()
		w.start()
		w.wait(w.periods(1.5))
		for key := range uint64(keys) {
			w.send(keys+key, set)
		}
		w.wait(w.periods(3))
		w.pause()
		l := w.rec.Committed()
		pass := func(n time.Duration) flowtest.Span {
			return flowtest.Span{From: from + n*w.period, To: from + (n+1)*w.period}
		}
		w.check(flowtest.Smooth(l, pass(0), 10, 0.7, 1.3), flowtest.Smooth(l, pass(2), 10, 0.7, 1.3), flowtest.Smooth(l, pass(3), 10, 0.7, 1.3),
			flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)))
		if n := l.Visits(pass(3)); n < 2*keys*9/10 || n > 2*keys*11/10 {
			t.Errorf("%d visits in a period with twice as many keys, %d", n, 2*keys)
		}
	})
}

func TestR13AStepOverManyDeletedRowsIsSmall(t *testing.T) {
	play(t, func(t *testing.T) {
		keys := size(100_000, 1_000_000)
		w := newWorld(t, setting{partitions: 1, buckets: 1})
		w.quiet = true
		w.fill(0, keys, nil)
		w.clear(1, keys-1) // all but the first and the last
		w.quiet = false
		w.fill(keys, keys+2, nil)
		visits := map[uint64]int{}
		w.on = func(c *call) error {
			if c.visit != nil {
				visits[c.key]++
			}
			return nil
		}
		lists := w.store.lists.Load()
		w.start()
		w.wait(w.periods(2.5))
		w.passesAre(2, 2)
		w.pause()
		for _, key := range []uint64{0, keys - 1, keys, keys + 1} {
			if n := visits[key]; n < 2 || n > 3 || len(visits) != 4 {
				t.Errorf("key %d has %d visits in two passes and a half, of %d keys", key, n, len(visits))
			}
		}
		if n := w.store.lists.Load() - lists; n > 200 {
			t.Errorf("%d lists in two passes and a half", n)
		}
	})
}

func TestR13ManyKeysOfOneHashAreVisitedInSmallSteps(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{partitions: 2, visitor: "max_scan_rows_per_iteration = 2; buffer_row_limit = 1;",
			hash: func(uint64) uint64 { return 1 << 62 }})
		w.fill(0, 5000, nil)
		w.start()
		w.wait(w.periods(3.6)) // a pass without visits may wait 5 s until it is stored
		w.passesAre(3, 3)
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)), flowtest.Once(l))
	})
}

func TestR15WhatIsOffCostsNothing(t *testing.T) {
	const years = 10 * 365 * 24 * time.Hour
	cost := map[string][3]int64{}
	var mu sync.Mutex
	t.Run("each", func(t *testing.T) {
		for name, s := range map[string]setting{
			"no visit stream": {off: true, model: true},
			"disabled":        {visitor: "enabled = %false;", model: true},
			"a long period":   {period: 36500 * 24 * time.Hour, buckets: 1, model: true},
		} {
			t.Run(name, func(t *testing.T) {
				play(t, func(t *testing.T) {
					w := newWorld(t, s)
					w.fill(0, 1000, nil)
					w.start()
					for range 100 {
						for range 100 {
							w.send(uint64(w.rng.IntN(1000)), set)
						}
						w.wait(time.Second)
					}
					gets, lists, commits := w.store.gets.Load(), w.store.lists.Load(), w.store.commits.Load()
					mu.Lock()
					cost[name] = [3]int64{gets, lists, commits}
					mu.Unlock()
					if s.period != 0 {
						w.pause()
						return
					}
					// Anything that ticks, however slowly, makes this take for ever.
					w.wait(years)
					if n := w.store.gets.Load() + w.store.lists.Load() + w.store.commits.Load() - gets - lists - commits; n > 10 {
						t.Errorf("%d calls of the store in ten idle years", n)
					}
					w.pause()
					if n := w.rec.Committed().Visits(flowtest.Span{To: w.now()}); n != 0 {
						t.Errorf("%d visits", n)
					}
				})
			})
		}
	})
	without, disabled := cost["no visit stream"], cost["disabled"]
	if disabled[1] != 0 || disabled[0] > without[0]*11/10 || disabled[2] > without[2]*11/10 { // how messages meet in epochs varies
		t.Errorf("reads, lists and commits for the same messages are %v", cost)
	}
	if n := cost["a long period"][1]; n > 20 {
		t.Errorf("%d lists in 100 s of a period of 100 years", n)
	}
}
