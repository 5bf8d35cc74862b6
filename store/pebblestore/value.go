package pebblestore

import (
	"encoding/binary"

	"github.com/rondo-flow/rondo/store"
)

// Values are sequences of fields: unsigned and signed varints, and texts after
// their length. What a value holds is fixed by the format version.

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// fields reads a value. After the first problem everything reads as zero, and
// end says what was wrong.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) uint() uint64 { return field(f, binary.Uvarint) }

func (f *fields) int() int64 { return field(f, binary.Varint) }

func field[T any](f *fields, decode func([]byte) (T, int)) T {
	v, n := decode(f.rest)
	if n <= 0 {
		var zero T
		f.rest, f.bad = nil, true
		return zero
	}
	f.rest = f.rest[n:]
	return v
}

func (f *fields) text() string {
	n := f.uint()
	if n > uint64(len(f.rest)) {
		f.rest, f.bad = nil, true
		return ""
	}
	s := string(f.rest[:n])
	f.rest = f.rest[n:]
	return s
}

// count reads the number of elements that follow, each of one byte at least.
func (f *fields) count() int {
	n := f.uint()
	if n > uint64(len(f.rest)) {
		f.rest, f.bad = nil, true
		return 0
	}
	return int(n)
}

// end reports a value that is too short or too long for what it says it is.
func (f *fields) end(what string) error {
	if f.bad || len(f.rest) > 0 {
		return corrupt("the stored %s cannot be decoded", what)
	}
	return nil
}

func appendPartition(dst []byte, p *store.Partition) []byte {
	dst = binary.AppendUvarint(dst, uint64(p.Kind))
	dst = binary.AppendUvarint(dst, uint64(p.State))
	dst = binary.AppendUvarint(dst, uint64(p.Generation))
	dst = binary.AppendUvarint(dst, p.Layout)
	dst = binary.AppendUvarint(dst, p.Lower)
	dst = binary.AppendUvarint(dst, p.Upper)
	dst = binary.AppendUvarint(dst, flag(p.Open))
	dst = appendText(dst, p.Computation)
	dst = appendText(dst, p.Name)
	dst = binary.AppendUvarint(dst, uint64(len(p.Routing)))
	for _, r := range p.Routing {
		dst = binary.AppendUvarint(appendText(dst, r.Computation), r.Layout)
	}
	return dst
}

func decodePartition(id store.PartitionID, value []byte) (store.Partition, error) {
	f := fields{rest: value}
	p := store.Partition{
		ID: id, Kind: store.Kind(f.uint()), State: store.PartitionState(f.uint()),
		Generation: store.Generation(f.uint()), Layout: f.uint(),
		Lower: f.uint(), Upper: f.uint(), Open: f.uint() != 0,
		Computation: f.text(), Name: f.text(),
	}
	for n := f.count(); n > 0; n-- {
		p.Routing = append(p.Routing, store.Route{Computation: f.text(), Layout: f.uint()})
	}
	return p, f.end("partition")
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func appendReport(dst []byte, r *store.Report) []byte {
	dst = binary.AppendUvarint(dst, uint64(r.Generation))
	dst = binary.AppendUvarint(dst, r.Layout)
	dst = appendText(dst, r.Computation)
	dst = binary.AppendUvarint(dst, uint64(len(r.Streams)))
	for _, s := range r.Streams {
		dst = binary.AppendVarint(appendText(dst, s.Stream), s.Watermark)
		dst = binary.AppendVarint(dst, s.MaxEvent)
		dst = binary.AppendUvarint(dst, uint64(s.State))
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.LastRows)))
	for _, l := range r.LastRows {
		dst = binary.AppendUvarint(dst, uint64(l.Target))
		dst = binary.AppendUvarint(dst, l.Number)
	}
	return dst
}

