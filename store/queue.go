package store

import "context"

// Queues keeps durable queues: partitioned, each partition ordered by offset,
// from 0 without gaps (D-25). A queue outlives the pipelines that use it. Rows
// that an epoch appends come through Commit.Appended, and become visible with
// it.
//
// Errors of calls that change something are as those of Committer.Commit: after
// ErrUnknownOutcome, read what is true.
type Queues interface {
	// CreateQueue makes a queue of at least one and at most MaxQueuePartitions
	// partitions, or does nothing if there is one with as many; ErrConflict if it
	// has another number.
	CreateQueue(ctx context.Context, name string, partitions int) error
	// Queues describes all queues, ordered by name, as they are at one moment.
	Queues(ctx context.Context) ([]Queue, error)
	// ReadQueue returns rows of one partition from an offset on. Rows below the
	// first one kept are skipped. ErrNoQueue: there is no such queue or
	// partition, or the queue has another id.
	ReadQueue(ctx context.Context, r QueueRequest) ([]QueueRow, error)
	// PushQueue appends rows from outside a pipeline, all or none, durably.
	// ErrNoQueue as for Commit.Appended.
	PushQueue(ctx context.Context, rows []QueueAppend) error
	// TrimQueue removes the rows of a partition below an offset; an offset beyond
	// the last row removes all there are. The offsets of those to come stay what
	// they would have been. ErrNoQueue: there is no such queue or partition.
	TrimQueue(ctx context.Context, name string, partition int, before uint64) error
	// DropQueue removes a queue with everything in it. ErrNoQueue: there is none.
	DropQueue(ctx context.Context, name string) error
}

// MaxQueuePartitions is the largest number of partitions of a queue.
const MaxQueuePartitions = 1 << 12

// Queue describes a queue.
type Queue struct {
	Name string
	// ID is the queue's own: one that was dropped and made anew has another.
	ID         uint64
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

// QueueRow is one row; Time is when it was appended, unix nanoseconds. The bytes
// of Value must not be changed.
type QueueRow struct {
	Offset uint64
	Time   int64
	Value  []byte
}

// QueueRequest asks for rows of a partition from From on, at most MaxRows of
// them and MaxBytes of values; the first row is returned whatever its size. Zero
// means no limit. ID, if it is not zero, has to be the queue's: the reader does
// not mean one that was made anew.
type QueueRequest struct {
	Queue             string
	ID                uint64
	Partition         int
	From              uint64
	MaxRows, MaxBytes int
}

// QueueAppend is a row to be appended. Its offset is assigned by the store, in
// the transaction and under the queue partition's lock, which is taken last and
// in the order of (queue, partition) (D-25); so the rows of one transaction lie
// together, in the order given. The store does not keep Value.
type QueueAppend struct {
	Queue     string
	Partition int
	Time      int64
	Value     []byte
}

// QueuePosition says that a consumer is done with the rows of a partition below
// Offset; the last one told counts. It is told for people and for trimming: what
// a source goes by is its own offset, and a position in a queue or partition
// that is not there is passed over.
type QueuePosition struct {
	Queue, Consumer string
	Partition       int
	Offset          uint64
}
