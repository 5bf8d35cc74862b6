package partition

import (
	"math"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// TimerClock says what time a timer stream goes by.
type TimerClock uint8

// The clocks of timer streams.
const (
	// EventClock is the event watermark of the streams that are watched.
	EventClock TimerClock = iota
	// SystemClock is the system watermark of the streams that are watched: the wall
	// clock, unless messages of an earlier time are on their way or wait; and the end
	// of time once the streams are completed.
	SystemClock
	// RealClock is the wall clock and nothing else.
	RealClock
)

// TimerStream is a timer stream: its timers fire when their trigger is at most its
// watermark.
type TimerStream struct {
	Stream string
	Clock  TimerClock
	// Watch holds the streams whose watermarks count, the least of them.
	Watch []Watch
	// Parents are the streams that it depends on (streams_dependency); itself
	// among them means nothing here.
	Parents []string
}

// Watch is a stream whose watermark counts, Delay earlier.
type Watch struct {
	Stream string
	Delay  time.Duration
}

// DueTimer is a timer that fires, of the stream with this index.
type DueTimer struct {
	Stream int
	store.Timer
}

const (
	// timerBytesHeld bounds the bytes of timers of a stream in memory.
	timerBytesHeld = 1 << 20
	// clockSteps bounds the sleep until a timer is due, for the wall clock may
	// step forward meanwhile.
	clockSteps = time.Second
	// visitSteps is how often a watermark is looked at that a visit stream moves,
	// which may be slower than the clock.
	visitSteps = 10 * time.Millisecond
)

const endOfTime = int64(math.MaxInt64)

// timerStream is a timer stream with a window of its timers.
//
// Invariant: every timer that is stored or in the open epoch's commit, and whose
// place is not beyond the window's end, is in the window.
type timerStream struct {
	TimerStream
	limit   int           // Params.HoldTimers
	window  []store.Timer // in order
	spare   []store.Timer // what the window was before
	bytes   int
	through store.TimerPlace // the window's end, unless it is whole
	whole   bool             // the window has no end
	known   bool             // it was read
	reading bool
	// watermark is the largest one seen: a clock may step back.
	watermark int64
	least     leastEvent
}

func newTimers(cfg Config) (out []*timerStream) {
	for _, t := range cfg.Timers {
		out = append(out, &timerStream{
			TimerStream: t, limit: cfg.Params.HoldTimers, through: store.TimersFront, watermark: store.NoTime, least: newLeastEvent(),
		})
	}
	return out
}

// empty tells that no timer is set.
func (t *timerStream) empty() bool { return t.whole && len(t.window) == 0 }

// due is the number of timers in the window that are due.
func (t *timerStream) due(watermark int64) int {
	n, _ := slices.BinarySearchFunc(t.window, watermark, func(t store.Timer, w int64) int {
		if t.Trigger <= w {
			return -1
		}
		return 1
	})
	return n
}

// mayBeDue tells whether a timer is due, or may be for all that is known.
func (t *timerStream) mayBeDue(watermark int64) bool {
	if len(t.window) > 0 {
		return t.window[0].Trigger <= watermark
	}
	return !t.whole
}

// nextRead asks for what comes after the window once little of it is left.
func (t *timerStream) nextRead(p store.Partition) *store.TimerRequest {
	if t.whole || t.reading || t.known && (len(t.window) > t.limit/4 || t.bytes > timerBytesHeld/4) {
		return nil
	}
	r := t.request(p)
	r.MaxRows, r.MaxBytes = t.limit-len(t.window), max(timerBytesHeld-t.bytes, 1)
	return r
}

// request is for everything beyond the window.
func (t *timerStream) request(p store.Partition) *store.TimerRequest {
	r := &store.TimerRequest{Computation: p.Computation, Stream: t.Stream, After: t.through}
	r.Lower = string(schema.AppendHash(nil, p.Lower))
	if !p.Open {
		r.Upper = string(schema.AppendHash(nil, p.Upper))
	}
	return r
}

// read takes an answer in. No epoch ran since it was asked for, so it is what is
// stored.
func (t *timerStream) read(e TimersRead) {
	t.known, t.reading, t.whole = true, false, e.End
	t.window = append(t.window, e.Timers...)
	if n := len(t.window); n > 0 {
		t.through = t.window[n-1].Place()
	}
	t.least.moved = true
	t.measure()
}

// edit removes and then sets timers, as the commit does, and keeps the window in
// its limits. Both lists are in order and may name other streams.
func (t *timerStream) edit(gone []store.TimerID, set []store.Timer) {
	out := t.spare[:0]
	for _, w := range t.window {
		if _, found := slices.BinarySearchFunc(gone, w.TimerID, store.TimerID.Compare); !found {
			out = t.mergeUpTo(out, &set, &w)
			out = append(out, w)
		}
	}
	out = t.mergeUpTo(out, &set, nil)
	t.spare, t.window = t.window, out
	t.cut()
	t.measure()
}

// mergeUpTo moves what is set before w, or all if w is nil, to out, or beyond the
// window. One that is equal to w merges into it: the smaller event timestamp stays.
func (t *timerStream) mergeUpTo(out []store.Timer, set *[]store.Timer, w *store.Timer) []store.Timer {
	for ; len(*set) > 0; *set = (*set)[1:] {
		s := (*set)[0]
		switch {
		case s.Stream != t.Stream:
			continue
		case w != nil && s.Place() == w.Place():
			w.Event = min(w.Event, s.Event)
			continue
		case w != nil && s.Place().Compare(w.Place()) > 0:
			return out
		case t.whole || s.Place().Compare(t.through) <= 0:
			out = append(out, s)
		default:
			t.least.add(s.Event)
		}
	}
	return out
}

// cut leaves to the store what is over the limits.
func (t *timerStream) cut() {
	bytes, n := 0, 0
	for ; n < len(t.window); n++ {
		bytes += t.window[n].Size()
		if n > 0 && (n >= t.limit || bytes > timerBytesHeld) {
			break
		}
	}
	if n == len(t.window) {
		return
	}
	if t.whole {
		t.least.begin()
	}
	for _, s := range t.window[n:] {
		t.least.add(s.Event)
	}
	t.window = t.window[:n]
	t.through, t.whole = t.window[n-1].Place(), false
}

func (t *timerStream) measure() {
	t.bytes, t.least.window = 0, endOfTime
	for i := range t.window {
		t.bytes += t.window[i].Size()
		t.least.window = min(t.least.window, t.window[i].Event)
	}
}