func decodeReport(id store.PartitionID, value []byte) (store.Report, error) {
	f := fields{rest: value}
	r := store.Report{
		Partition: id, Generation: store.Generation(f.uint()), Layout: f.uint(), Computation: f.text(),
	}
	for n := f.count(); n > 0; n-- {
		r.Streams = append(r.Streams, store.StreamReport{
			Stream: f.text(), Watermark: f.int(), MaxEvent: f.int(), State: store.StreamState(f.uint()),
		})
	}
	for n := f.count(); n > 0; n-- {
		r.LastRows = append(r.LastRows, store.LastRow{Target: store.PartitionID(f.uint()), Number: f.uint()})
	}
	return r, f.end("report")
}

func appendTotals(dst []byte, t *store.Totals) []byte {
	for _, n := range []uint64{t.Epochs, t.Messages, t.Visits, t.Passes, uint64(len(t.Counts))} {
		dst = binary.AppendUvarint(dst, n)
	}
	for _, c := range t.Counts {
		dst = binary.AppendVarint(appendText(dst, c.Name), c.Value)
	}
	if t.Timers > 0 {
		dst = binary.AppendUvarint(dst, t.Timers) // the last field, absent where no timer ever fired
	}
	return dst
}

func decodeTotals(value []byte) (store.Totals, error) {
	f := fields{rest: value}
	t := store.Totals{Epochs: f.uint(), Messages: f.uint(), Visits: f.uint(), Passes: f.uint()}
	for n := f.count(); n > 0; n-- {
		t.Counts = append(t.Counts, store.Count{Name: f.text(), Value: f.int()})
	}
	if len(f.rest) > 0 {
		t.Timers = f.uint()
	}
	return t, f.end("totals")
}

func appendPipeline(dst []byte, p *store.Pipeline) []byte {
	dst = binary.AppendUvarint(dst, p.Version)
	for _, s := range []string{p.Name, p.Static, p.Dynamic, p.Loaded} {
		dst = appendText(dst, s)
	}
	if len(p.Runs) == 0 && p.Aimed == 0 {
		return dst // as format 1 has it
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.Runs)))
	for _, r := range p.Runs {
		dst = appendText(appendText(dst, r.Computation), r.Stream)
		dst = binary.AppendVarint(binary.AppendUvarint(dst, r.ID), r.Period)
	}
	if p.Aimed != 0 {
		dst = binary.AppendUvarint(append(dst, byte(p.Target)), p.Aimed)
	}
	return dst
}

func decodePipeline(value []byte) (*store.Pipeline, error) {
	f := fields{rest: value}
	p := &store.Pipeline{Version: f.uint(), Name: f.text(), Static: f.text(), Dynamic: f.text(), Loaded: f.text()}
	if !f.bad && len(f.rest) > 0 {
		for n := f.count(); n > 0; n-- {
			p.Runs = append(p.Runs, store.Run{Computation: f.text(), Stream: f.text(), ID: f.uint(), Period: f.int()})
		}
	}
	if !f.bad && len(f.rest) > 0 {
		p.Target, p.Aimed = store.Target(f.uint()), f.uint()
	}
	return p, f.end("pipeline")
}

// An inbox row's value is its header and then the payload, so that the header
// can be read without knowing where the payload ends.
const inboxHeaderMax = 3 * binary.MaxVarintLen64

func appendInboxHeader(dst []byte, r *store.InboxRow) []byte {
	dst = binary.AppendUvarint(dst, r.Previous)
	dst = binary.AppendUvarint(dst, uint64(r.Count))
	return binary.AppendVarint(dst, r.MinEvent)
}

// decodeInboxRow fills r from a stored value. The payload is not copied.
func decodeInboxRow(r *store.InboxRow, value []byte) error {
	f := fields{rest: value}
	r.Previous, r.Count, r.MinEvent = f.uint(), int(f.uint()), f.int()
	r.Payload = f.rest
	if f.bad {
		return corrupt("the stored inbox row %+v cannot be decoded", r.InboxKey)
	}
	return nil
}

func decodeNumber(what string, value []byte) (uint64, error) {
	f := fields{rest: value}
	n := f.uint()
	return n, f.end(what)
}
