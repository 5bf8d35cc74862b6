package store

import "context"

// Queues keeps durable queues: partitioned, each partition ordered by offset,
// from 0 without gaps (D-25). A queue outlives the pipelines that use it. Rows
// that an epoch appends come through Commit.Appended, and become visible with
// it.
type Queues interface {
	// CreateQueue makes a queue, or does nothing if there is one with as many
	// partitions; ErrConflict if it has another number.
	CreateQueue(ctx context.Context, name string, partitions int) error
	// Queues describes all queues, ordered by name.
	Queues(ctx context.Context) ([]Queue, error)
	// ReadQueue returns rows of one partition from an offset on. Rows below the
	// first one kept are skipped. ErrNoQueue: there is no such queue or
	// partition.
	ReadQueue(ctx context.Context, r QueueRequest) ([]QueueRow, error)
	// PushQueue appends rows from outside a pipeline, all or none, durably.
	PushQueue(ctx context.Context, rows []QueueAppend) error
	// TrimQueue removes the rows of a partition below an offset.
	TrimQueue(ctx context.Context, name string, partition int, before uint64) error
	// DropQueue removes a queue with everything in it.
	DropQueue(ctx context.Context, name string) error
}

// Queue describes a queue.
type Queue struct {
	Name       string
	Partitions []QueuePartition
	// Consumers are the positions of those who read it, ordered by consumer,
	// then partition.
	Consumers []QueuePosition
}

// QueuePartition holds the rows [First, Next); Bytes is the size of their
// values.
type QueuePartition struct {
	First, Next uint64
	Bytes       int64
}

// QueueRow is one row; Time is when it was appended, unix nanoseconds.
type QueueRow struct {
	Offset uint64
	Time   int64
	Value  []byte
}

// QueueRequest asks for rows of a partition from From on, at most MaxRows of
// them and about MaxBytes of values, at least one if there is one. Zero means no
// limit.
type QueueRequest struct {
	Queue             string
	Partition         int
	From              uint64
	MaxRows, MaxBytes int
}

// QueueAppend is a row to be appended. Its offset is assigned by the store, in
// the transaction and under the queue partition's lock, which is taken last and
// in the order of (queue, partition) (D-25).
type QueueAppend struct {
	Queue     string
	Partition int
	Time      int64
	Value     []byte
}

// QueuePosition says that a consumer is done with the rows of a partition below
// Offset. It is told for people and for trimming: what a source goes by is its
// own offset.
type QueuePosition struct {
	Queue, Consumer string
	Partition       int
	Offset          uint64
}
