package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// route is one consumer of an output stream: a range of partitions by key, or
// the one partition of a sink.
type route struct {
	node    string
	grouper *schema.Grouper // nil for a sink
	// targets are ordered by range; from holds the lower bound of each.
	targets []store.PartitionID
	from    []uint64
}

func (r *route) target(hash uint64) store.PartitionID {
	if r.grouper == nil {
		return r.targets[0]
	}
	i := sort.Search(len(r.from), func(i int) bool { return r.from[i] > hash })
	return r.targets[i-1]
}

// outStream is an output stream with its consumers.
type outStream struct {
	id     string
	schema *schema.Schema
	assign assigner // nil: event timestamps stay as given
	routes []route
	sinks  []connector.StoreSink
	// ahead and loop are the partitions that nothing more is sent to while one of them is
	// full, see node.waitsFor.
	ahead, loop []store.PartitionID
}

// router turns what an epoch emits into one batch for each target (D-6). It is
// used by one job.
type router struct {
	streams    []outStream
	boxes      map[store.PartitionID]*outbox
	used       []*outbox
	epoch      uint64
	system     int64
	indexes    []uint32 // next message index, by stream
	maxEvents  []int64
	outBytes   int
	appended   []store.QueueAppend
	keys       [][]byte            // of the message in hand, by route
	targets    []store.PartitionID // of it, by route
	generation store.Generation
	start      func() int64 // begins an epoch and returns its system time
}

func newRouter(streams []outStream, g store.Generation, start func() int64) *router {
	return &router{
		streams: streams, generation: g, start: start,
		boxes:     map[store.PartitionID]*outbox{},
		indexes:   make([]uint32, len(streams)),
		maxEvents: make([]int64, len(streams)),
	}
}

func (r *router) begin(epoch uint64) {
	r.epoch, r.system, r.outBytes = epoch, r.start(), 0
	r.appended = nil
	for _, b := range r.used {
		b.reset()
	}
	r.used = r.used[:0]
	for i := range r.streams {
		r.indexes[i], r.maxEvents[i] = 0, store.NoTime
	}
}

// emit sends a row of the stream to all its consumers, or fails before any of
// them gets it.
func (r *router) emit(stream int, row schema.Row, event int64) error {
	s := &r.streams[stream]
	if s.assign != nil {
		at, err := s.assign(row, flow.Time(r.system))
		if err != nil {
			return fmt.Errorf("stream %s: %w", s.id, err)
		}
		event = int64(at)
	}
	return r.emitAt(stream, row, event)
}

// emitAt does so at an event time that is no column's.
func (r *router) emitAt(stream int, row schema.Row, event int64) error {
	s := &r.streams[stream]
	m := wireMessage{
		stream: wireStream{uint16(stream), s.id}, index: r.indexes[stream],
		event: event, system: r.system, row: row,
	}
	if err := r.aim(s, row); err != nil {
		return err
	}
	if err := r.append(s, &m); err != nil {
		return err
	}
	for i := range s.routes {
		r.send(&m, i)
	}
	r.indexes[stream]++
	r.maxEvents[stream] = max(r.maxEvents[stream], event)
	return nil
}

// aim computes where a row goes: its key for each route, whose hash is the
// target's.
func (r *router) aim(s *outStream, row schema.Row) (err error) {
	r.targets = r.targets[:0]
	for i := range s.routes {
		if len(r.keys) <= i {
			r.keys = append(r.keys, nil)
		}
		to := &s.routes[i]
		var hash uint64
		r.keys[i] = r.keys[i][:0]
		if to.grouper != nil {
			if r.keys[i], hash, err = to.grouper.AppendKey(r.keys[i], row); err != nil {
				return fmt.Errorf("stream %s to %s: %w", s.id, to.node, err)
			}
		}
		r.targets = append(r.targets, to.target(hash))
	}
	return nil
}

// append gives the message to the stream's sinks in the store, or to none.
func (r *router) append(s *outStream, m *wireMessage) (err error) {
	before := len(r.appended)
	for _, sink := range s.sinks {
		r.appended, err = sink.Append(r.appended, flow.Message{
			Meta: flow.Meta{
				ID:       flow.MessageID{Generation: uint64(r.generation), Epoch: r.epoch, Stream: m.stream.index, Index: m.index},
				StreamID: s.id, SystemTimestamp: flow.Time(m.system), EventTimestamp: flow.Time(m.event),
			},
			Payload: flow.NewPayload(s.schema, m.row),
		})
		if err != nil {
			r.appended = r.appended[:before]
			return fmt.Errorf("stream %s into a sink: %w", s.id, err)
		}
	}
	for i := before; i < len(r.appended); i++ {
		r.outBytes += len(r.appended[i].Value)
	}
	return nil
}

func (r *router) send(m *wireMessage, i int) {
	m.key = r.keys[i]
	box := r.box(r.targets[i])
	before := len(box.messages)
	box.add(m)
	r.outBytes += len(box.messages) - before
}

func (r *router) box(id store.PartitionID) *outbox {
	b := r.boxes[id]
	if b == nil {
		b = &outbox{target: id}
		r.boxes[id] = b
	}
	if b.count == 0 {
		r.used = append(r.used, b)
	}
	return b
}

// finish returns the epoch's batches, ordered by target, and their payloads.
func (r *router) finish() (rows []partition.Produced, payloads [][]byte) {
	slices.SortFunc(r.used, func(a, b *outbox) int { return cmp.Compare(a.target, b.target) })
	for _, b := range r.used {
		rows = append(rows, partition.Produced{Target: uint64(b.target), Count: b.count, MinEvent: b.minEvent})
		payloads = append(payloads, b.payload(r.epoch, r.system))
	}
	return rows, payloads
}
