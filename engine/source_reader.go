package engine

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// sourceReader reads one source partition ahead of its job, one batch at a
// time, in a goroutine of its own; reads may wait long. Batches, and the offset
// that follows from what epochs took, belong to the job.
//
// A stored offset is the connector's offset before the batch in hand, with the
// number of its rows that are consumed, so that an epoch may be cut inside a
// batch (D-20).
type sourceReader struct {
	reader   connector.Reader
	told     connector.Positioned // nil unless the source tells its position
	key      string
	requests chan connector.Limit
	answers  chan sourceAnswer
	cancel   context.CancelFunc
	done     chan struct{}

	batches []sourceBatch
	base    []byte // the connector's offset before batches[0]
	taken   int    // rows consumed since base
	skip    int    // rows still to be dropped after a start inside a batch
	// unstored: the offset has moved since take told it; skipped counts the
	// malformed rows passed over since then.
	unstored bool
	drained  bool // nothing is taken in any more
	skipped  int
}

type sourceAnswer struct {
	batch connector.Batch
	err   error
}

type sourceBatch struct {
	rows    []schema.Row
	events  []flow.Time
	after   []byte // the connector's offset after it
	left    int    // where rows begins in the batch as read
	skipped int    // malformed rows passed over
	// explain and passOver are the batch's own, for rows that cannot be used.
	explain  func(i int, why error) error
	passOver bool
}

func openSource(ctx context.Context, n *node, part store.Partition, offset []byte) (*sourceReader, error) {
	skip, base, err := splitOffset(offset)
	if err != nil {
		return nil, err
	}
	reader, err := n.source.Open(ctx, n.sourceKey(part), base)
	if err != nil {
		return nil, fmt.Errorf("source %s: %w", part.Name, err)
	}
	s := &sourceReader{
		reader: reader, requests: make(chan connector.Limit, 1), answers: make(chan sourceAnswer, 1),
		done: make(chan struct{}), key: n.sourceKey(part), base: base, taken: skip, skip: skip,
	}
	s.told, _ = n.source.(connector.Positioned)
	ctx, s.cancel = context.WithCancel(ctx)
	go s.run(ctx)
	return s, nil
}

func splitOffset(offset []byte) (skip int, base []byte, err error) {
	if offset == nil {
		return 0, nil, nil
	}
	n, size := binary.Uvarint(offset)
	if size <= 0 {
		return 0, nil, fmt.Errorf("%w: source offset %x", store.ErrCorrupt, offset)
	}
	if base = offset[size:]; len(base) == 0 {
		base = nil
	}
	return int(n), base, nil
}

func (s *sourceReader) run(ctx context.Context) {
	defer close(s.done)
	for {
		select {
		case <-ctx.Done():
			return
		case limit := <-s.requests:
			batch, err := s.reader.Read(ctx, limit)
			s.answers <- sourceAnswer{batch, err} // capacity 1, one request at a time
		}
	}
}

// request begins a read; its answer comes through answers.
func (s *sourceReader) request(r *partition.ReadSource) {
	s.requests <- connector.Limit{Rows: r.Rows, Bytes: r.Bytes}
}

// accept takes a batch in and tells the machine how much of it is new.
func (s *sourceReader) accept(b connector.Batch) partition.SourceRead {
	if s.drained {
		return partition.SourceRead{}
	}
	if b.Gap != "" {
		s.skip = s.beyond(b.Offset)
	}
	drop := min(s.skip, len(b.Rows))
	s.skip -= drop
	in := sourceBatch{
		rows: b.Rows[drop:], after: b.Offset, left: drop, skipped: b.Skipped,
		explain: b.Explain, passOver: b.PassOver,
	}
	if b.EventTimestamps != nil {
		in.events = b.EventTimestamps[drop:]
	}
	switch last := len(s.batches) - 1; {
	case len(in.rows) > 0:
		s.batches = append(s.batches, in)
	case b.Offset == nil:
	case last >= 0:
		s.batches[last].after = b.Offset
		s.batches[last].skipped += b.Skipped
	default:
		s.pass(in, s.skip)
	}
	return partition.SourceRead{Rows: len(in.rows), Bytes: b.Bytes, Watermark: int64(b.Watermark), End: b.End}
}

