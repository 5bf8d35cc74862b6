package partition

import (
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Config is what a machine is made of. It does not change during a job.
type Config struct {
	// Job is the partition with its generation, and what is stored of it.
	Job *store.Job
	// Order is the time of a row, by which the heads of producers are merged; nil
	// takes the producers in turn.
	Order func(*store.InboxRow) int64
	// System is the system time of a row, nil if no timer stream goes by it.
	System func(*store.InboxRow) int64
	// Inputs are the streams that come from other partitions.
	Inputs []Input
	// Source is the id of the source stream that the partition reads, or empty. Its
	// watermark is the latest event time less OutOfOrder or, if it is SelfTimed, what the
	// batches say.
	Source     string
	OutOfOrder time.Duration
	SelfTimed  bool
	Timers     []TimerStream
	Visitors   []Visitor
	Outputs    []Output
	// Told are further streams that reports tell of, as of outputs; nobody reads them.
	Told   []Output
	Params Params
}

// Input is an input stream with the partitions that produce it.
type Input struct {
	Stream    string
	Producers []store.PartitionID
	Idle      *Idle // nil: no producer is ever passed over
}

// Idle says when producers that bring nothing are passed over (D-17). Their
// watermark then follows the clock, less Bound.
type Idle struct {
	After    time.Duration
	Bound    time.Duration
	MaxRatio float64 // of the producers; unless all of them are idle
}

// Visitor is a visit stream.
type Visitor struct {
	Config visit.Config
	Params visit.Params
	// Upstream holds the input and source streams whose completion starts the
	// final pass.
	Upstream []string
}

// Output is an output stream with the input, source, timer and visit streams that
// it depends on (streams_dependency).
type Output struct {
	Stream  string
	Parents []string
}

// Params are the dynamic parameters of a computation that concern the machine.
type Params struct {
	MaxRows, MaxBytes int
	MaxEpoch          time.Duration
	// ReportEvery is the longest time that a watermark without data waits
	// before it is told (empty_batch_backoff).
	ReportEvery time.Duration
	// HoldBytes bounds the inbox rows held in memory.
	HoldBytes int
	// HoldTimers bounds the timers of each stream held in memory.
	HoldTimers int
	// VisitShare is the share of processing time that visits get while messages
	// wait (KV-30).
	VisitShare float64
	// Visitors are the parameters of the visit streams, by index; nil keeps the
	// present ones.
	Visitors []visit.Params
}

// DefaultParams are the defaults of the spec.
func DefaultParams() Params {
	return Params{
		MaxRows:     1000,
		MaxBytes:    10_000_000,
		MaxEpoch:    100 * time.Millisecond,
		ReportEvery: 250 * time.Millisecond,
		HoldBytes:   8 << 20,
		HoldTimers:  4096,
		VisitShare:  0.25,
	}
}
