package engine

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestWhichCommandIsRefusedInWhichState: what begins work is refused by a pipeline
// that ends; the dynamic spec may change as long as it runs.
func TestWhichCommandIsRefusedInWhichState(t *testing.T) {
	commands := map[string]func(p *running) error{
		"run-now":     func(p *running) error { return p.RunNow(p.t.Context(), "counter", "sweep", 0) },
		"repartition": func(p *running) error { return p.Repartition(p.t.Context(), "counter", 2) },
		"set":         func(p *running) error { return p.set("period", `"2h"`) },
		"spec": func(p *running) error {
			_, err := p.SpecInForce(p.t.Context())
			return err
		},
		"timers": func(p *running) error {
			_, err := p.PendingTimers(p.t.Context())
			return err
		},
		"stop": func(p *running) error { return p.Stop() },
	}
	for _, c := range []struct {
		name    string
		tell    func(p *running)
		blocked bool // a message is in flight until the end
		state   State
		refused map[string]error // not named: done
	}{
		{"working", func(*running) {}, false, Running, nil},
		{"draining", func(p *running) { p.must(p.Stop()) }, true, Draining, map[string]error{"run-now": errDraining, "repartition": errDraining}},
		{"pausing", func(p *running) { p.Pause() }, true, Pausing, map[string]error{"run-now": errPausing, "repartition": errPausing, "stop": errPausing}},
		{"stopping that is cut short", func(p *running) { p.must(p.Stop()); p.Pause() }, true, Pausing,
			map[string]error{"run-now": errPausing, "repartition": errPausing, "stop": errPausing}},
		{"ended", func(p *running) { p.pause() }, false, "", map[string]error{
			"run-now": ErrNotRunning, "repartition": ErrNotRunning, "set": ErrNotRunning, "spec": ErrNotRunning, "timers": ErrNotRunning, "stop": errPausing}},
	} {
		for name, command := range commands {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r, held := slowRig(t), make(chan struct{})
					if c.blocked {
						r.onMessage = func(flow.Message) error { <-held; return nil }
					}
					p := r.start(storetest.NewModel())
					<-time.After(time.Minute)
					c.tell(p)
					synctest.Wait()
					if s, err := p.State(); s != c.state || (err != nil) != (c.state == "") {
						t.Errorf("it is %q, %v, want %q", s, err, c.state)
					}
					if err := command(p); !errors.Is(err, c.refused[name]) {
						t.Errorf("%v, want %v", err, c.refused[name])
					}
					close(held)
					p.Pause()
					if c.state != "" {
						p.must(<-p.done)
					}
				})
			})
		}
	}
}

// TestAStopLeavesNothingInFlight: and a pause may.
func TestAStopLeavesNothingInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := slowRig(t), storetest.NewModel()
		r.onMessage = func(flow.Message) error { <-time.After(time.Second); return nil }
		waiting := func() (n int) {
			status, err := StoredStatus(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range status.Partitions {
				n += part.Waiting
			}
			return n
		}
		p := r.start(s)
		p.pause()
		if waiting() == 0 {
			t.Error("nothing is in flight after a pause, so the test tells nothing")
		}
		p = r.start(s)
		p.must(p.Stop())
		p.must(<-p.done)
		if n := waiting(); n > 0 {
			t.Errorf("%d messages are in flight after a stop", n)
		}
	})
}

// TestARunGoesOnFromTheVersionThatWasAskedFor: or not at all.
func TestARunGoesOnFromTheVersionThatWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := slowRig(t), storetest.NewModel()
		run := func(version uint64) error {
			p := r.pipeline()
			p.opts.Version = version
			p.Pause()
			_, err := p.Run(t.Context(), s)
			return err
		}
		if err := run(1); !errors.Is(err, ErrVersion) {
			t.Errorf("version 1 of a store that has none: %v", err)
		}
		if stored, err := s.Pipeline(t.Context()); stored != nil || err != nil {
			t.Errorf("the refused run stored %v, %v", stored, err)
		}
		for version, want := range map[uint64]error{0: nil, 1: nil, 2: ErrVersion} {
			if err := errors.Join(run(0), run(version)); !errors.Is(err, want) {
				t.Errorf("version %d: %v, want %v", version, err, want)
			}
		}
	})
}

// TestTimersAreCounted: each that was set has fired, or is pending.
func TestTimersAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := timerRig(t, 500, 50, ""), storetest.NewModel()
		r.period = "10d"
		p := r.start(s)
		<-time.After(time.Minute)
		pending, err := p.PendingTimers(t.Context())
		p.must(err)
		fired := p.Status().Timers
		if fired == 0 || pending.Count == 0 || pending.More || int(fired)+pending.Count != 498 {
			t.Errorf("%d fired and %+v are pending, want 498 together: two rows are kept back", fired, pending)
		}
		p.pause()
		again, err := CountTimers(t.Context(), s, p.opts.Spec)
		if err != nil || *again != *pending {
			t.Errorf("%+v are stored, %v, want %+v", again, err, pending)
		}
		if none, err := CountTimers(t.Context(), s, newRig(t, 1, 1).pipeline().opts.Spec); none != nil || err != nil {
			t.Errorf("a pipeline without timer streams has %+v, %v", none, err)
		}
	})
}

// TestManyTimersAreNotCountedForEachWhoAsks: counting takes a twentieth of the time.
func TestManyTimersAreNotCountedForEachWhoAsks(t *testing.T) {
	var c timerCount
	if got := c.get(0); got != nil {
		t.Errorf("before the first: %+v", got)
	}
	c.put(&PendingTimers{Count: 1}, time.Second, 1100*time.Millisecond)
	for at, good := range map[time.Duration]bool{1200 * time.Millisecond: true, 3090 * time.Millisecond: true, 3100 * time.Millisecond: false} {
		if got := c.get(at); (got != nil) != good {
			t.Errorf("at %s: %+v", at, got)
		}
	}
}
