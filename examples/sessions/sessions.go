package main

import (
	"context"
	"errors"
	"time"

	"github.com/rondo-flow/rondo/flow"
)

// session is what is kept of a user who is active.
type session struct {
	Start, Last flow.Time
	Clicks      int64
}

// OnMessage counts a click; one after a long pause begins a new session.
func (f *sessions) OnMessage(_ context.Context, rt flow.Runtime, click flow.Message, out flow.OutputCollector) error {
	state := f.state.Open(rt, click)
	s, open, err := state.Get()
	if open && click.EventTimestamp.Sub(s.Last) > f.pause {
		err, open = emit(rt, click.Key, s, out), false
	}
	if !open {
		s = session{Start: click.EventTimestamp}
	}
	s.Last = max(s.Last, click.EventTimestamp)
	s.Clicks++
	return errors.Join(err, state.Set(s))
}

// OnVisit ends a session that no click can continue any more.
func (f *sessions) OnVisit(_ context.Context, rt flow.Runtime, user flow.Visit, out flow.OutputCollector) error {
	state := f.state.Open(rt, user)
	s, _, err := state.Get()
	now, known := rt.Watermark("clicks")
	if err != nil || !user.Final && (!known || now.Sub(s.Last) <= f.pause) {
		return err
	}
	return errors.Join(emit(rt, user.Key, s, out), state.Clear())
}

// emit writes a session that has ended.
func emit(rt flow.Runtime, user flow.Key, s session, out flow.OutputCollector) error {
	key, err := user.Row() // hash, user
	if err != nil {
		return err
	}
	m, err := rt.MessageBuilder("sessions").SetValue("user", key[1]).
		Set("start", s.Start.String()).Set("end", s.Last.String()).Set("clicks", s.Clicks).Finish()
	return errors.Join(err, out.AddMessage(m))
}

// sessions is the function of one partition.
type sessions struct {
	pause time.Duration
	state *flow.State[session]
}

// parameters are the spec's processing_function_parameters.
type parameters struct {
	Pause time.Duration `yson:"pause,required" range:">0"`
}

func newSessions(setup flow.Setup) (flow.Function, error) {
	var p parameters
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	return &sessions{p.Pause, flow.NewState[session]("/session", nil)}, nil
}
