package flow

import (
	"context"

	"github.com/rondo-flow/rondo/schema"
)

// RowFunction processes messages one at a time.
type RowFunction interface {
	OnMessage(ctx context.Context, rt Runtime, msg Message, out OutputCollector) error
}

// RowTimerFunction is implemented by functions that set timers.
type RowTimerFunction interface {
	OnTimer(ctx context.Context, rt Runtime, timer Timer, out OutputCollector) error
}

// RowVisitFunction is implemented by functions that handle visits. Visits of a
// function without it are delivered and change nothing.
type RowVisitFunction interface {
	OnVisit(ctx context.Context, rt Runtime, visit Visit, out OutputCollector) error
}

// BatchFunction processes the messages of an epoch in one call. What it emits
// depends on all of them, unless it says on which (OutputCollector.WithParents).
type BatchFunction interface {
	OnMessages(ctx context.Context, rt Runtime, msgs []Message, out OutputCollector) error
}

// BatchTimerFunction handles the timers of an epoch, in order of their triggers, in
// one call, which comes after the effects of the epoch's messages (KV-29).
type BatchTimerFunction interface {
	OnTimers(ctx context.Context, rt Runtime, timers []Timer, out OutputCollector) error
}

// BatchVisitFunction handles the visits of an epoch in one call, which comes
// after the effects of the epoch's messages and timers (KV-29).
type BatchVisitFunction interface {
	OnVisits(ctx context.Context, rt Runtime, visits []Visit, out OutputCollector) error
}

// Reconfigurable is implemented by functions that have parameters which may change
// while the pipeline runs: the dynamic spec's processing_function_parameters.
type Reconfigurable interface {
	// Reconfigure takes the parameters in force: before the first input of a job, and
	// between two epochs when they have changed. They are given whole, so what is
	// missing has its default again. An error says what is wrong with them; before
	// parameters are taken, an instance that is made for it alone is asked, and an error
	// refuses them (KV-50).
	Reconfigure(p Parameters) error
}

// Function has OnMessage or OnMessages, OnTimer or OnTimers, OnVisit or OnVisits, or
// one of each pair. One instance serves one job and is never called concurrently (D-23).
// Slices and rows that it gets are its own until the call returns.
type Function any

// Factory makes the function of one job. An error means that the setup cannot
// work; it is shown before anything runs.
type Factory func(Setup) (Function, error)

// Setup is what a factory gets: the computation as the spec describes it.
type Setup struct {
	// Computation is the computation's id.
	Computation string
	// Parameters are the spec's processing_function_parameters.
	Parameters Parameters
	// Inputs and Outputs are the schemas of the streams, by stream id; Key is
	// the group_by_schema (nil when the computation has none).
	Inputs, Outputs Streams
	Key             *KeySchema
	// Timers are the timer streams, Visits the visit streams; Parents, for each output
	// and timer stream, the streams that it depends on and that may therefore emit
	// into it or set it (KV-41).
	Timers, Visits []string
	Parents        map[string][]string
	// Externals are the external states of the computation, each with the visit
	// streams that scan it.
	Externals map[string][]string
}

// TableChecker is a function that expects something of the tables of its external
// states. They are shown to it by name before anything runs, and whenever a job starts.
type TableChecker interface {
	CheckTables(tables map[string]*schema.Table) error
}

// Runtime is what a function may ask of the engine during a call. It must not
// be used after the call returns.
type Runtime interface {
	Tables
	// Cell is the raw access to one state of a key of the call - of its input, or
	// of any input of its batch; use State for typed access. Names start with
	// "/". (It takes the key rather than the input, which would be copied to the
	// heap at every call.)
	Cell(name string, key Key) (*Cell, error)
	// ClearKey removes all internal states and timers of the key (KV-31).
	ClearKey(of Keyed) error
	// MinWatermark is the smallest event watermark of all input streams; false
	// while one of them has none.
	MinWatermark() (Time, bool)
	// Watermark is the event watermark of an input stream; false when there is
	// none yet. When the stream is completed it is the largest event timestamp
	// that the stream carried (D-15).
	Watermark(stream string) (Time, bool)
	// Count adds n to a named counter of the job, as [AddCounts] does. Counts of a
	// failed epoch do not count.
	Count(name string, n int64)
	// MessageBuilder starts a message for an output stream. If there is no such
	// stream, the builder's Finish says so.
	MessageBuilder(stream string) *MessageBuilder
}

// TimerRequest is a timer to be set.
type TimerRequest struct {
	// TriggerTimestamp is when it is due: once the watermark of its stream has
	// reached it, at the next epoch if it has already.
	TriggerTimestamp Time
	// EventTimestamp is the earliest of those of the call's inputs if it is 0. Until
	// the timer has fired, outputs that depend on its stream keep their watermark at
	// or below it.
	EventTimestamp Time
	// StreamID may be left out if the computation has one timer stream.
	StreamID string
}

// OutputCollector takes what a call emits. An error of AddMessage or AddTimer also
// fails the epoch when the function ignores it.
type OutputCollector interface {
	// AddMessage emits the message into its stream. It takes what it needs of the row,
	// which may be used for the next message.
	AddMessage(m OutputMessage) error
	// AddTimer sets a timer of the key of the call's inputs, which must have one key.
	// Of timers with the same stream, key and trigger there is one, with the smaller
	// event timestamp.
	AddTimer(t TimerRequest) error
	// WithParents returns a collector for what derives from these inputs of the call
	// alone: their streams decide whether the output may be written or the timer set
	// (KV-41), and the earliest of their event timestamps is its default.
	WithParents(ids ...MessageID) OutputCollector
}
