package engine

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestWhatJobsDoAboutAnotherTarget: those that work drain in place; a machine that
// drains never works again, so that every other change begins jobs anew.
func TestWhatJobsDoAboutAnotherTarget(t *testing.T) {
	all := []store.Target{store.ToWork, store.ToPause, store.ToDrain, store.ToRest}
	for _, began := range all {
		for _, now := range all {
			end, drain := turn(began, now)
			if wantDrain := began == store.ToWork && now == store.ToDrain; drain != wantDrain || end != (began != now && !wantDrain) {
				t.Errorf("from %d to %d: end %t, drain %t", began, now, end, drain)
			}
		}
	}
}

// TestADrainIsOverWhenAllWorkersSaySoOfOneMoment.
func TestADrainIsOverWhenAllWorkersSaySoOfOneMoment(t *testing.T) {
	done := standing{Pipeline: 7, Layout: 3, Assignment: 5, Drained: true}
	with := func(change func(*standing)) standing {
		s := done
		change(&s)
		return s
	}
	parts := []store.Partition{{ID: 1, Worker: "a", State: store.Executing}, {ID: 2, Worker: "b", State: store.Executing}, {ID: 3, State: store.Completed}}
	for name, c := range map[string]struct {
		b     standing
		parts []store.Partition
		want  bool
	}{
		"all have drained":                 {done, parts, true},
		"one has not":                      {with(func(s *standing) { s.Drained = false }), parts, false},
		"one goes by another version":      {with(func(s *standing) { s.Pipeline = 6 }), parts, false},
		"one goes by another layout":       {with(func(s *standing) { s.Layout = 2 }), parts, false},
		"one goes by another assignment":   {with(func(s *standing) { s.Assignment = 4 }), parts, false},
		"one has told nothing":             {standing{}, parts, false},
		"a partition has no worker":        {done, append(parts[:2:2], store.Partition{ID: 4, State: store.Executing}), false},
		"a partition's worker is not here": {done, append(parts[:2:2], store.Partition{ID: 4, Worker: "c", State: store.Executing}), false},
	} {
		h := &Heard{Pipeline: 7, Layout: 3, Assignment: 5, Told: map[string][]byte{}}
		for id, s := range map[string]standing{"a": done, "b": c.b} {
			h.Told[id], _ = json.Marshal(words{Standing: s})
		}
		if got := allDrained(h, c.parts); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// aim gives the pipeline of a crew another target.
func (c *crew) aim(t *testing.T, to store.Target) {
	t.Helper()
	for {
		p, err := c.Store.Pipeline(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.Aim(to)
		if c.SavePipeline(t.Context(), p) == nil {
			return
		}
	}
}

// idle tells whether no worker runs jobs, as they say by themselves.
func (c *crew) idle(t *testing.T) bool {
	p, err := c.Store.Pipeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range c.hands {
		if !Idle(h.told, p) {
			return false
		}
	}
	return true
}

// waiting is how many messages are in flight.
func (c *crew) waiting(t *testing.T) (n int) {
	sizes, err := c.InboxSizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sizes {
		n += s.Messages
	}
	return n
}

// slowCrew is two workers, the first of which reads and leads, and a job that takes
// minutes.
func slowCrew(t *testing.T) (*rig, *crew) {
	r := newRig(t, 600, 57)
	r.period, r.shared = "10s", true
	r.onMessage = func(flow.Message) error { <-time.After(500 * time.Millisecond); return nil }
	return r, &crew{Store: storetest.NewModel(), lease: store.Lease{Holder: "a", Term: 1}, owner: func(p *store.Partition) string {
		return map[bool]string{true: "b", false: "a"}[p.Computation == "counter"]
	}}
}

// TestAStopOfWorkersLeavesNothingInFlight: it is over once all of them have worked
// through what was in flight; then they wait, and go on when they are told to, with
// nothing lost or repeated.
func TestAStopOfWorkersLeavesNothingInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := slowCrew(t)
		_, b := c.run(t, r.pipeline, func(a, b *Pipeline) {
			<-time.After(20 * time.Second)
			if c.waiting(t) == 0 {
				t.Fatal("nothing was in flight")
			}
			c.aim(t, store.ToDrain)
			for over := false; !over; <-time.After(time.Second) {
				p, err := c.Store.Pipeline(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if over = p.Target == store.ToRest; over && c.waiting(t) > 0 {
					t.Errorf("%d messages are in flight", c.waiting(t))
				}
			}
			<-time.After(10 * time.Second)
			if !c.idle(t) {
				t.Error("jobs run after a stop")
			}
			stopped := taken(b, "counter")
			<-time.After(time.Minute)
			if n := taken(b, "counter"); n != stopped {
				t.Errorf("%d messages were taken, %d when it had stopped", n, stopped)
			}
			if stopped == 600 {
				t.Error("all was read before the stop")
			}
			c.aim(t, store.ToWork)
		})
		if b == nil || !b.Completed {
			t.Errorf("%+v", b)
		}
		r.check()
	})
}

// TestAPauseOfWorkersEndsJobsAtTheNextEpochBound: what is in flight stays; after it a
// stop works through that.
func TestAPauseOfWorkersEndsJobsAtTheNextEpochBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := slowCrew(t)
		_, b := c.run(t, r.pipeline, func(a, _ *Pipeline) {
			<-time.After(20 * time.Second)
			c.aim(t, store.ToPause)
			for !c.idle(t) {
				<-time.After(time.Second)
			}
			if s, err := a.State(); s != Pausing || err != nil {
				t.Errorf("it is %q, %v", s, err)
			}
			left := c.waiting(t)
			<-time.After(time.Minute)
			if n := c.waiting(t); n != left || left == 0 {
				t.Errorf("%d messages are in flight, %d when it had paused", n, left)
			}
			c.aim(t, store.ToDrain)
			for !c.idle(t) || c.waiting(t) > 0 {
				<-time.After(time.Second)
			}
			c.aim(t, store.ToWork)
		})
		if b == nil || !b.Completed {
			t.Errorf("%+v", b)
		}
		r.check()
	})
}

