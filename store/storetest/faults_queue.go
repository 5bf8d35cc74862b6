package storetest

import (
	"context"

	"github.com/rondo-flow/rondo/store"
)

// change makes a call that has no answer.
func (f *Faults) change(ctx context.Context, op Op, call func() error) error {
	_, err := through(ctx, f, Call{Op: op}, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// CreateQueue passes the call on.
func (f *Faults) CreateQueue(ctx context.Context, name string, partitions int) error {
	return f.change(ctx, OpCreateQueue, func() error { return f.store.CreateQueue(ctx, name, partitions) })
}

// Queues passes the call on.
func (f *Faults) Queues(ctx context.Context) ([]store.Queue, error) {
	return through(ctx, f, Call{Op: OpQueues}, func() ([]store.Queue, error) { return f.store.Queues(ctx) })
}

// ReadQueue passes the call on.
func (f *Faults) ReadQueue(ctx context.Context, r store.QueueRequest) ([]store.QueueRow, error) {
	return through(ctx, f, Call{Op: OpReadQueue}, func() ([]store.QueueRow, error) { return f.store.ReadQueue(ctx, r) })
}

// PushQueue passes the call on.
func (f *Faults) PushQueue(ctx context.Context, rows []store.QueueAppend) error {
	return f.change(ctx, OpPushQueue, func() error { return f.store.PushQueue(ctx, rows) })
}

// TrimQueue passes the call on.
func (f *Faults) TrimQueue(ctx context.Context, name string, partition int, before uint64) error {
	return f.change(ctx, OpTrimQueue, func() error { return f.store.TrimQueue(ctx, name, partition, before) })
}

// DropQueue passes the call on.
func (f *Faults) DropQueue(ctx context.Context, name string) error {
	return f.change(ctx, OpDropQueue, func() error { return f.store.DropQueue(ctx, name) })
}
