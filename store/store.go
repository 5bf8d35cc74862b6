package store

import "context"

// Store is everything a worker needs. A job uses States, Inbox and Committer;
// whoever owns the layout of partitions uses Catalog.
type Store interface {
	States
	Inbox
	Committer
	Catalog
	// Close releases the store. No other call may be in progress.
	Close() error
}

// Committer applies the epochs of partitions.
type Committer interface {
	// Commit applies c whole or not at all, and returns when it is durable.
	// Errors: ErrFenced, ErrConflict, ErrUnavailable, ErrUnknownOutcome,
	// ErrCorrupt.
	Commit(ctx context.Context, c *Commit) error
	// RaiseGeneration gives the partition a new generation (guarantee 3) and
	// returns everything a job needs to start.
	RaiseGeneration(ctx context.Context, id PartitionID) (*Job, error)
}

// Catalog keeps the pipeline, its partitions, and what they report.
type Catalog interface {
	// Pipeline returns the stored pipeline, or nil when there is none yet.
	Pipeline(ctx context.Context) (*Pipeline, error)
	// SavePipeline stores p if the stored version is still p.Version, and
	// raises p.Version. It fails with ErrConflict otherwise.
	SavePipeline(ctx context.Context, p *Pipeline) error
	// Partitions returns all partitions, ordered by id.
	Partitions(ctx context.Context) ([]Partition, error)
	// CreatePartitions gives each partition an id and stores all of them, with
	// their routing, in one transaction. Targets of routing are given by
	// computation, so that partitions may be created together.
	CreatePartitions(ctx context.Context, ps []Partition) ([]Partition, error)
	// Reports returns the last report of every partition that has one,
	// ordered by partition (D-15).
	Reports(ctx context.Context) ([]Report, error)
	// Totals returns the counters of every partition that has some, ordered by
	// partition.
	Totals(ctx context.Context) ([]PartitionTotals, error)
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
}

// PartitionTotals are the counters of one partition.
type PartitionTotals struct {
	Partition PartitionID
	Totals    Totals
}
