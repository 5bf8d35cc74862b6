package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// firstWait is how long the end of a queue is left alone at first; each time that
// nothing has come it doubles, up to the parameter.
const firstWait = time.Millisecond

// reader reads one partition.
type reader struct {
	queues     store.Queues
	name       string
	parameters *SourceParameters
	partition  int
	decoder    rowtext.Decoder
	width      int // columns of a row

	at     offset
	end    uint64 // where a finite source ends
	gap    string // to be told before anything else is read
	values []schema.Value
}

// Read returns the next rows. Rows before a malformed one are returned first, so
// that a job gets as far as the queue is good.
func (r *reader) Read(ctx context.Context, max connector.Limit) (connector.Batch, error) {
	for wait := firstWait; ; wait = min(2*wait, r.parameters.PollInterval) {
		if err := ctx.Err(); err != nil {
			return connector.Batch{}, err
		}
		if !r.ended() && r.gap == "" {
			rows, err := r.next(ctx, max)
			if err != nil {
				return connector.Batch{}, err
			}
			if len(rows) > 0 {
				return r.batch(rows)
			}
		}
		switch {
		case r.gap != "":
			b := connector.Batch{Gap: r.gap, Offset: r.at.encode()}
			r.gap = ""
			return b, nil
		case r.ended():
			return connector.Batch{Offset: r.at.encode(), End: true}, nil
		}
		if err := pause(ctx, wait); err != nil {
			return connector.Batch{}, err
		}
	}
}

func (r *reader) ended() bool { return r.parameters.Finite && r.at.next >= r.end }

// next returns the rows that there are and that follow each other. Where some
// are missing it goes behind them and leaves it to be told.
func (r *reader) next(ctx context.Context, max connector.Limit) ([]store.QueueRow, error) {
	rows, err := r.queues.ReadQueue(ctx, store.QueueRequest{
		Queue: r.name, ID: r.at.id, Partition: r.partition, From: r.at.next,
		MaxRows: atLeastOne(max.Rows), MaxBytes: atLeastOne(max.Bytes),
	})
	if err != nil {
		return nil, fmt.Errorf("read queue %s, partition %d: %w", r.name, r.partition, err)
	}
	first := r.at.next
	if len(rows) > 0 {
		first = rows[0].Offset
	}
	if r.parameters.Finite && (len(rows) == 0 || first > r.end) {
		first = r.end // no row before the end is there any more
	}
	if first > r.at.next {
		r.gap = fmt.Sprintf("rows %d to %d of queue %s, partition %d, were trimmed before they were read: reading goes on at row %d",
			r.at.next, first-1, r.name, r.partition, first)
		r.at.next = first
		return nil, nil
	}
	if r.parameters.Finite {
		rows = rows[:min(uint64(len(rows)), r.end-r.at.next)]
	}
	return rows, nil
}

// atLeastOne keeps a limit from being none.
func atLeastOne(limit int) int { return max(1, limit) }

// batch decodes rows, up to a malformed one.
func (r *reader) batch(rows []store.QueueRow) (connector.Batch, error) {
	b := connector.Batch{Rows: make([]schema.Row, 0, len(rows)), EventTimestamps: make([]flow.Time, 0, len(rows))}
	numbers := make([]uint64, 0, len(rows)) // of the rows of the batch
	b.PassOver = r.parameters.OnMalformed == "skip"
	b.Explain = func(i int, why error) error { return r.explain(numbers[i], why) }
	text := join(rows)
	for i := range rows {
		size := len(rows[i].Value)
		row := r.newRow()
		err := r.decode(text[:size], row)
		switch {
		case err == nil:
			b.Rows = append(b.Rows, row)
			numbers = append(numbers, rows[i].Offset)
			b.EventTimestamps = append(b.EventTimestamps, flow.Time(rows[i].Time))
			r.values = r.values[r.width:]
		case b.PassOver:
			clear(row)
			r.skip(&b, r.explain(rows[i].Offset, err))
		case len(b.Rows) > 0:
			clear(row)
			return r.finish(b), nil
		default:
			return b, r.explain(rows[i].Offset, err)
		}
		b.Bytes += size
		text = text[size:]
		r.at.next++
	}
	return r.finish(b), nil
}

func (r *reader) finish(b connector.Batch) connector.Batch {
	b.Offset, b.End = r.at.encode(), r.ended()
	return b
}

func (r *reader) skip(b *connector.Batch, why error) {
	if b.Skipped == 0 {
		b.SkippedFirst = why
	}
	b.Skipped++
}

// join copies the values together, so that the strings of rows are parts of one
// text.
func join(rows []store.QueueRow) string {
	size := 0
	for i := range rows {
		size += len(rows[i].Value)
	}
	var text strings.Builder
	text.Grow(size)
	for i := range rows {
		text.Write(rows[i].Value)
	}
	return text.String()
}

func (r *reader) decode(value string, row schema.Row) error {
	if limit := int(r.parameters.MaxRowBytes); len(value) > limit {
		return fmt.Errorf("the row has %d bytes, more than max_row_bytes = %d", len(value), limit)
	}
	is, err := r.decoder.Decode(value, row)
	if err == nil && !is {
		err = errors.New("the row is empty, want a JSON object")
	}
	return err
}

// explain says where a row is that cannot be read or used, and what to do if it
// is not passed over, since nobody can mend a row where it lies.
func (r *reader) explain(row uint64, why error) error {
	err := fmt.Errorf("queue %s, partition %d, row %d: %w", r.name, r.partition, row, why)
	if r.parameters.OnMalformed != "skip" {
		err = fmt.Errorf("%w; pass over such rows with on_malformed = skip, or trim the partition up to row %d", err, row+1)
	}
	return connector.Malformed(err)
}

// newRow returns a row of nulls. Rows are cut from a larger piece: there are
// many, and they live and die together.
func (r *reader) newRow() schema.Row {
	const rows = 256
	if len(r.values) < r.width {
		r.values = make([]schema.Value, rows*r.width)
	}
	return r.values[:r.width:r.width]
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Close does nothing: a reader holds nothing.
func (r *reader) Close() error { return nil }
