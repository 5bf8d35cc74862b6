package flowtest

import (
	"slices"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// Kind says what a call was about.
type Kind uint8

// The kinds of calls.
const (
	// MessageCall is about one message.
	MessageCall Kind = iota + 1
	// VisitCall is about one visit.
	VisitCall
	// FailedVisit is a visit that returned an error and was left out (KV-27).
	FailedVisit
)

// Event is one call about one key, as its function saw it.
type Event struct {
	At   time.Duration
	Kind Kind
	Key  flow.Key
	// Pass is a visit's.
	Pass uint64
	// Stamp is the call's own number (Recorder.Stamp). A function under test keeps
	// the stamp of the last call in the state of the key and writes it into what it
	// emits, so that each can be told from every other.
	Stamp uint64
	// Found is the stamp in the key's state before the call, Left the one after
	// it; 0 is no state.
	Found, Left uint64
	// Emitted is the number of messages that the call emitted.
	Emitted int
}

// Span is a part of a record's time.
type Span struct{ From, To time.Duration }

// Recorder writes down what functions see. It may be used by all jobs of a
// pipeline at once.
//
// A call counts once its epoch is committed: what was added waits until Commit
// says so, and Discard takes it back. A test that lets nothing fail calls
// neither and takes the log with everything in it.
type Recorder struct {
	now func() time.Duration

	mu      sync.Mutex
	stamp   uint64
	pending []Event
	log     Log
}

// NewRecorder makes a recorder; now is the time since the record began.
func NewRecorder(now func() time.Duration) *Recorder { return &Recorder{now: now} }

// Stamp returns a number that no other call has.
func (r *Recorder) Stamp() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stamp++
	return r.stamp
}

// Add notes a call that has come to its end; the recorder fills in the time.
func (r *Recorder) Add(e Event) {
	e.At = r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = append(r.pending, e)
}

// Commit says that the calls noted so far about the keys that owns accepts are
// durable: those of a partition, when its epoch is.
func (r *Recorder) Commit(owns func(flow.Key) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = slices.DeleteFunc(r.pending, func(e Event) bool {
		mine := owns(e.Key)
		if mine {
			r.log.Events = append(r.log.Events, e)
		}
		return mine
	})
}

// Discard says that the calls noted so far about these keys, which are not
// committed, never will be: their job has failed.
func (r *Recorder) Discard(owns func(flow.Key) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = slices.DeleteFunc(r.pending, func(e Event) bool { return owns(e.Key) })
}

// HashRange accepts the keys of a partition: those whose hash, their first
// column, is in [lower, upper). An open range has no upper end.
func HashRange(lower, upper uint64, open bool) func(flow.Key) bool {
	return func(k flow.Key) bool {
		hash, err := schema.KeyHash(k.Encoded())
		return err == nil && lower <= hash && (open || hash < upper)
	}
}

// Down says that nobody ran in the span. The checks of waiting do not count it.
func (r *Recorder) Down(s Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log.Down = append(r.log.Down, s)
}

// Committed returns what is committed so far.
func (r *Recorder) Committed() *Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.until(r.now())
}

// All takes everything noted so far as committed and returns it.
func (r *Recorder) All() *Log {
	r.Commit(func(flow.Key) bool { return true })
	return r.Committed()
}

// Log is what happened, as far as it is durable. Of one key, events are in the
// order in which they happened.
type Log struct {
	Events []Event
	Down   []Span
	// End is when the log was taken.
	End time.Duration
}

// until copies the log, which goes on to grow.
func (l *Log) until(end time.Duration) *Log {
	return &Log{Events: slices.Clone(l.Events), Down: slices.Clone(l.Down), End: end}
}

// Since returns the log without what happened before from, but for the keys that
// were there by then: they are as if created at from.
func (l *Log) Since(from time.Duration) *Log {
	out := &Log{Down: l.Down, End: l.End}
	last := map[string]Event{}
	for _, e := range l.Events {
		if e.At < from {
			last[e.Key.Encoded()] = e
		}
	}
	for _, e := range last {
		if e.Left != 0 {
			out.Events = append(out.Events, Event{At: from, Kind: MessageCall, Key: e.Key, Stamp: e.Stamp, Left: e.Left})
		}
	}
	for _, e := range l.Events {
		if e.At >= from {
			out.Events = append(out.Events, e)
		}
	}
	return out
}

// Where returns the part of the log about the keys that owns accepts.
func (l *Log) Where(owns func(flow.Key) bool) *Log {
	out := *l
	out.Events = slices.DeleteFunc(slices.Clone(l.Events), func(e Event) bool { return !owns(e.Key) })
	return &out
}

// Visits counts the visits in a span, failed ones included.
func (l *Log) Visits(s Span) (n int) {
	for i := range l.Events {
		if e := &l.Events[i]; e.visit() && s.From <= e.At && e.At < s.To {
			n++
		}
	}
	return n
}

func (e *Event) visit() bool { return e.Kind != MessageCall }

// byKey returns the events of each key.
func (l *Log) byKey() map[string][]*Event {
	out := map[string][]*Event{}
	for i := range l.Events {
		k := l.Events[i].Key.Encoded()
		out[k] = append(out[k], &l.Events[i])
	}
	return out
}

// waited is how much of a span somebody ran.
func (l *Log) waited(s Span) time.Duration {
	d := s.To - s.From
	for _, down := range l.Down {
		d -= max(0, min(s.To, down.To)-max(s.From, down.From))
	}
	return d
}
