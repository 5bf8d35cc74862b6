package docs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

// patience has timers of two streams.
type patience struct{}

// OnMessage waits ten seconds of the data for the rest of an order, and an hour of the
// clock for an answer.
func (*patience) OnMessage(_ context.Context, _ flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return errors.Join(
		out.AddTimer(flow.TimerRequest{StreamID: "timeout", TriggerTimestamp: m.EventTimestamp.Add(10 * time.Second)}),
		out.AddTimer(flow.TimerRequest{StreamID: "answer", TriggerTimestamp: m.SystemTimestamp.Add(time.Hour)}),
	)
}

// OnTimer tells the streams apart by their ids.
func (*patience) OnTimer(_ context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	m, err := rt.MessageBuilder("out").Set("why", t.StreamID).Set("due", t.TriggerTimestamp).Finish()
	return errors.Join(err, out.AddMessage(m))
}

// TestTimersOfTwoStreamsAreToldApart runs the functions that the page on time shows.
func TestTimersOfTwoStreamsAreToldApart(t *testing.T) {
	in := flowtest.Schema(t, "key string")
	rt := flowtest.NewRuntime(flow.Streams{"out": flowtest.Schema(t, "why string", "due timestamp")})
	m := flowtest.Message("in", flow.Key{}, flow.Time(0).Add(time.Minute), in, flowtest.Row(t, in, "k"))
	m.SystemTimestamp = flow.Time(0).Add(time.Hour)
	if err := new(patience).OnMessage(t.Context(), rt, m, rt); err != nil {
		t.Fatal(err)
	}
	for _, timer := range rt.Timers() {
		if err := new(patience).OnTimer(t.Context(), rt, flowtest.Timer(timer.StreamID, m.Key, timer.TriggerTimestamp, timer.EventTimestamp), rt); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]uint64{"timeout": 70e6, "answer": 7200e6}
	for _, out := range rt.Emitted() {
		if why := out.Payload.String("why"); out.Payload.Uint64("due") != want[why] {
			t.Errorf("%s is due at %d µs", why, out.Payload.Uint64("due"))
		}
	}
	if n := len(rt.Emitted()); n != 2 {
		t.Errorf("%d messages", n)
	}
}
