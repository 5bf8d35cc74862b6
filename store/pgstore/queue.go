package pgstore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

const (
	// queueRows is how many rows of a queue one statement reads at most.
	queueRows = 4096
	// trimRows is how many rows one transaction removes.
	trimRows = 10_000
)

// fillQueues queues the statement that takes the locks of queues.
func (s *Store) fillQueues(ctx context.Context, e *epoch, rows []store.QueueAppend, positions []store.QueuePosition) {
	if len(rows) == 0 && len(positions) == 0 {
		return
	}
	told := lastOf(positions, comparePositions)
	_ = s.sql.AppendRows(ctx, e, &pgsql.AppendRowsParams{
		Queues:         texts(rows, func(r *store.QueueAppend) string { return r.Queue }),
		Partitions:     numbers(rows, func(r *store.QueueAppend) int32 { return partitionNumber(r.Partition) }),
		Times:          numbers(rows, func(r *store.QueueAppend) int64 { return r.Time }),
		Vals:           valuesOf(rows, func(r *store.QueueAppend) []byte { return some(r.Value) }),
		ToldQueues:     texts(told, func(p *store.QueuePosition) string { return p.Queue }),
		ToldConsumers:  texts(told, func(p *store.QueuePosition) string { return p.Consumer }),
		ToldPartitions: numbers(told, func(p *store.QueuePosition) int32 { return partitionNumber(p.Partition) }),
		ToldPositions:  numbers(told, func(p *store.QueuePosition) int64 { return int64(p.Offset) }),
	})
}

// partitionNumber is the number of a queue's partition, or of one that no queue
// has.
func partitionNumber(n int) int32 {
	if n < 0 || n > math.MaxInt32 {
		return math.MaxInt32
	}
	return int32(n)
}

// offsetOf is an offset as it is stored, or the largest one.
func offsetOf(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// PushQueue appends rows in a transaction of their own.
func (s *Store) PushQueue(ctx context.Context, rows []store.QueueAppend) error {
	if err := store.ValidateAppends(rows); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if len(rows) == 0 {
		return nil
	}
	e := &epoch{}
	s.fillQueues(ctx, e, rows, nil)
	return s.send(ctx, e)
}

// CreateQueue numbers the queue. The counter is held until the transaction ends,
// so that nobody makes one of the name meanwhile.
func (s *Store) CreateQueue(ctx context.Context, name string, partitions int) error {
	if err := store.ValidateQueue(name, partitions); err != nil {
		return err
	}
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterQueue, N: 0}); err != nil {
			return err
		}
		q, err := s.sql.QueueNamed(ctx, tx, []byte(name))
		switch {
		case err == nil && int(q.Partitions) != partitions:
			return fmt.Errorf("queue %q has %d partitions, not %d: %w", name, q.Partitions, partitions, store.ErrConflict)
		case err == nil || !errors.Is(err, pgx.ErrNoRows):
			return err
		}
		id, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterQueue, N: 1})
		if err != nil {
			return err
		}
		if err := s.sql.InsertQueue(ctx, tx, &pgsql.InsertQueueParams{Name: []byte(name), ID: id}); err != nil {
			return err
		}
		return s.sql.InsertQueuePartitions(ctx, tx, &pgsql.InsertQueuePartitionsParams{Queue: id, LastPartition: int32(partitions - 1)})
	})
}

// DropQueue waits for the transactions that append, and lets none begin.
func (s *Store) DropQueue(ctx context.Context, name string) error {
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		id, err := s.sql.LockQueue(ctx, tx, []byte(name))
		if err != nil {
			return noQueue(name, err)
		}
		return s.sql.DeleteQueue(ctx, tx, id)
	})
}

func noQueue(name string, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("%w: %q", store.ErrNoQueue, name)
	}
	return err
}

// Queues reads the queues and their consumers as of one moment.
func (s *Store) Queues(ctx context.Context) (out []store.Queue, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		rows, err := s.sql.Queues(ctx, db)
		if err != nil {
			return err
		}
		at := map[int64]int{}
		for _, r := range rows {
			if _, known := at[r.ID]; !known {
				at[r.ID] = len(out)
				out = append(out, store.Queue{Name: string(r.Name), ID: uint64(r.ID)})
			}
			q := &out[at[r.ID]]
			q.Partitions = append(q.Partitions, store.QueuePartition{First: uint64(r.First), Next: uint64(r.Next), Bytes: r.Bytes})
		}
		positions, err := s.sql.QueuePositions(ctx, db)
		for _, p := range positions {
			if i, known := at[p.Queue]; known {
				out[i].Consumers = append(out[i].Consumers, store.QueuePosition{
					Queue: out[i].Name, Consumer: string(p.Consumer), Partition: int(p.Partition), Offset: uint64(p.Position),
				})
			}
		}
		return err
	})
	return out, err
}

