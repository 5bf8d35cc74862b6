package flowtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// Runtime is a flow.Runtime and a flow.OutputCollector in memory. It is not
// for concurrent use, as functions are not.
type Runtime struct {
	outputs    flow.Streams
	stored     map[stateID][]byte
	cells      map[stateID]*flow.Cell
	watermarks map[string]flow.Time
	total      map[string]int64
	counts     map[string]int64
	emitted    []flow.OutputMessage
	timers     []flow.TimerRequest
	joined     map[stateID]flow.Joined
	tables     map[string]*schema.Table
}

type stateID struct{ key, name string }

var (
	_ flow.Runtime         = (*Runtime)(nil)
	_ flow.OutputCollector = (*Runtime)(nil)
)

// NewRuntime returns a runtime with no states and no watermarks. outputs are
// the streams that may be emitted to.
func NewRuntime(outputs flow.Streams) *Runtime {
	return &Runtime{
		outputs:    outputs,
		stored:     map[stateID][]byte{},
		cells:      map[stateID]*flow.Cell{},
		watermarks: map[string]flow.Time{},
		total:      map[string]int64{},
		counts:     map[string]int64{},
		joined:     map[stateID]flow.Joined{},
		tables:     map[string]*schema.Table{},
	}
}

// Cell returns a state of a key, as flow.Runtime says.
func (r *Runtime) Cell(name string, key flow.Key) (*flow.Cell, error) {
	return r.cell(stateID{key.Encoded(), name}), nil
}

func (r *Runtime) cell(id stateID) *flow.Cell {
	c, ok := r.cells[id]
	if !ok {
		c = flow.NewCell(r.stored[id])
		r.cells[id] = c
	}
	return c
}

// ClearKey removes all internal states of the input's key.
func (r *Runtime) ClearKey(of flow.Keyed) error {
	key := flow.KeyOf(of).Encoded()
	for id := range r.stored {
		if id.key == key {
			r.cell(id)
		}
	}
	for id, c := range r.cells {
		if id.key == key && r.tables[id.name] == nil {
			c.SetBytes(nil)
		}
	}
	return nil
}

// Watermark returns what SetWatermark set for the stream.
func (r *Runtime) Watermark(stream string) (flow.Time, bool) {
	t, ok := r.watermarks[stream]
	return t, ok
}

// SetWatermark sets the event watermark of an input stream.
func (r *Runtime) SetWatermark(stream string, t flow.Time) { r.watermarks[stream] = t }

// Joined returns what SetJoined set for the input's key; unknown before.
func (r *Runtime) Joined(name string, of flow.Keyed) (flow.Joined, error) {
	return r.joined[stateID{flow.KeyOf(of).Encoded(), name}], nil
}

// SetJoined sets what a joined table has of a key.
func (r *Runtime) SetJoined(name string, key flow.Key, j flow.Joined) {
	r.joined[stateID{key.Encoded(), name}] = j
}

// SetTable says what columns the table of an external state has. It has no rows; write
// them through flow.OpenExternal.
func (r *Runtime) SetTable(name string, form *schema.Table) { r.tables[name] = form }

// External returns a row of a table that SetTable made known.
func (r *Runtime) External(name string, key flow.Key) (*flow.Cell, *schema.Table, error) {
	form := r.tables[name]
	if form == nil {
		return nil, nil, fmt.Errorf("there is no table %s: make it known with SetTable", name)
	}
	if err := form.CheckKey(key.Schema()); err != nil {
		return nil, nil, err
	}
	return r.cell(stateID{key.Encoded(), name}), form, nil
}

// Count adds to a counter.
func (r *Runtime) Count(name string, n int64) { r.counts[name] = flow.AddCounts(r.counts[name], n) }

// Counted returns the value of a counter, the current epoch included.
func (r *Runtime) Counted(name string) int64 { return flow.AddCounts(r.total[name], r.counts[name]) }

// MessageBuilder starts a message for an output stream.
func (r *Runtime) MessageBuilder(stream string) *flow.MessageBuilder {
	s, ok := r.outputs[stream]
	if !ok {
		return flow.FailedMessageBuilder(r.unknownStream(stream))
	}
	return flow.NewMessageBuilder(stream, s)
}

func (r *Runtime) unknownStream(stream string) error {
	return fmt.Errorf("stream %q is no output: the outputs are %q", stream, slices.Sorted(maps.Keys(r.outputs)))
}

// AddMessage keeps a copy of the message, which must fit the stream's schema.
func (r *Runtime) AddMessage(m flow.OutputMessage) error {
	s, ok := r.outputs[m.StreamID]
	if !ok {
		return r.unknownStream(m.StreamID)
	}
	if err := s.Check(m.Payload.Row()); err != nil {
		return fmt.Errorf("stream %s: %w", m.StreamID, err)
	}
	m.Payload = flow.NewPayload(s, slices.Clone(m.Payload.Row()))
	r.emitted = append(r.emitted, m)
	return nil
}

// AddTimer keeps the request. It fires nothing: call the function with flowtest.Timer.
func (r *Runtime) AddTimer(t flow.TimerRequest) error {
	r.timers = append(r.timers, t)
	return nil
}

// Timers returns the timers set in this epoch, in order.
func (r *Runtime) Timers() []flow.TimerRequest { return r.timers }

// WithParents returns the runtime itself: it does not check lineage.
func (r *Runtime) WithParents(...flow.MessageID) flow.OutputCollector { return r }

// MinWatermark returns the smallest watermark that was set.
func (r *Runtime) MinWatermark() (least flow.Time, ok bool) {
	for _, t := range r.watermarks {
		if !ok || t < least {
			least, ok = t, true
		}
	}
	return least, ok
}

// Emitted returns the messages added in this epoch, in order.
func (r *Runtime) Emitted() []flow.OutputMessage { return r.emitted }

// EndEpoch stores all states as bytes, which the next Get decodes, and forgets
// the emitted messages and set timers. An error is that of a codec; then the epoch has failed.
func (r *Runtime) EndEpoch() error {
	changes := map[stateID][]byte{}
	var errs []error
	for id, c := range r.cells {
		value, changed, err := c.Changed()
		if err != nil {
			errs = append(errs, err)
		}
		if changed {
			changes[id] = value
		}
	}
	if err := errors.Join(errs...); err != nil {
		r.begin()
		return err
	}
	for id, value := range changes {
		if len(value) == 0 {
			delete(r.stored, id)
			continue
		}
		r.stored[id] = value
	}
	for name, n := range r.counts {
		r.total[name] = flow.AddCounts(r.total[name], n)
	}
	r.begin()
	return nil
}

// FailEpoch takes back states, counts, messages and timers since the last EndEpoch.
func (r *Runtime) FailEpoch() { r.begin() }

func (r *Runtime) begin() {
	clear(r.cells)
	clear(r.counts)
	r.emitted, r.timers = nil, nil
}

// Stored returns the bytes of a state as the last epoch stored them, nil when
// the key has no such state.
func (r *Runtime) Stored(name string, key flow.Key) []byte {
	return r.stored[stateID{key.Encoded(), name}]
}
