package main

import (
	"context"
	"errors"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// waiting is what is kept of a flight that waits for its correction, or of a
// correction that was read before its flight. Two flights may be alike.
type waiting struct{ Delays, Corrections []int64 }

// join is the function of one partition.
type join struct {
	wait  time.Duration
	state *flow.State[waiting]
}

// parameters are the spec's processing_function_parameters.
type parameters struct {
	Wait time.Duration `yson:"wait,required"` // how long a flight waits, in event time
}

func newJoin(s flow.Setup) (flow.Function, error) {
	var p parameters
	err := s.Parameters.Decode(&p)
	return &join{p.Wait, flow.NewState[waiting]("/waiting", nil)}, err
}

// OnMessage pairs flights with corrections. What is left of either waits.
func (f *join) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	state := f.state.Open(rt, m)
	w, _, err := state.Get()
	if err != nil {
		return err
	}
	delay := m.Payload.Int64("delay")
	if m.StreamID == "flights" {
		w.Delays = append(w.Delays, delay)
	} else {
		w.Corrections = append(w.Corrections, delay)
	}
	for len(w.Delays) > 0 && len(w.Corrections) > 0 {
		err = errors.Join(err, emit(rt, m.Key, w.Corrections[0], true, out))
		w.Delays, w.Corrections = w.Delays[1:], w.Corrections[1:]
	}
	if len(w.Delays)+len(w.Corrections) == 0 {
		return errors.Join(err, rt.ClearKey(m)) // the timer goes too
	}
	return errors.Join(err, state.Set(w), out.AddTimer(flow.TimerRequest{TriggerTimestamp: m.EventTimestamp + flow.Time(f.wait)}))
}

// OnTimer gives up waiting: no correction comes any more.
func (f *join) OnTimer(_ context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	state := f.state.Open(rt, t)
	w, _, err := state.Get()
	for _, delay := range w.Delays {
		err = errors.Join(err, emit(rt, t.Key, delay, false, out))
	}
	rt.Count("corrections_without_flight", int64(len(w.Corrections)))
	return errors.Join(err, state.Clear())
}

func emit(rt flow.Runtime, flight flow.Key, delay int64, corrected bool, out flow.OutputCollector) error {
	key, err := flight.Row() // hash, date, origin, destination
	if err != nil {
		return err
	}
	b := rt.MessageBuilder("joined").Set("delay", delay).Set("corrected", corrected)
	for i, name := range []string{"date", "origin", "destination"} {
		b = b.SetValue(name, schema.String(key[1+i].AsString()))
	}
	m, err := b.Finish()
	return errors.Join(err, out.AddMessage(m))
}
