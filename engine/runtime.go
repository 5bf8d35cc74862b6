package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// callRuntime is the flow.Runtime and flow.OutputCollector of one job. It serves
// one call at a time: begin sets the input, end says what went wrong in it.
type callRuntime struct {
	node   *node
	router *router
	counts []store.Count

	epoch   *partition.Epoch
	state   *keyState
	stream  string // of the input in hand
	event   flow.Time
	visit   bool
	failure error
}

var (
	_ flow.Runtime         = (*callRuntime)(nil)
	_ flow.OutputCollector = (*callRuntime)(nil)
)

func (r *callRuntime) beginEpoch(e *partition.Epoch) {
	r.epoch = e
	r.counts = r.counts[:0]
}

func (r *callRuntime) begin(state *keyState, stream string, event flow.Time, visit bool) {
	r.state, r.stream, r.event, r.visit, r.failure = state, stream, event, visit, nil
}

// end joins what the function returned with what it may have ignored.
func (r *callRuntime) end(err error) error {
	r.state = nil
	if err == nil {
		return r.failure
	}
	return err
}

func (r *callRuntime) fail(err error) error {
	if r.failure == nil {
		r.failure = err
	}
	return err
}

var errNotInHand = errors.New("a function reaches the key of the input in hand only: send a message to change another one")

func (r *callRuntime) inHand(key flow.Key) error {
	if r.state == nil || key.Encoded() != r.state.key {
		return r.fail(errNotInHand)
	}
	return nil
}

func (r *callRuntime) Cell(name string, key flow.Key) (*flow.Cell, error) {
	if err := r.inHand(key); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(name, "/") {
		return nil, r.fail(fmt.Errorf("state %q: names of states start with \"/\"", name))
	}
	return r.state.cell(name), nil
}

func (r *callRuntime) ClearKey(of flow.Keyed) error {
	if err := r.inHand(flow.KeyOf(of)); err != nil {
		return err
	}
	r.state.clear()
	return nil
}

func (r *callRuntime) Watermark(stream string) (flow.Time, bool) {
	i := slices.IndexFunc(r.node.inputs, func(in inputPlan) bool { return in.stream == stream })
	if i < 0 || r.epoch.Watermarks[i] == store.NoTime {
		return 0, false
	}
	return flow.Time(r.epoch.Watermarks[i]), true
}

func (r *callRuntime) Count(name string, n int64) {
	i, ok := slices.BinarySearchFunc(r.counts, name, func(c store.Count, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		r.counts = slices.Insert(r.counts, i, store.Count{Name: name})
	}
	r.counts[i].Value += n
}

func (r *callRuntime) MessageBuilder(stream string) (*flow.MessageBuilder, error) {
	i, err := r.output(stream)
	if err != nil {
		return nil, err
	}
	return flow.NewMessageBuilder(stream, r.router.streams[i].schema), nil
}

func (r *callRuntime) output(stream string) (int, error) {
	i := slices.IndexFunc(r.router.streams, func(s outStream) bool { return s.id == stream })
	if i < 0 {
		return 0, r.fail(fmt.Errorf("computation %s has no output stream %q: it is to be listed in output_stream_ids", r.node.id, stream))
	}
	return i, nil
}

// AddMessage emits a message. An output that does not list the input's stream as a
// parent is refused: its completion and watermark would not wait for what is
// emitted (KV-41).
func (r *callRuntime) AddMessage(m flow.OutputMessage) error {
	i, err := r.output(m.StreamID)
	if err != nil {
		return err
	}
	if parents := r.node.outputs[i].Parents; !slices.Contains(parents, r.stream) {
		return r.fail(fmt.Errorf("output stream %s does not depend on %s, which this was emitted from: add \"%s\" = [%s] to streams_dependency of %s",
			m.StreamID, r.stream, m.StreamID, strings.Join(append(slices.Clone(parents), r.stream), "; "), r.node.id))
	}
	if err := r.router.streams[i].schema.Check(m.Payload.Row()); err != nil {
		return r.fail(fmt.Errorf("stream %s: %w", m.StreamID, err))
	}
	event := m.EventTimestamp
	if event == flow.NoTimestamp {
		event = r.event
	}
	if err := r.router.emit(i, m.Payload.Row(), int64(event)); err != nil {
		return r.fail(err)
	}
	return nil
}
