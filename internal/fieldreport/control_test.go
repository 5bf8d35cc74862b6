package fieldreport

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/yson"
)

// tune changes a parameter of the visit stream while it runs.
func (w *world) tune(name, value string) error {
	w.t.Helper()
	node, err := yson.Parse([]byte(value), yson.YSON)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = w.life.SetDynamic(w.t.Context(), "computations.keeper.key_visitor_streams.sweep."+name, node, 0)
	return err
}

// tuned is tune that has to work.
func (w *world) tuned(name, value string) {
	w.t.Helper()
	if err := w.tune(name, value); err != nil {
		w.t.Fatal(err)
	}
}

func TestR49ANewPeriodCountsAtOnce(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 2000
		w := newWorld(t, setting{period: 24 * time.Hour})
		w.fill(0, keys, nil)
		w.start()
		w.wait(5 * time.Hour)
		rate := func(seconds int) float64 {
			from := w.now()
			w.wait(time.Duration(seconds) * time.Second)
			return float64(w.rec.Committed().Visits(flowtest.Span{From: from, To: w.now()})) / float64(seconds)
		}
		w.tuned("period", `"10s"`)
		if n := rate(1); n < 0.5*keys/10 {
			t.Errorf("%.0f visits in the second after the period became 10 s", n)
		}
		rate(2) // into the middle of a pass
		for _, c := range []struct {
			period  string
			seconds int
			want    float64
		}{{"60s", 9, keys / 60}, {"1s", 2, keys}, {"20s", 7, keys / 20}} {
			before := w.progress()
			w.tuned("period", `"`+c.period+`"`)
			if after := w.progress(); after < before-0.01 {
				t.Errorf("at a period of %s the pass is at %.2f, it was at %.2f", c.period, after, before)
			}
			if n := rate(c.seconds); n < 0.7*c.want || n > 1.4*c.want {
				t.Errorf("%.0f visits a second at a period of %s, want %.0f", n, c.period, c.want)
			}
		}
		for _, bad := range []string{`"soon"`, `"0s"`, `"-1s"`, `%true`} {
			err := w.tune("period", bad)
			if err == nil || !strings.Contains(err.Error(), "computations.keeper.key_visitor_streams.sweep.period") {
				t.Errorf("a period of %s is answered with %v", bad, err)
			}
		}
		if n := rate(5); n < 0.7*keys/20 || n > 1.4*keys/20 {
			t.Errorf("%.0f visits a second after bad values, want %d", n, keys/20)
		}
		w.pause()
		w.check(flowtest.Once(w.rec.Committed()))
	})
}

// progress is how many passes are done, on average.
func (w *world) progress() (sum float64) {
	for _, s := range w.life.sweeps() {
		sum += float64(s.Pass-1) + s.Progress
	}
	return sum / float64(w.partitions)
}

func TestR63OffIsOffAtEveryPhase(t *testing.T) {
	for name, c := range map[string]struct {
		before func(w *world, failing *atomic.Bool)
		after  func(w *world)
	}{
		"in mid-pass":       {func(w *world, _ *atomic.Bool) { w.wait(w.periods(1.4)) }, func(*world) {}},
		"before the start":  {func(*world, *atomic.Bool) {}, func(*world) {}},
		"in back-off":       {func(w *world, f *atomic.Bool) { w.wait(w.periods(1.2)); f.Store(true); w.wait(3 * time.Second) }, func(*world) {}},
		"during a takeover": {func(w *world, _ *atomic.Bool) { w.wait(w.periods(1.4)); w.takeOver() }, (*world).takeOver},
		"in a slow visit": {func(w *world, _ *atomic.Bool) {
			w.wait(w.periods(0.2))
			w.visitCost = 50 * time.Millisecond
			w.wait(w.periods(1))
		}, func(*world) {}},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				w := newWorld(t, setting{})
				var failing atomic.Bool
				w.on = func(c *call) error {
					if failing.Load() && c.visit != nil {
						return errRefused
					}
					return nil
				}
				w.fill(0, 1000, nil)
				w.start()
				c.before(w, &failing)
				w.wait(time.Millisecond) // Run has begun
				w.tuned("enabled", "%false")
				off := w.now()
				failing.Store(false)
				c.after(w)
				w.wait(w.periods(3))
				if n := w.rec.Committed().Visits(flowtest.Span{From: off + 100*time.Millisecond, To: w.now()}); n > 0 {
					t.Errorf("%d visits later than 100 ms after it was disabled", n)
				}
				if message := w.life.problem("disabled"); !strings.Contains(message, "rests at") {
					t.Errorf("what is shown is %q", message)
				}
				for _, s := range w.life.sweeps() {
					if s.Enabled {
						t.Error("a partition is shown as enabled")
					}
				}
				done := w.progress()
				w.kill() // and stays off over a restart
				w.start()
				w.wait(w.periods(1))
				w.tuned("enabled", "%true")
				w.rec.Down(flowtest.Span{From: off, To: w.now()})
				w.wait(time.Second)
				if now := w.progress(); now < done-0.02 || now > done+0.3 {
					t.Errorf("%.2f passes were done when it was disabled, %.2f are a second after it was enabled", done, now)
				}
				w.wait(w.periods(2))
				w.pause()
				l := w.rec.Committed()
				w.check(flowtest.Once(l), flowtest.Fresh(l))
				if name != "in a slow visit" {
					w.check(flowtest.Cover(l, w.periods(1.5)))
				}
			})
		})
	}
}

