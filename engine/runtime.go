package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// callRuntime is the flow.Runtime and flow.OutputCollector of one job. It serves
// one call at a time: begin says what the call is about, end what went wrong.
type callRuntime struct {
	node   *node
	router *router
	table  *keyTable
	tables []boundTable
	// lookups are where rows are looked up, with the context of the epoch.
	lookups []*lookup
	ctx     context.Context
	counts  []store.Count
	timers  []timerOp

	epoch   *partition.Epoch
	call    uint64 // number of the call; keys of its inputs are stamped with it
	parents []parent
	last    *keyState // of the last input, which is most often the one asked for
	failure error
}

// parent is an input of a call, as far as what it emits depends on it.
type parent struct {
	id     flow.MessageID
	key    string
	stream string
	event  flow.Time
}

var (
	_ flow.Runtime         = (*callRuntime)(nil)
	_ flow.OutputCollector = (*callRuntime)(nil)
)

func (r *callRuntime) beginEpoch(ctx context.Context, e *partition.Epoch) {
	r.ctx, r.epoch = ctx, e
	r.counts, r.timers = r.counts[:0], r.timers[:0]
}

// begin starts a call; input adds what it is about.
func (r *callRuntime) begin() {
	r.call++
	r.parents, r.failure, r.last = r.parents[:0], nil, nil
}

func (r *callRuntime) input(state *keyState, m *flow.Meta) {
	state.call = r.call
	r.last = state
	r.parents = append(r.parents, parent{m.ID, state.key, m.StreamID, m.EventTimestamp})
}

