package partition

import (
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Event is something that happened to the partition.
type Event interface{ event() }

// Handover is what a producer's committed epoch says to this partition: a row,
// if the epoch wrote one for it, and the producer's report, if it changed. The
// events of one producer come in the order of its commits (D-10).
type Handover struct {
	Row    *store.InboxRow
	Report *store.Report
}

func (h *Handover) producer() store.PartitionID {
	if h.Row != nil {
		return h.Row.Producer
	}
	return h.Report.Partition
}

// HandoverLost tells that a hand-over was dropped on the way; the reports of
// the dropped ones come with it. Rows are read from the inbox instead.
type HandoverLost struct{ Reports []store.Report }

// ReportsRead brings the stored reports of producers. It comes before the first
// InboxRead, which thereby is a later read (D-16).
type ReportsRead struct{ Reports []store.Report }

// InboxRead answers Ready.ReadInbox.
type InboxRead struct {
	Rows []store.InboxRow
	End  bool
}

// TimersRead answers one of Ready.ReadTimers.
type TimersRead struct {
	Stream int
	Timers []store.Timer
	End    bool
}

// TimersSurveyed answers one of Ready.SurveyTimers with the least event timestamp,
// if there is any timer. One that failed is asked for again later.
type TimersSurveyed struct {
	Stream int
	Least  int64
	Any    bool
	Failed bool
}

// SourceRead answers Ready.ReadSource with the size of the batch that the
// driver now holds, the latest event time in it, and the watermark behind it, which
// counts for sources that are SelfTimed. End: the source has no more, ever.
type SourceRead struct {
	Rows      int
	Bytes     int
	MaxEvent  int64
	Watermark int64
	End       bool
}

// Listed answers a list of a visit stream, with one answer for each source.
type Listed struct {
	Visitor int
	Token   visit.Token
	Answers []visit.Answer
}

// ListFailed answers a list that failed.
type ListFailed struct {
	Visitor int
	Token   visit.Token
	Err     error
}

// Processed tells how far the driver got with Ready.Epoch, and what came out.
type Processed struct {
	// Messages and SourceRows count the inputs handled, from the front.
	Messages, SourceRows, Timers int
	// Refused are those of the source rows that made no message.
	Refused int
	// TimersGone are the timers of keys that were cleared, TimersSet those that
	// were set; each in order and named once. Those that fired go by themselves,
	// before any is set.
	TimersGone []store.TimerID
	TimersSet  []store.Timer
	// Visits holds the outcome of each visit stream, by its index.
	Visits []visit.Outcome
	// MessageTime is what messages and timers took, VisitTime what visits took.
	MessageTime, VisitTime time.Duration
	// Rows are the batches for other partitions.
	Rows []Produced
	// MaxEvents holds the largest event timestamp that went into each output
	// stream, store.NoTime for none, by the stream's index; SourceEvent is that
	// of the source rows.
	MaxEvents   []int64
	SourceEvent int64
	// Counts are the function's counts of this epoch.
	Counts []store.Count
}

// Produced is the batch of one epoch for one target; its payload stays with the
// driver.
type Produced struct {
	Target   uint64
	Count    int
	MinEvent int64
}

// Committed tells that Ready.Commit is durable.
type Committed struct {
	// Written are the keys whose states the epoch changed.
	Written []visit.Key
	// Names are those under which it wrote rows that visit streams may list (KV-2).
	Names []string
}

// Reconfigured brings new parameters; they hold from the next epoch on.
type Reconfigured struct{ Params Params }

// RunNow brings the stored run-now command of a visit stream, when it is given
// and at the start of a job (KV-49). One that a visit stream refuses changes
// nothing; its status tells which command was obeyed.
type RunNow struct {
	Visitor int
	Run     visit.Run
}

// Delayed tells the latest event time up to which a source may take a batch, as far as
// other streams have come. It may change by time alone at Until, 0 for never.
type Delayed struct {
	Limit int64
	Until time.Duration
}

// SystemPassed tells, for each input stream by its index, up to which system time
// everything that producers emitted was handed over before this event, or is to be
// found in the inbox: it is the clock, or the time of an earlier epoch that is under
// way. It comes where a timer stream goes by system time, after the hand-overs.
type SystemPassed struct{ Times []int64 }

// Draining tells that the pipeline stops: no new source input, no visits.
type Draining struct{}

// NoRoom tells whether the budget shared by the buffers of all visit streams is
// used up.
type NoRoom struct{ On bool }

// Blocked tells which output streams have a full target, by index, and which lead into a
// loop of computations that the partition is in itself and that is full somewhere; nil
// for none (D-18). It replaces what was told before.
type Blocked struct{ Outputs, Loops []bool }

// Aligned tells how far the source's watermark may be for more rows to be taken
// (watermark_alignment). The limit may have changed by itself at Until, if that is
// not 0.
type Aligned struct {
	Limit int64
	Until time.Duration
}

// TimePassed brings the machine up to now. It is due when Ready.WakeAt has come, in
// partitions whose inputs may be idle. Held tells of producers that have come to be held
// back since the last one, or are so no longer: whoever is held back is not idle (D-17).
// So producers are found idle by this event alone. Known is up to when that is known, for
// each input by its index; nil for now.
type TimePassed struct {
	Held  []Held
	Known []time.Duration
}

func (e *TimePassed) known(input int, now visit.Instant) time.Duration {
	if e.Known == nil {
		return now.Mono
	}
	return e.Known[input]
}

// Held tells that a producer has rows that it must not take (see [Machine.HeldBack]),
// or is rid of them, since At.
type Held struct {
	Producer store.PartitionID
	Held     bool
	At       time.Duration
}

func (Aligned) event()        {}
func (SystemPassed) event()   {}
func (Delayed) event()        {}
func (TimePassed) event()     {}
func (Handover) event()       {}
func (HandoverLost) event()   {}
func (ReportsRead) event()    {}
func (InboxRead) event()      {}
func (TimersRead) event()     {}
func (TimersSurveyed) event() {}
func (SourceRead) event()     {}
func (Listed) event()         {}
func (ListFailed) event()     {}
func (Processed) event()      {}
func (Committed) event()      {}
func (Reconfigured) event()   {}
func (RunNow) event()         {}
func (Draining) event()       {}
func (NoRoom) event()         {}
func (Blocked) event()        {}
