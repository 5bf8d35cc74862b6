package queue

import (
	"context"
	"iter"

	"github.com/rondo-flow/rondo/store"
)

// pageBytes bounds what Rows holds at a time.
const pageBytes = 1 << 20

// Rows yields the rows of one partition from r.From to the end that it has, at
// most r.MaxRows of them. An error comes last.
func Rows(ctx context.Context, s store.Queues, r store.QueueRequest) iter.Seq2[store.QueueRow, error] {
	return func(yield func(store.QueueRow, error) bool) {
		limited, left := r.MaxRows > 0, r.MaxRows
		r.MaxBytes = pageBytes
		for !limited || left > 0 {
			r.MaxRows = left
			rows, err := s.ReadQueue(ctx, r)
			if err != nil {
				yield(store.QueueRow{}, err)
				return
			}
			if len(rows) == 0 {
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			left -= len(rows)
			r.From = rows[len(rows)-1].Offset + 1
		}
	}
}

// Consumed returns how far all consumers of a partition have read it, so that the
// rows before may be trimmed: the smallest of their positions; false if there is
// no consumer. One that has not read yet does not count.
func Consumed(q store.Queue, partition int) (before uint64, ok bool) {
	for _, c := range q.Consumers {
		if c.Partition == partition && (!ok || c.Offset < before) {
			before, ok = c.Offset, true
		}
	}
	return before, ok
}