// end joins what the function returned with what it may have ignored. After it,
// no key can be reached.
func (r *callRuntime) end(err error) error {
	r.call++
	r.last = nil
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

var errNotInHand = errors.New("a function reaches the keys of its inputs only: send a message to change another one")

// state returns the state of a key of the call.
func (r *callRuntime) state(key flow.Key) (*keyState, error) {
	if r.node.sourceStream != "" {
		return nil, r.fail(fmt.Errorf("computation %s reads a source and has no keys, so it keeps no state: do this in a transform that reads its output", r.node.id))
	}
	k := r.last
	if k == nil || k.key != key.Encoded() {
		k = r.table.byKey[key.Encoded()]
	}
	if k == nil || k.call != r.call {
		return nil, r.fail(fmt.Errorf("key %s: %w", key, errNotInHand))
	}
	return k, nil
}

func (r *callRuntime) Cell(name string, key flow.Key) (*flow.Cell, error) {
	k, err := r.state(key)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(name, "/") {
		return nil, r.fail(fmt.Errorf("state %q: names of states start with \"/\"", name))
	}
	return k.cell(name), nil
}

func (r *callRuntime) ClearKey(of flow.Keyed) error {
	k, err := r.state(flow.KeyOf(of))
	if err != nil {
		return err
	}
	k.clear()
	if len(r.node.timers) > 0 {
		k.cleared = true
		r.timers = append(r.timers, timerOp{kind: timersCleared, id: store.TimerID{Key: k.key}})
	}
	return nil
}

func (r *callRuntime) MinWatermark() (flow.Time, bool) {
	least := int64(math.MaxInt64)
	for _, w := range r.epoch.Watermarks {
		least = min(least, w)
	}
	return flow.Time(least), len(r.epoch.Watermarks) > 0 && least != store.NoTime
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
	r.counts[i].Value = flow.AddCounts(r.counts[i].Value, n)
}

func (r *callRuntime) MessageBuilder(stream string) *flow.MessageBuilder {
	i, err := r.output(stream)
	if err != nil {
		return flow.FailedMessageBuilder(err)
	}
	return flow.NewMessageBuilder(stream, r.router.streams[i].schema)
}

func (r *callRuntime) output(stream string) (int, error) {
	i := slices.IndexFunc(r.router.streams, func(s outStream) bool { return s.id == stream })
	if i < 0 {
		return 0, r.fail(fmt.Errorf("computation %s has no output stream %q: it is to be listed in output_stream_ids", r.node.id, stream))
	}
	return i, nil
}

// AddMessage emits a message that depends on all inputs of the call.
func (r *callRuntime) AddMessage(m flow.OutputMessage) error { return r.add(m, r.parents) }

func (r *callRuntime) WithParents(ids ...flow.MessageID) flow.OutputCollector {
	c := narrowed{call: r}
	for _, id := range ids {
		i := slices.IndexFunc(r.parents, func(p parent) bool { return p.id == id })
		if i < 0 {
			r.fail(fmt.Errorf("%s is no input of this call, so nothing can derive from it", id))
			continue
		}
		c.parents = append(c.parents, r.parents[i])
	}
	return c
}

// narrowed collects for some of a call's inputs.
type narrowed struct {
	call    *callRuntime
	parents []parent
}

func (n narrowed) AddMessage(m flow.OutputMessage) error { return n.call.add(m, n.parents) }

func (n narrowed) WithParents(ids ...flow.MessageID) flow.OutputCollector {
	return n.call.WithParents(ids...)
}

// add emits a message. Of its parents, those count that the output depends on;
// an output that depends on none is refused, since its completion and watermark
// would not wait for what is emitted (KV-41).
func (r *callRuntime) add(m flow.OutputMessage, parents []parent) error {
	i, err := r.output(m.StreamID)
	if err != nil {
		return err
	}
	if err := r.mayEmit(parents); err != nil {
		return r.fail(err)
	}
	event, ok := earliest(parents, r.node.outputs[i].Parents)
	if !ok {
		return r.fail(r.undeclared("output stream", "emitted", m.StreamID, parents, r.node.outputs[i].Parents))
	}
	if err := r.router.streams[i].schema.Check(m.Payload.Row()); err != nil {
		return r.fail(fmt.Errorf("stream %s: %w", m.StreamID, err))
	}
	if m.EventTimestamp != flow.NoTimestamp {
		event = m.EventTimestamp
	}
	if err := r.router.emit(i, m.Payload.Row(), int64(event)); err != nil {
		return r.fail(err)
	}
	return nil
}

// errParents is a fault of the function, whatever its inputs.
var errParents = errors.New("too many or too few parents")

// mayEmit keeps the restrictions of swift_map (KV-42).
func (r *callRuntime) mayEmit(parents []parent) error {
	if r.node.emits == fromAll {
		return nil
	}
	for i := range parents {
		if from := parents[i].stream; !slices.ContainsFunc(r.node.inputs, func(in inputPlan) bool { return in.stream == from }) {
			return fmt.Errorf("computation %s is a swift_map, whose visits and timers may only change state, but this was emitted from %s: make it a transform", r.node.id, from)
		}
	}
	if r.node.emits == fromOneMessage && len(parents) != 1 {
		return fmt.Errorf("%w: computation %s is a swift_map, where a message is emitted from one message, but this has %d parents: "+
			"name its parent (WithParents), or set allow_batching_with_relaxed_guarantees=%%true", errParents, r.node.id, len(parents))
	}
	return nil
}

// earliest is the smallest event timestamp of the parents whose streams are
// declared.
func earliest(parents []parent, declared []string) (least flow.Time, ok bool) {
	for i := range parents {
		p := &parents[i]
		if slices.Contains(declared, p.stream) && (!ok || p.event < least) {
			least, ok = p.event, true
		}
	}
	return least, ok
}

// undeclared says which line is missing: kind and done are about the stream to.
func (r *callRuntime) undeclared(kind, done, to string, parents []parent, declared []string) error {
	if len(parents) == 0 {
		return fmt.Errorf("what is %s for %s has no parents", done, to)
	}
	from, also := parents[0].stream, ""
	if from == to {
		also = " and set its allow_timer_self_dependency = %true"
	}
	return fmt.Errorf("%s %s does not depend on %s, which this was %s from: add \"%s\" = [%s] to streams_dependency of %s%s",
		kind, to, from, done, to, strings.Join(append(slices.Clone(declared), from), "; "), r.node.id, also)
}