// ReadQueue reads page by page. Rows that are trimmed between two pages end it.
func (s *Store) ReadQueue(ctx context.Context, r store.QueueRequest) ([]store.QueueRow, error) {
	reader := queueReader{request: r, from: r.From}
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		for {
			params := reader.page()
			rows, err := s.sql.QueueRows(ctx, db, params)
			if err != nil {
				return err
			}
			if done, err := reader.take(rows, params.MaxRows); done || err != nil {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return reader.rows, nil
}

type queueReader struct {
	request store.QueueRequest
	from    uint64
	rows    []store.QueueRow
	bytes   int
}

// page asks for what is left of the limits.
func (q *queueReader) page() *pgsql.QueueRowsParams {
	r := &q.request
	p := &pgsql.QueueRowsParams{
		Name: []byte(r.Queue), Partition: partitionNumber(r.Partition), FromPosition: offsetOf(q.from), MaxRows: queueRows, MaxBytes: math.MaxInt64,
	}
	if r.MaxRows > 0 {
		p.MaxRows = int32(min(r.MaxRows-len(q.rows), queueRows))
	}
	if r.MaxBytes > 0 {
		p.MaxBytes = int64(r.MaxBytes - q.bytes)
	}
	return p
}

// take adds a page, and tells whether the read is done.
func (q *queueReader) take(rows []pgsql.QueueRowsRow, asked int32) (done bool, err error) {
	r := &q.request
	if len(rows) == 0 {
		return true, fmt.Errorf("%w: partition %d of %q", store.ErrNoQueue, r.Partition, r.Queue)
	}
	if id := uint64(rows[0].ID); r.ID != 0 && r.ID != id {
		return true, fmt.Errorf("%w: %q with id %d, it has %d", store.ErrNoQueue, r.Queue, r.ID, id)
	}
	for _, row := range rows {
		if row.Position < 0 || len(q.rows) > 0 && uint64(row.Position) != q.from {
			return true, nil
		}
		if q.bytes += len(row.Value); r.MaxBytes > 0 && q.bytes > r.MaxBytes && len(q.rows) > 0 {
			return true, nil
		}
		q.rows = append(q.rows, store.QueueRow{Offset: uint64(row.Position), Time: row.Time, Value: row.Value})
		q.from = uint64(row.Position) + 1
	}
	return r.MaxRows > 0 && len(q.rows) >= r.MaxRows || len(rows) < int(asked), nil
}

// TrimQueue moves the partition's first offset on, which nobody reads below, and
// then removes the rows, a few in each transaction. Rows that a failure leaves are
// removed by the next trim.
func (s *Store) TrimQueue(ctx context.Context, name string, partition int, before uint64) error {
	var head pgsql.QueuePartition
	err := s.change(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		head, err = s.sql.LockQueuePartition(ctx, tx, &pgsql.LockQueuePartitionParams{Name: []byte(name), Partition: partitionNumber(partition)})
		if err != nil {
			return noQueue(name, err)
		}
		return s.trim(ctx, tx, &head, min(offsetOf(before), head.Next))
	})
	for more := err == nil && head.First > 0; more && err == nil; {
		err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
			n, err := s.sql.DeleteQueueRows(ctx, db, &pgsql.DeleteQueueRowsParams{
				Queue: head.Queue, Partition: head.Partition, Before: head.First, MaxRows: trimRows,
			})
			more = n == trimRows
			return err
		})
	}
	return err
}

// trim moves the first offset of a head on, whose row is locked.
func (s *Store) trim(ctx context.Context, tx pgx.Tx, head *pgsql.QueuePartition, before int64) error {
	if before <= head.First {
		return nil
	}
	head.First, head.FirstBytes = before, head.NextBytes
	if before < head.Next {
		var err error
		head.FirstBytes, err = s.sql.BytesBefore(ctx, tx, &pgsql.BytesBeforeParams{Queue: head.Queue, Partition: head.Partition, Position: before})
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: row %d of partition %d of queue %d is missing", store.ErrCorrupt, before, head.Partition, head.Queue)
		}
		if err != nil {
			return err
		}
	}
	return s.sql.SetQueueFirst(ctx, tx, &pgsql.SetQueueFirstParams{
		Queue: head.Queue, Partition: head.Partition, First: head.First, FirstBytes: head.FirstBytes,
	})
}
