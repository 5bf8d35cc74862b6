package engine

import (
	"encoding/binary"
	"fmt"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// An inbox row's payload is what one epoch sends to one target:
//
//	byte    version
//	uvarint epoch
//	varint  system timestamp of the epoch
//	uvarint number of streams, then each: uvarint index, string id
//	then the messages, as many as the row's count:
//	  uvarint place of its stream in the list above
//	  uvarint index of the message in its stream and epoch
//	  varint  event timestamp, less the system timestamp
//	  string  key (empty for targets without group_by_schema)
//	  row     schema.AppendRow
//
// Strings are a uvarint length and the bytes.
const wireVersion = 1

// outbox collects the messages of one epoch for one target.
type outbox struct {
	target   store.PartitionID
	streams  []wireStream
	messages []byte
	count    int
	minEvent int64
}

// wireStream is a stream as a payload names it; index is its number among its
// computation's outputs, for message ids.
type wireStream struct {
	index uint16
	id    string
}

// wireMessage is one message on its way out.
type wireMessage struct {
	stream wireStream
	index  uint32
	event  int64
	system int64
	key    []byte
	row    schema.Row
}

func (o *outbox) reset() {
	o.streams, o.messages, o.count = o.streams[:0], o.messages[:0], 0
}

func (o *outbox) add(m *wireMessage) {
	if o.count == 0 || m.event < o.minEvent {
		o.minEvent = m.event
	}
	o.count++
	b := binary.AppendUvarint(o.messages, uint64(o.place(m.stream)))
	b = binary.AppendUvarint(b, uint64(m.index))
	b = binary.AppendVarint(b, m.event-m.system)
	b = binary.AppendUvarint(b, uint64(len(m.key)))
	b = append(b, m.key...)
	o.messages = schema.AppendRow(b, m.row)
}

func (o *outbox) place(s wireStream) int {
	for i := range o.streams {
		if o.streams[i] == s {
			return i
		}
	}
	o.streams = append(o.streams, s)
	return len(o.streams) - 1
}

// payload returns the finished bytes, which share nothing with the outbox.
func (o *outbox) payload(epoch uint64, system int64) []byte {
	size := len(o.messages) + 2*binary.MaxVarintLen64 + 8
	for _, s := range o.streams {
		size += len(s.id) + 8
	}
	b := append(make([]byte, 0, size), wireVersion)
	b = binary.AppendUvarint(b, epoch)
	b = binary.AppendVarint(b, system)
	b = binary.AppendUvarint(b, uint64(len(o.streams)))
	for _, s := range o.streams {
		b = binary.AppendUvarint(b, uint64(s.index))
		b = binary.AppendUvarint(b, uint64(len(s.id)))
		b = append(b, s.id...)
	}
	return append(b, o.messages...)
}

// decoder reads the payload of one row. Schemas are those of the consumer's
// input streams.
type decoder struct {
	schemas map[string]*schema.Schema
	key     *flow.KeySchema
}

// decode appends the messages [from, to) of a row to dst.
func (d *decoder) decode(dst []flow.Message, row *store.InboxRow, from, to int) ([]flow.Message, error) {
	r := wireReader{b: row.Payload}
	if v := r.byte(); v != wireVersion && !r.bad {
		return dst, fmt.Errorf("%w: inbox row %+v has payload version %d", store.ErrCorrupt, row.InboxKey, v)
	}
	meta := flow.Meta{ID: flow.MessageID{Generation: uint64(row.Generation), Epoch: r.uvarint()}}
	system := r.varint()
	meta.SystemTimestamp = flow.Time(system)
	streams, err := d.streams(&r)
	for i := 0; err == nil && i < to && !r.bad; i++ {
		var m flow.Message
		if m, err = d.message(&r, meta, streams); err == nil && i >= from {
			dst = append(dst, m)
		}
	}
	if r.bad {
		err = fmt.Errorf("%w: payload of inbox row %+v is cut short", store.ErrCorrupt, row.InboxKey)
	}
	return dst, err
}

type decodedStream struct {
	wireStream
	schema *schema.Schema
}

func (d *decoder) streams(r *wireReader) ([]decodedStream, error) {
	n := r.uvarint()
	var out []decodedStream
	for i := uint64(0); i < n && !r.bad; i++ {
		s := decodedStream{wireStream: wireStream{index: uint16(r.uvarint()), id: string(r.bytes())}}
		var known bool
		if s.schema, known = d.schemas[s.id]; !known && !r.bad {
			return nil, fmt.Errorf("%w: an inbox row holds messages of stream %q, which is no input here", store.ErrCorrupt, s.id)
		}
		out = append(out, s)
	}
	return out, nil
}

func (d *decoder) message(r *wireReader, meta flow.Meta, streams []decodedStream) (flow.Message, error) {
	place := r.uvarint()
	meta.ID.Index = uint32(r.uvarint())
	meta.EventTimestamp = meta.SystemTimestamp + flow.Time(r.varint())
	key := string(r.bytes())
	if r.bad || place >= uint64(len(streams)) {
		r.bad = true
		return flow.Message{}, nil
	}
	s := &streams[place]
	meta.ID.Stream, meta.StreamID = s.index, s.id
	row, rest, err := schema.DecodeRow(r.b, nil)
	if err == nil && len(row) != s.schema.Len() {
		err = fmt.Errorf("row of stream %s has %d columns, its schema has %d", s.id, len(row), s.schema.Len())
	}
	if err != nil {
		return flow.Message{}, fmt.Errorf("%w: message %s: %w", store.ErrCorrupt, meta.ID, err)
	}
	r.b = rest
	return flow.Message{Meta: meta, Key: flow.NewKey(d.key, key), Payload: flow.NewPayload(s.schema, row)}, nil
}

// wireReader reads from the front of b; after a failure it is bad and returns
// zeros.
type wireReader struct {
	b   []byte
	bad bool
}

func (r *wireReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *wireReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	r.skip(n)
	return v
}

func (r *wireReader) varint() int64 {
	v, n := binary.Varint(r.b)
	r.skip(n)
	return v
}

func (r *wireReader) bytes() []byte {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *wireReader) skip(n int) {
	if n <= 0 {
		r.bad, n = true, 0
	}
	r.b = r.b[n:]
}
