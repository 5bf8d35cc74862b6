package crash

import (
	"context"
	"errors"
	"time"

	"github.com/rondo-flow/rondo/flow"
)

// ledger sets timers of every kind and writes down each that it sets and each that
// fires. It counts the fired ones by stream, in the state of their key: so the
// number of a firing tells its place in the order in which the key saw them. No timer
// is set behind the watermark of its stream, so that is the order of triggers.
type ledger struct{ state *flow.State[map[string]int64] }

func newLedger(flow.Setup) (flow.Function, error) {
	return ledger{flow.NewState("/fired", flow.CBOR[map[string]int64]())}, nil
}

// links is how many timers a chain has: each is set by the one before, in the same
// stream.
const links = 5

// delays are what the timers of a row lie ahead by, less than this each.
const delays = 20

func (l ledger) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	n := m.Payload.Int64("n")
	ahead := flow.Time(n*7919%delays) * flow.Time(time.Second)
	soon := flow.Time(1+n*31%delays)*flow.Time(time.Millisecond) + flow.Time(n)
	err := errors.Join(
		l.set(rt, m, out, "event", m.EventTimestamp+ahead+flow.Time(n)),
		l.set(rt, m, out, "system", m.SystemTimestamp+soon),
		l.set(rt, m, out, "real", flow.Time(time.Now().UnixNano())+soon),
	)
	if n%10 == 0 { // the same once more: there is one
		err = errors.Join(err, out.AddTimer(flow.TimerRequest{StreamID: "event", TriggerTimestamp: m.EventTimestamp + ahead + flow.Time(n)}))
	}
	state := l.state.Open(rt, m)
	fired, begun, err2 := state.Get()
	if err2 != nil || begun {
		return errors.Join(err, err2)
	}
	if fired == nil {
		fired = map[string]int64{}
	}
	return errors.Join(err, state.Set(fired), l.set(rt, m, out, "chain", m.EventTimestamp+flow.Time(time.Second)))
}

func (l ledger) OnTimer(_ context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	state := l.state.Open(rt, t)
	fired, _, err := state.Get()
	if err != nil {
		return err
	}
	nth := fired[t.StreamID]
	fired[t.StreamID]++
	if t.StreamID == "chain" && nth < links-1 {
		err = l.set(rt, t, out, "chain", t.TriggerTimestamp+flow.Time(time.Second))
	}
	return errors.Join(err, state.Set(fired), l.write(rt, t, out, "fired", t.StreamID, t.TriggerTimestamp, nth))
}

func (l ledger) set(rt flow.Runtime, of flow.Keyed, out flow.OutputCollector, stream string, at flow.Time) error {
	return errors.Join(
		out.AddTimer(flow.TimerRequest{StreamID: stream, TriggerTimestamp: at}),
		l.write(rt, of, out, "set", stream, at, -1),
	)
}

func (l ledger) write(rt flow.Runtime, of flow.Keyed, out flow.OutputCollector, what, stream string, at flow.Time, nth int64) error {
	key, err := flow.KeyOf(of).Row()
	if err != nil {
		return err
	}
	m, err := rt.MessageBuilder("ledger").SetValue("key", key[1]).Set("what", what).Set("stream", stream).
		Set("trigger", int64(at)).Set("nth", nth).Finish()
	return errors.Join(err, out.AddMessage(m))
}