func TestR64PauseMeansPause(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 4000
		w := newWorld(t, setting{})
		w.fill(0, keys, nil)
		w.start()
		w.wait(w.periods(1.4))
		w.tuned("enabled", "%false")
		off := w.now()
		w.wait(w.periods(10))
		if n := w.rec.Committed().Visits(flowtest.Span{From: off + 100*time.Millisecond, To: w.now()}); n > 0 {
			t.Errorf("%d visits while it was disabled", n)
		}
		w.tuned("enabled", "%true")
		on := w.now()
		w.wait(w.periods(2.4))
		w.check(flowtest.Smooth(w.rec.Committed(), flowtest.Span{From: on + time.Second, To: w.now()}, 20, 0.7, 1.3))
		if took := w.stop(); took > time.Second {
			t.Errorf("the stop took %s, with a pass half done", took)
		}
		w.wait(w.periods(10))
		back := w.now()
		w.start()
		w.wait(w.periods(2.4))
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Smooth(l, flowtest.Span{From: back + time.Second, To: w.now()}, 20, 0.7, 1.3),
			flowtest.Cover(l.Since(back), w.periods(1.2)))
	})
}

func TestR65RunNowIsOnePassAtOnce(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 4000
		w := newWorld(t, setting{period: time.Hour})
		w.fill(0, keys, nil)
		w.start()
		w.wait(w.periods(1.4))
		for _, length := range []time.Duration{20 * time.Second, 0} {
			from := w.now()
			if err := w.life.RunNow(t.Context(), "keeper", "sweep", length); err != nil {
				t.Fatal(err)
			}
			if length > 0 {
				w.wait(length / 2)
				if err := w.life.RunNow(t.Context(), "keeper", "sweep", 0); err == nil || !strings.Contains(err.Error(), "carries out a run-now already, 4") && !strings.Contains(err.Error(), "carries out a run-now already, 5") {
					t.Errorf("in the middle of one, another is answered with %v", err)
				}
			}
			w.wait(length*7/10 + 2*time.Second)
			l := w.rec.Committed()
			if n := l.Visits(flowtest.Span{From: from, To: w.now()}); n < keys || n > keys*102/100 {
				t.Errorf("%d visits by a run-now of %d keys", n, keys)
			}
			w.check(flowtest.Cover(l.Since(from), length*12/10+2*time.Second), flowtest.Once(l))
			if length > 0 {
				w.check(flowtest.Smooth(l, flowtest.Span{From: from, To: from + length}, 10, 0.7, 1.3))
			}
		}
		from := w.now()
		w.wait(w.periods(0.5))
		if n := w.rec.Committed().Visits(flowtest.Span{From: from, To: w.now()}); n < keys*4/10 || n > keys*6/10 {
			t.Errorf("%d visits in half a period after it", n)
		}
		w.pause()
		w.check(flowtest.Once(w.rec.Committed()))
	})
}

func TestR40RepartitioningInTheMiddleOfPassesLeavesNobodyOut(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 640
		w := newWorld(t, setting{partitions: 8})
		w.on = func(c *call) error {
			if c.visit != nil {
				c.do, c.emit = put, 1
			}
			return nil
		}
		w.fill(0, keys, nil)
		w.start()
		for _, n := range []int{32, 8, 3, 16, 8} {
			w.load(50, keys, time.Duration(w.rng.Int64N(int64(2*w.period))))
			if err := w.life.Repartition(t.Context(), "keeper", n); err != nil {
				t.Fatal(err)
			}
			if got := len(w.ranges()); got != n {
				t.Fatalf("%d partitions, want %d", got, n)
			}
			if w.rng.IntN(2) == 0 {
				w.kill()
				w.start()
			}
		}
		settled := w.now()
		w.load(50, keys, w.periods(3))
		w.stop()
		l := w.rec.Committed()
		// 2.5 periods across a split or a merge, and there are several in that time.
		w.check(flowtest.Once(l), flowtest.Fresh(l), flowtest.Atomic(l, w.stored(), w.sink.byStamp()),
			flowtest.Cover(l, w.periods(3)), flowtest.Cover(l.Since(settled), w.periods(2.5)))
	})
}
