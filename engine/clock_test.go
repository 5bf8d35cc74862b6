package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// clocked sets a timer by each clock for every message, a little ahead of what that
// clock says.
type clocked struct{ *alarms }

func (f clocked) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	ahead := flow.Time(1+m.Payload.Int64("value")%40) * flow.Time(5*time.Millisecond)
	set := func(stream string, at flow.Time) error {
		return out.AddTimer(flow.TimerRequest{StreamID: stream, TriggerTimestamp: at + ahead + flow.Time(m.Payload.Int64("value"))})
	}
	return errors.Join(f.alarms.OnMessage(ctx, rt, m, stream{out, "alarm"}), set("system", m.SystemTimestamp), set("real", m.SystemTimestamp))
}

// stream gives timers to a stream.
type stream struct {
	flow.OutputCollector
	id string
}

func (s stream) AddTimer(t flow.TimerRequest) error {
	t.StreamID = s.id
	return s.OutputCollector.AddTimer(t)
}

func (f clocked) OnTimer(ctx context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	rt.Count(t.StreamID, 1)
	if t.StreamID != "alarm" {
		return nil
	}
	return f.alarms.OnTimer(ctx, rt, t, out)
}

func (f clocked) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	return f.countFunction.OnVisit(ctx, rt, v, out)
}

// clockedRig reads a row now and then, for about a second.
func clockedRig(t *testing.T) *rig {
	r := timerRig(t, 300, 11, "")
	timers := r.edit
	r.edit = func(text string) string {
		return strings.Replace(timers(text), "timer_streams = {", "timer_streams = {system = {time_type = system_time}; real = {time_type = real_time}; ", 1)
	}
	r.onMessage, r.period = taking(3*time.Millisecond), "200ms"
	r.function = func() flow.Function { return clocked{newAlarms(r)} }
	return r
}

// stepping makes the wall clock of a pipeline one that the test steps, by what the
// result holds.
func stepping(p *Pipeline) *atomic.Int64 {
	by := &atomic.Int64{}
	p.clock.wall = func() int64 { return time.Now().UnixNano() + by.Load() }
	return by
}

// TestNoTimerIsLostOrRepeatedWhenTheClockSteps by an hour, forward and back, again
// and again; those of event time keep their order, and visits come all the same.
func TestNoTimerIsLostOrRepeatedWhenTheClockSteps(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := clockedRig(t)
		began := time.Now()
		p := r.pipeline()
		stepped := stepping(p)
		for range 10 {
			by := int64(rng.IntN(3)-1) * int64(time.Hour)
			time.AfterFunc(time.Duration(rng.IntN(2000))*time.Millisecond, func() { stepped.Store(by) })
		}
		time.AfterFunc(3*time.Second, func() { stepped.Store(int64(2 * time.Hour)) }) // beyond all that was set
		s := storetest.NewModel()
		sum, err := p.Run(t.Context(), storetest.NewFaults(s, func(c storetest.Call) storetest.Fault { return someFault(rng, c) }))
		if err != nil || !sum.Completed {
			t.Fatalf("%+v, error %v", sum, err)
		}
		for _, stream := range []string{"alarm", "system", "real"} {
			if sum.Counts[stream] != 300 {
				t.Errorf("%d timers of %s fired, want 300", sum.Counts[stream], stream)
			}
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %s, last %+v", took, sum)
		}
		r.check()
		r.checkTimers(s)
	})
}

// TestTimersFollowAClockThatSteps: forward, those that are due are noticed within a
// second; back, what the clock had reached stays reached.
func TestTimersFollowAClockThatSteps(t *testing.T) {
	for name, c := range map[string]struct {
		step  time.Duration
		after time.Duration // when the last timer has fired, at the latest
	}{
		"not at all":      {0, time.Hour + time.Second},
		"an hour forward": {time.Hour, 12 * time.Second},
		"an hour back":    {-time.Hour, 2*time.Hour + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := timerRig(t, 20, 20, "time_type = real_time")
				r.period = "1h"
				began := time.Now()
				r.function = func() flow.Function {
					f := newAlarms(r)
					f.trigger = func(m flow.Message) flow.Time {
						return flow.Time(began.Add(time.Hour - time.Duration(m.Payload.Int64("value"))*time.Second).UnixNano())
					}
					return heedless{f}
				}
				p := r.pipeline()
				stepped := stepping(p)
				time.AfterFunc(10*time.Second, func() { stepped.Store(int64(c.step)) })
				if sum, err := p.Run(t.Context(), storetest.NewModel()); err != nil || sum.Timers != 20 {
					t.Errorf("%+v, error %v", sum, err)
				}
				if spent := time.Since(began); spent > c.after || spent < c.after-2*time.Second {
					t.Errorf("the last timer fired after %s, want about %s", spent, c.after)
				}
			})
		})
	}
}