// latest is the latest event time of the batch read last, as its messages will have it:
// from a column, from the source, or the clock. Rows whose column is no time do not
// count, nor do batches of a source that waits for no other stream.
func (s *sourceReader) latest(n *node, now visit.Instant) int64 {
	if len(n.delays) == 0 || len(s.batches) == 0 {
		return store.NoTime
	}
	b := &s.batches[len(s.batches)-1]
	latest := store.NoTime
	for i, row := range b.rows {
		at := flow.Time(now.Wall)
		if b.events != nil {
			at = b.events[i]
		}
		assigned := false
		for _, assign := range n.assigners {
			if assign == nil || n.factory != nil {
				continue
			}
			if t, err := assign(row, flow.Time(now.Wall)); err == nil {
				latest = max(latest, int64(t))
			}
			assigned = true
		}
		if !assigned {
			latest = max(latest, int64(at))
		}
	}
	return latest
}

// beyond returns how many rows behind an offset are consumed already, when rows
// before it turned out to be gone. A source that tells positions knows; for
// others, rows counted from the former offset mean nothing any more.
func (s *sourceReader) beyond(offset []byte) int {
	if s.told == nil || s.skip == 0 {
		return 0
	}
	was, err := s.told.Position(s.key, s.base, s.taken)
	is, err2 := s.told.Position(s.key, offset, 0)
	if err != nil || err2 != nil || was.Offset <= is.Offset {
		return 0
	}
	return int(was.Offset - is.Offset)
}

// pass notes that a batch is consumed, up to rows of the next one.
func (s *sourceReader) pass(b sourceBatch, rows int) {
	s.base, s.taken, s.unstored = b.after, rows, true
	s.skipped += b.skipped
}

// hand returns the rows that an epoch may take, all from the first batch.
func (s *sourceReader) hand(n int) ([]schema.Row, []flow.Time) {
	if n == 0 {
		return nil, nil
	}
	b := s.batches[0]
	if b.events == nil {
		return b.rows[:n], nil
	}
	return b.rows[:n], b.events[:n]
}

// refuse takes note of row i of the batch in hand, which cannot be used for a
// reason. It is passed over, to be counted when it is taken, or is an error.
func (s *sourceReader) refuse(i int, why error) (passedOver bool, refusal error) {
	why = s.locate(i, why)
	passOver := s.batches[0].passOver
	if passOver {
		s.skipped++
	}
	return passOver, connector.Malformed(why)
}

// locate adds the place of row i of the batch in hand to an error.
func (s *sourceReader) locate(i int, why error) error {
	b := &s.batches[0]
	if b.explain != nil {
		return b.explain(b.left+i, why)
	}
	return fmt.Errorf("row %s: %w", b.rows[i], why)
}

// take consumes n rows and returns the offset after them and the number of
// malformed rows passed over on the way, to be counted with it; a nil offset when
// nothing has changed.
func (s *sourceReader) take(n int) (offset []byte, skipped int) {
	if n > 0 {
		s.consume(n)
	}
	if !s.unstored {
		return nil, 0
	}
	skipped, s.skipped, s.unstored = s.skipped, 0, false
	return append(binary.AppendUvarint(nil, uint64(s.taken)), s.base...), skipped
}

func (s *sourceReader) consume(n int) {
	b := &s.batches[0]
	b.rows = b.rows[n:]
	if b.events != nil {
		b.events = b.events[n:]
	}
	b.left += n
	s.taken, s.unstored = b.left, true
	if len(b.rows) == 0 {
		s.pass(*b, 0)
		s.batches = s.batches[1:]
	}
}

// position tells how far the source is consumed, for sources that say so.
func (s *sourceReader) position() ([]store.QueuePosition, error) {
	if s.told == nil {
		return nil, nil
	}
	p, err := s.told.Position(s.key, s.base, s.taken)
	return []store.QueuePosition{p}, err
}

// drain drops what was read and not consumed, and everything that is read from
// now on. Hazard: a batch without rows, such as a file's end, moves the offset on;
// one that comes after rows were dropped would move it beyond them.
func (s *sourceReader) drain() { s.batches, s.drained = nil, true }

// close ends the read in progress and waits for it.
func (s *sourceReader) close() error {
	s.cancel()
	<-s.done
	return s.reader.Close()
}
