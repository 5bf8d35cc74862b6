package storetest

import (
	"context"

	"github.com/rondo-flow/rondo/store"
)

// Commit passes the commit on, or what the fault makes of it.
func (f *Faults) Commit(ctx context.Context, c *store.Commit) error {
	call := Call{Op: OpCommit, Partition: c.Partition, Commit: c}
	_, err := through(ctx, f, call, func() (struct{}, error) { return struct{}{}, f.store.Commit(ctx, c) })
	return err
}

// RaiseGeneration passes the call on.
func (f *Faults) RaiseGeneration(ctx context.Context, id store.PartitionID) (*store.Job, error) {
	call := Call{Op: OpRaiseGeneration, Partition: id}
	return through(ctx, f, call, func() (*store.Job, error) { return f.store.RaiseGeneration(ctx, id) })
}

// GetStates passes the call on.
func (f *Faults) GetStates(ctx context.Context, computation string, keys []string) ([][]store.StateRow, error) {
	call := Call{Op: OpGetStates}
	return through(ctx, f, call, func() ([][]store.StateRow, error) { return f.store.GetStates(ctx, computation, keys) })
}

// ListStates passes the call on.
func (f *Faults) ListStates(ctx context.Context, r store.ListRequest) (*store.ListAnswer, error) {
	call := Call{Op: OpListStates, List: &r}
	return through(ctx, f, call, func() (*store.ListAnswer, error) { return f.store.ListStates(ctx, r) })
}

// ListTimers passes the call on.
func (f *Faults) ListTimers(ctx context.Context, r store.TimerRequest) (*store.TimerAnswer, error) {
	call := Call{Op: OpListTimers, Timers: &r}
	return through(ctx, f, call, func() (*store.TimerAnswer, error) { return f.store.ListTimers(ctx, r) })
}

// LeastTimerEvent passes the call on.
func (f *Faults) LeastTimerEvent(ctx context.Context, r store.TimerRequest) (int64, bool, error) {
	var any bool
	call := Call{Op: OpLeastTimerEvent, Timers: &r}
	least, err := through(ctx, f, call, func() (least int64, err error) {
		least, any, err = f.store.LeastTimerEvent(ctx, r)
		return least, err
	})
	return least, any, err
}

// KeyTimers passes the call on.
func (f *Faults) KeyTimers(ctx context.Context, computation string, keys []string) ([][]store.TimerID, error) {
	call := Call{Op: OpKeyTimers}
	return through(ctx, f, call, func() ([][]store.TimerID, error) { return f.store.KeyTimers(ctx, computation, keys) })
}

// ReadInbox passes the call on.
func (f *Faults) ReadInbox(ctx context.Context, r store.InboxRequest) (*store.InboxAnswer, error) {
	call := Call{Op: OpReadInbox, Partition: r.Target}
	return through(ctx, f, call, func() (*store.InboxAnswer, error) { return f.store.ReadInbox(ctx, r) })
}

// InboxSizes passes the call on.
func (f *Faults) InboxSizes(ctx context.Context) ([]store.InboxSize, error) {
	return through(ctx, f, Call{Op: OpInboxSizes}, func() ([]store.InboxSize, error) { return f.store.InboxSizes(ctx) })
}

// Pipeline passes the call on.
func (f *Faults) Pipeline(ctx context.Context) (*store.Pipeline, error) {
	return through(ctx, f, Call{Op: OpPipeline}, func() (*store.Pipeline, error) { return f.store.Pipeline(ctx) })
}

// SavePipeline passes the call on.
func (f *Faults) SavePipeline(ctx context.Context, p *store.Pipeline) error {
	call := Call{Op: OpSavePipeline}
	_, err := through(ctx, f, call, func() (struct{}, error) { return struct{}{}, f.store.SavePipeline(ctx, p) })
	return err
}

// Partitions passes the call on.
func (f *Faults) Partitions(ctx context.Context) ([]store.Partition, error) {
	return through(ctx, f, Call{Op: OpPartitions}, func() ([]store.Partition, error) { return f.store.Partitions(ctx) })
}

// CreatePartitions passes the call on.
func (f *Faults) CreatePartitions(ctx context.Context, ps []store.Partition) ([]store.Partition, error) {
	call := Call{Op: OpCreatePartitions}
	return through(ctx, f, call, func() ([]store.Partition, error) { return f.store.CreatePartitions(ctx, ps) })
}

// Relayout passes the call on.
func (f *Faults) Relayout(ctx context.Context, r store.Relayout) ([]store.Partition, error) {
	return through(ctx, f, Call{Op: OpRelayout}, func() ([]store.Partition, error) { return f.store.Relayout(ctx, r) })
}

// Reports passes the call on.
func (f *Faults) Reports(ctx context.Context) ([]store.Report, error) {
	return through(ctx, f, Call{Op: OpReports}, func() ([]store.Report, error) { return f.store.Reports(ctx) })
}

// Totals passes the call on.
func (f *Faults) Totals(ctx context.Context) ([]store.PartitionTotals, error) {
	return through(ctx, f, Call{Op: OpTotals}, func() ([]store.PartitionTotals, error) { return f.store.Totals(ctx) })
}

// Visitors passes the call on.
func (f *Faults) Visitors(ctx context.Context, id store.PartitionID) ([]store.VisitorRow, error) {
	return through(ctx, f, Call{Op: OpVisitors}, func() ([]store.VisitorRow, error) { return f.store.Visitors(ctx, id) })
}
