package function

import (
	"context"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// rollup keeps aggregates for each key. Everything that is looked up by name is
// looked up when it is made.
type rollup struct {
	inputs     []input
	aggregates []aggregate
	emit       *target
	evict      *eviction
	states     *flow.State[life]
}

// aggregate is one value that is kept. Several output columns may show it.
type aggregate struct {
	text string // its identity: sum(delay)
	op   op
	kind schema.Kind
}

// input is an input stream, with the column of each aggregate; -1 where none is
// needed.
type input struct {
	stream  string
	columns []int
}

// eviction says when a key is removed, and where its last record goes, if
// anywhere.
type eviction struct {
	idle time.Duration
	emit *target
}

// something stands for the column of an aggregate that counts messages.
var something = schema.Boolean(true)

// OnMessage adds the message to the aggregates of its key.
func (r *rollup) OnMessage(_ context.Context, rt flow.Runtime, msg flow.Message, _ flow.OutputCollector) error {
	in := r.input(msg.StreamID)
	if in == nil {
		return fmt.Errorf("rollup got a message of the stream %s, which is no input", msg.StreamID)
	}
	h := r.states.Open(rt, msg)
	l, known, err := h.Get()
	if err != nil {
		return err
	}
	if !known {
		l = birth(r.aggregates)
	}
	newest := msg.EventTimestamp >= l.latest
	if newest {
		l.latest = msg.EventTimestamp
	}
	row := msg.Payload.Row()
	for i := range r.aggregates {
		v := something
		if c := in.columns[i]; c >= 0 {
			v = row[c]
		}
		if l.values[i], err = r.aggregates[i].op.add(l.values[i], v, newest); err != nil {
			return fmt.Errorf("rollup of key %s: %s: %w", msg.Key, r.aggregates[i].text, err)
		}
	}
	return h.Set(l)
}

func (r *rollup) input(stream string) *input {
	for i := range r.inputs {
		if r.inputs[i].stream == stream {
			return &r.inputs[i]
		}
	}
	return nil
}

// OnVisit emits the aggregates of the key, or evicts it if it is idle.
func (r *rollup) OnVisit(_ context.Context, rt flow.Runtime, visit flow.Visit, out flow.OutputCollector) error {
	if r.emit == nil && r.evict == nil {
		return nil
	}
	h := r.states.Open(rt, visit)
	l, known, err := h.Get()
	if err != nil || !known {
		return err
	}
	if !r.idle(rt, l.latest) {
		return r.emit.add(visit, l.values, out)
	}
	if err := r.evict.emit.add(visit, l.values, out); err != nil {
		return err
	}
	rt.Count("evictions", 1)
	return rt.ClearKey(visit)
}

// idle tells whether the key is to be evicted.
func (r *rollup) idle(rt flow.Runtime, latest flow.Time) bool {
	if r.evict == nil {
		return false
	}
	lowest := latest
	for i, in := range r.inputs {
		watermark, ok := rt.Watermark(in.stream)
		if !ok {
			return false
		}
		if i == 0 || watermark < lowest {
			lowest = watermark
		}
	}
	// Unsigned, the difference of any two instants is right.
	return lowest > latest && uint64(lowest)-uint64(latest) > uint64(r.evict.idle)
}

var (
	_ flow.RowFunction      = (*rollup)(nil)
	_ flow.RowVisitFunction = (*rollup)(nil)
)
