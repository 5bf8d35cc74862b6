package fieldreport

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

// What a message asks for.
const (
	set    = 0
	remove = 1
)

// cell is the state of a key: the stamp of the last call that changed it, and
// whatever the scenario keeps.
type cell struct{ Stamp, Data uint64 }

type cellCodec struct{}

func (cellCodec) Encode(c cell) ([]byte, error) {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, c.Stamp), c.Data), nil
}

func (cellCodec) Decode(b []byte) (cell, error) {
	if len(b) != 16 {
		return cell{}, fmt.Errorf("%d bytes", len(b))
	}
	return cell{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}, nil
}

// call is one call of the keeper: what it is about, and what it shall do.
type call struct {
	key   uint64 // the key's second column
	found cell   // zero if there is no state
	// message is nil in a visit and visit nil in a message.
	message *flow.Message
	visit   *flow.Visit
	// A scenario says what to do: keep the state as it is, put a new one with this
	// data, or drop it; and how many messages to emit.
	do   action
	data uint64
	emit int
}

type action uint8

const (
	keep action = iota
	put
	drop
)

// keeper is the function of all scenarios. It keeps a cell for each key, does
// what the scenario says, and writes every call down.
type keeper struct {
	w     *world
	h     *hand // the worker that it runs on; nil: the only process
	state *flow.State[cell]
}

func newKeeper(w *world, h *hand) *keeper {
	return &keeper{w, h, flow.NewState[cell]("/cell", cellCodec{})}
}

func (k *keeper) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	take(k.w.messageCost)
	c := call{message: &m, do: put}
	if m.Payload.Int64("op") == remove {
		c.do = drop
	}
	err := k.call(rt, m.Key, m, &c, out)
	if k.w.latency != nil {
		k.w.store.handled(m.Key, time.Duration(m.Payload.Int64("at")))
	}
	return err
}

func (k *keeper) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	take(k.w.visitCost)
	return k.call(rt, v.Key, v, &call{visit: &v}, out)
}

func (k *keeper) call(rt flow.Runtime, key flow.Key, in flow.Keyed, c *call, out flow.OutputCollector) error {
	row, err := key.Row()
	if err != nil {
		return err
	}
	c.key = row[1].AsUint64()
	h := k.state.Open(rt, in)
	if c.found, _, err = h.Get(); err != nil {
		return err
	}
	if k.w.on != nil {
		if err := k.w.on(c); err != nil {
			k.w.failedVisit(c)
			return err
		}
	}
	stamp := k.w.stamp()
	left := c.found.Stamp
	switch c.do {
	case put:
		left, err = stamp, h.Set(cell{stamp, c.data})
	case drop:
		left, err = 0, rt.ClearKey(in)
	}
	for range c.emit {
		if err == nil {
			err = emit(rt, c.key, stamp, out)
		}
	}
	k.note(key, c, stamp, left)
	return err
}

func emit(rt flow.Runtime, key, stamp uint64, out flow.OutputCollector) error {
	m, err := rt.MessageBuilder("out").Set("key", key).Set("stamp", stamp).Finish()
	if err != nil {
		return err
	}
	return out.AddMessage(m)
}

func (k *keeper) note(key flow.Key, c *call, stamp, left uint64) {
	if k.w.quiet {
		return
	}
	e := flowtest.Event{Kind: flowtest.MessageCall, Key: key, Stamp: stamp, Found: c.found.Stamp, Left: left, Emitted: c.emit}
	if c.visit != nil {
		e.Kind, e.Pass = flowtest.VisitCall, c.visit.Pass
	}
	if k.h != nil {
		k.h.add(e)
	} else {
		k.w.rec.Add(e)
	}
}

// failedVisit notes a visit that is left out, where the spec says so.
func (w *world) failedVisit(c *call) {
	if c.visit != nil && w.skips && !w.quiet {
		w.rec.Add(flowtest.Event{Kind: flowtest.FailedVisit, Key: c.visit.Key, Pass: c.visit.Pass, Stamp: w.stamp(), Found: c.found.Stamp, Left: c.found.Stamp})
	}
}

// take is how a handler takes time.
func take(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}
