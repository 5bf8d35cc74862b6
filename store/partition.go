package store

import "slices"

// PartitionID identifies a partition. Ids are never reused; 0 is none.
type PartitionID uint64

// Generation is the fencing number of a partition's ownership (D-1).
type Generation uint64

// Kind says what a partition does.
type Kind uint8

// The kinds of partitions.
const (
	// RangePartition owns a hash range of a computation.
	RangePartition Kind = iota + 1
	// SourcePartition reads one partition of a source.
	SourcePartition
	// SinkPartition writes a sink that is outside the store (D-26).
	SinkPartition
)

// PartitionState is where a partition is in its life.
type PartitionState uint8

// The states of partitions.
const (
	Executing PartitionState = iota + 1
	// Completed partitions never run again by a restart (KV-37).
	Completed
)

// Partition is one row of the layout.
type Partition struct {
	ID          PartitionID
	Computation string
	Kind        Kind
	// Lower and Upper bound the hash range of a range partition; Open stands
	// for the upper end 2^64.
	Lower, Upper uint64
	Open         bool
	// Name is the source's stream and partition key for a source partition,
	// "stream/key", and the sink's id for a sink partition.
	Name string
	// Layout is the version of the computation's layout that the partition
	// belongs to.
	Layout     uint64
	State      PartitionState
	Generation Generation
	// Worker runs the partition, where several may (Cluster). Empty: none, or the
	// only one.
	Worker string
	// Routing holds the layout versions of the computations this one writes
	// to; commits rely on them (D-12).
	Routing []Route
}

// Route is the layout version of a consuming computation.
type Route struct {
	Computation string
	Layout      uint64
}

// RoutesTo tells whether the partition writes to a computation.
func (p *Partition) RoutesTo(computation string) bool {
	return slices.ContainsFunc(p.Routing, func(r Route) bool { return r.Computation == computation })
}

// Rerouted returns the routing with another layout version of a computation.
func (p *Partition) Rerouted(computation string, layout uint64) []Route {
	out := slices.Clone(p.Routing)
	for i := range out {
		if out[i].Computation == computation {
			out[i].Layout = layout
		}
	}
	return out
}

// Job is what a job starts from: the partition with its new generation, and
// everything its former epochs committed beside states and inbox.
type Job struct {
	Partition Partition
	Visitors  []VisitorRow
	Report    *Report
	// Offset is the source's, Position the sink's; nil when none was stored.
	Offset, Position []byte
	Totals           Totals
}

// VisitorRow is one stored row of a visit stream of the partition: a bucket's
// coverage (Slot >= 0), the pass record, or the pass summaries.
type VisitorRow struct {
	Stream string
	Slot   int
	// Value is opaque; empty means that the row is absent, and deletes it when
	// written.
	Value []byte
}

// The slots of a visit stream beside its buckets.
const (
	SlotRecord    = -1
	SlotSummaries = -2
)

// Report is what a partition tells its consumers (D-15).
type Report struct {
	Partition   PartitionID
	Generation  Generation
	Computation string
	Layout      uint64
	Streams     []StreamReport
	// LastRows holds, for each target that got rows in this generation, the
	// number of the last one, ordered by target.
	LastRows []LastRow
}

// StreamReport is a report's part about one output stream.
type StreamReport struct {
	Stream string
	// Watermark and MaxEvent are unix nanoseconds; see NoTime.
	Watermark, MaxEvent int64
	State               StreamState
}

// NoTime is the watermark of a stream that has none yet, and the largest event
// time of a stream that carried nothing.
const NoTime = int64(-1 << 63)

// StreamState orders how far a stream is: merging takes the minimum.
type StreamState uint8

// The states of streams.
const (
	Active StreamState = iota
	// Drained: nothing more comes while the pipeline stops.
	Drained
	// Finished: nothing more comes, ever.
	Finished
)

// LastRow is the last row a producer generation wrote for a target.
type LastRow struct {
	Target PartitionID
	Number uint64
}

// Totals are counters over the whole life of the job, restarts included. They
// move in the transaction that they count.
type Totals struct {
	Epochs   uint64
	Messages uint64
	Timers   uint64
	Visits   uint64
	Passes   uint64
	// Counts are the function's own, by name (flow.Runtime.Count), ordered.
	Counts []Count
}

// Count is a named counter.
type Count struct {
	Name  string
	Value int64
}
