package store

import (
	"context"
	"slices"
)

// Store is everything a worker needs. A job uses States, Timers, Inbox and Committer;
// whoever owns the layout of partitions uses Catalog; sources and sinks in the
// store use Queues, external states Tables.
type Store interface {
	States
	Timers
	Inbox
	Committer
	Catalog
	Queues
	Tables
	// Close waits for the calls in progress and releases the store. Later calls
	// fail with ErrUnavailable; a second Close does nothing.
	Close() error
}

// Committer applies the epochs of partitions.
type Committer interface {
	// Commit applies c whole or not at all, and returns when it is durable.
	// Errors: ErrFenced (also for a partition that does not exist),
	// ErrConflict, ErrNoQueue, ErrNoTable, ErrUnavailable, ErrUnknownOutcome, ErrCorrupt; one without a
	// class means that c is not valid (Commit.Validate). A ctx that ends before
	// the commit was sent is ErrUnavailable; later it has no effect.
	Commit(ctx context.Context, c *Commit) error
	// RaiseGeneration gives the partition a new generation (guarantee 3) and
	// returns everything a job needs to start. A Completed partition gets one
	// too and stays Completed. ErrFenced: there is no such partition.
	RaiseGeneration(ctx context.Context, id PartitionID) (*Job, error)
}

// Catalog keeps the pipeline, its partitions, and what they report.
type Catalog interface {
	Records
	// Pipeline returns the stored pipeline, or nil when there is none yet.
	Pipeline(ctx context.Context) (*Pipeline, error)
	// SavePipeline stores p if the stored version is still p.Version, and
	// raises p.Version. It fails with ErrConflict otherwise.
	SavePipeline(ctx context.Context, p *Pipeline) error
	// Partitions returns all partitions, ordered by id.
	Partitions(ctx context.Context) ([]Partition, error)
	// CreatePartitions gives each partition an id and stores all of them, with
	// their routing, in one transaction. Targets of routing are given by
	// computation, so that partitions may be created together. A new partition
	// is Executing and has no generation: whatever ps says of its id, state and
	// generation is ignored.
	CreatePartitions(ctx context.Context, ps []Partition) ([]Partition, error)
	// Relayout replaces the partitions of a computation, and returns those that
	// took their place. Errors are as those of Commit, and those of r.Plan.
	Relayout(ctx context.Context, r Relayout) ([]Partition, error)
}

// Records are what partitions have committed about themselves.
type Records interface {
	// Reports returns the last report of every partition that has one,
	// ordered by partition (D-15).
	Reports(ctx context.Context) ([]Report, error)
	// Totals returns the counters of every partition that has some, ordered by
	// partition.
	Totals(ctx context.Context) ([]PartitionTotals, error)
	// Visitors returns the rows of a partition's visit streams, ordered by stream
	// and slot, and disturbs nobody; of a Completed partition only the summaries
	// are left. ErrFenced: there is no such partition.
	Visitors(ctx context.Context, id PartitionID) ([]VisitorRow, error)
}

// Pipeline is what the store knows of the pipeline as a whole.
type Pipeline struct {
	// Name identifies the pipeline; a store belongs to one.
	Name string
	// Static and Dynamic are the specs as canonical text; Loaded is the dynamic
	// spec of the file that was loaded last.
	Static, Dynamic, Loaded string
	// Version counts changes, for optimistic locking.
	Version uint64
	// Runs are the run-now commands, at most one for a visit stream (KV-49).
	Runs []Run
	// Target is what the workers of a cluster are to be about (D-21). A process that
	// has the store for itself does not look at it. Aimed is the version that it has been
	// so since.
	Target Target
	Aimed  uint64
}

// Target is what a pipeline that workers run was told to be about.
type Target uint8

// The targets of a pipeline.
const (
	// ToWork: take input, until the pipeline is completed.
	ToWork Target = iota
	// ToPause: run no jobs; what is in flight stays in the store.
	ToPause
	// ToDrain: take no new source input, and work through what is in flight.
	ToDrain
	// ToRest follows ToDrain once nothing is in flight: run no jobs.
	ToRest
)

// Run is a command that all partitions run one pass of a visit stream at once.
type Run struct {
	Computation, Stream string
	// ID is larger than those of the stream's former commands.
	ID uint64
	// Period is the length of the pass in nanoseconds, 0 for as fast as may be.
	Period int64
}

// Aim gives p another target, to be stored.
func (p *Pipeline) Aim(to Target) { p.Target, p.Aimed = to, p.Version+1 }

// Clone copies p, so that neither sees a change of the other.
func (p *Pipeline) Clone() *Pipeline {
	out := *p
	out.Runs = slices.Clone(p.Runs)
	return &out
}

// Equal tells whether both say the same.
func (p *Pipeline) Equal(o *Pipeline) bool {
	return p.Name == o.Name && p.Static == o.Static && p.Dynamic == o.Dynamic && p.Loaded == o.Loaded &&
		p.Version == o.Version && p.Target == o.Target && p.Aimed == o.Aimed && slices.Equal(p.Runs, o.Runs)
}

// Equal tells whether both reports say the same.
func (r *Report) Equal(o *Report) bool {
	return r.Partition == o.Partition && r.Generation == o.Generation && r.Layout == o.Layout &&
		slices.Equal(r.Streams, o.Streams) && slices.Equal(r.LastRows, o.LastRows)
}

// LastRow returns the number of the last row for a target, 0 if it had none.
func (r *Report) LastRow(target PartitionID) uint64 {
	for _, l := range r.LastRows {
		if l.Target == target {
			return l.Number
		}
	}
	return 0
}

// PartitionTotals are the counters of one partition.
type PartitionTotals struct {
	Partition PartitionID
	Totals    Totals
}
