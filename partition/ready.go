package partition

import (
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Ready is everything the driver may do now.
type Ready struct {
	// ReadInbox, ReadSource and Lists may be done at once; nothing need be
	// durable before. Answers come back as events.
	ReadInbox  *store.InboxRequest
	ReadSource *ReadSource
	Lists      []List
	// ReadTimers may be done at once too; no epoch comes before they are answered.
	// SurveyTimers ask for the least event timestamp only, however long that takes.
	ReadTimers, SurveyTimers []ReadTimers
	// Epoch is to be processed now. Nothing that it does may be seen outside
	// before the commit that follows is durable.
	Epoch *Epoch
	// Commit must be durable before anything is handed over to other
	// partitions, and before Committed is stepped. Epoch and Commit are never
	// given together.
	Commit *store.Commit
	// WakeAt is when to call Ready again if nothing happens before; false for
	// never.
	WakeAt time.Duration
	Wake   bool
	// Finished: the partition is Completed, durably; the job ends.
	Finished bool
	// Drained: while draining, nothing is left to do and consumers were told.
	Drained bool
}

// ReadSource asks for a batch of the source.
type ReadSource struct{ Rows, Bytes int }

// ReadTimers asks for timers of a timer stream.
type ReadTimers struct {
	Stream  int
	Request *store.TimerRequest
}

// List asks for keys of a visit stream.
type List struct {
	Visitor int
	List    visit.List
}

// Epoch is what an epoch takes, in the order of processing. The driver may stop
// between two inputs as its Budget says, and reports how far it got. An epoch
// without inputs only stores what waits to be stored.
type Epoch struct {
	// Number counts the epochs of the generation, from 1.
	Number uint64
	// Messages are parts of inbox rows; SourceRows of the batch in hand come
	// instead of them in partitions that read a source.
	Messages   []Span
	SourceRows int
	// Timers are due, in order of trigger. One whose key was cleared before its
	// turn (KV-31) is passed over, and counts as handled.
	Timers []DueTimer
	Visits []Visits
	// Watermarks are the event watermarks of the input streams, by index, as
	// functions see them (D-15).
	Watermarks []int64
	Budget     Budget
}

// Span is the messages [From, To) of a row.
type Span struct {
	Row      *store.InboxRow
	From, To int
}

// Visits are visits of one stream, in order.
type Visits struct {
	Visitor int
	Visits  []visit.Visit
}

func (e *Epoch) empty() bool { return e.Inputs() == 0 && len(e.Timers)+len(e.Visits) == 0 }

// Inputs counts the messages and source rows of the epoch.
func (e *Epoch) Inputs() int {
	n := e.SourceRows
	for _, s := range e.Messages {
		n += s.To - s.From
	}
	return n
}