// TestAWorkerThatComesToAPausedPipelineWaits: it runs nothing until the pipeline is
// started.
func TestAWorkerThatComesToAPausedPipelineWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := slowCrew(t)
		if err := r.pipeline().Submit(t.Context(), c.Store); err != nil {
			t.Fatal(err)
		}
		c.aim(t, store.ToPause)
		_, b := c.run(t, r.pipeline, func(a, b *Pipeline) {
			<-time.After(time.Minute)
			if n := taken(a, "reader") + taken(b, "counter"); n > 0 || !c.idle(t) {
				t.Errorf("%d messages were taken, idle %t", n, c.idle(t))
			}
			c.aim(t, store.ToWork)
		})
		if b == nil || !b.Completed {
			t.Errorf("%+v", b)
		}
	})
}

// TestAWorkerIsNotStoppedAlone: that would leave what others have in flight.
func TestAWorkerIsNotStoppedAlone(t *testing.T) {
	p := newRig(t, 1, 1).pipeline()
	p.opts.Member = &alone{}
	if err := p.Stop(); err == nil {
		t.Error("it was stopped")
	}
}

// TestAChangedSpecIsNotTakenWhileItDrains, and is when that is over.
func TestAChangedSpecIsNotTakenWhileItDrains(t *testing.T) {
	r := newRig(t, 1, 1)
	r.shared = true
	c := &crew{Store: storetest.NewModel()}
	submit := func(edit func(string) string) error {
		r.edit = edit
		return r.pipeline().Submit(context.Background(), c.Store)
	}
	if err := submit(nil); err != nil {
		t.Fatal(err)
	}
	c.aim(t, store.ToDrain)
	if err := submit(nil); err != nil {
		t.Errorf("the same spec: %v", err)
	}
	more := func(text string) string { return strings.Replace(text, "sweep = {}", "sweep = {bucket_count = 16}", 1) }
	if err := submit(more); !errors.Is(err, errDraining) {
		t.Errorf("another spec while it drains: %v", err)
	}
	c.aim(t, store.ToRest)
	if err := submit(more); err != nil {
		t.Errorf("another spec when it has stopped: %v", err)
	}
	if p, err := c.Store.Pipeline(t.Context()); err != nil || p.Target != store.ToRest {
		t.Errorf("it is not stopped any more: %+v, %v", p, err)
	}
}

// TestANewRoundHasDrainedNothing: what a former one did is not said of it, though its
// jobs may not have begun.
func TestANewRoundHasDrainedNothing(t *testing.T) {
	e := &environment{member: &alone{}, log: slog.New(slog.DiscardHandler)}
	e.orders.Store(&orders{target: store.ToDrain})
	parts := []store.Partition{{ID: 1, State: store.Executing}}
	e.post(parts, nil)
	e.beginStint(parts)
	e.board(1).setDrained(true)
	if !e.standing().Drained {
		t.Error("it has drained, and does not say so")
	}
	e.beginStint(parts)
	if e.standing().Drained {
		t.Error("it says that it has drained")
	}
}
