package flowtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/flow"
)

// mostNamed bounds the keys that the error of a check names.
const mostNamed = 5

// findings collects what a check has to say.
type findings struct {
	check string
	errs  []error
	more  int
}

func (f *findings) add(format string, args ...any) {
	if len(f.errs) == mostNamed {
		f.more++
		return
	}
	f.errs = append(f.errs, fmt.Errorf(f.check+": "+format, args...))
}

func (f *findings) err() error {
	if f.more > 0 {
		f.errs = append(f.errs, fmt.Errorf("%s: and %d more", f.check, f.more))
	}
	return errors.Join(f.errs...)
}

// Cover demands that every key that is there for longer than within is visited
// meanwhile: neither from its creation to its first visit, nor between two
// visits, nor from the last one to its end or the log's does it wait for longer.
// Time in which nobody ran is not counted.
func Cover(l *Log, within time.Duration) error {
	f := findings{check: "COVER"}
	for _, events := range l.byKey() {
		l.coverKey(events, within, &f)
	}
	return f.err()
}

func (l *Log) coverKey(events []*Event, within time.Duration, f *findings) {
	since, there := time.Duration(0), false
	for _, e := range events {
		if there && (e.visit() || e.Left == 0) {
			l.checkWait(e.Key, Span{since, e.At}, within, f)
		}
		if e.visit() || !there {
			since = e.At
		}
		there = e.Left != 0
	}
	if there {
		l.checkWait(events[0].Key, Span{since, l.End}, within, f)
	}
}

func (l *Log) checkWait(key flow.Key, s Span, within time.Duration, f *findings) {
	if waited := l.waited(s); waited > within {
		f.add("key %s is there from %s to %s without a visit, %s of running time, and should have one within %s", key, s.From, s.To, waited, within)
	}
}

// Gap demands that no more than bound passes between two visits of one key, time
// in which nobody ran not counted.
func Gap(l *Log, bound time.Duration) error {
	f := findings{check: "GAP"}
	for _, events := range l.byKey() {
		var last *Event
		for _, e := range events {
			if last != nil && e.visit() {
				if gap := l.waited(Span{last.At, e.At}); gap > bound {
					f.add("key %s is visited at %s and then at %s, after %s of running time: at most %s", e.Key, last.At, e.At, gap, bound)
				}
			}
			if e.visit() {
				last = e
			}
			if e.Left == 0 {
				last = nil // what comes later is another life
			}
		}
	}
	return f.err()
}

// Once demands that no key is visited twice in one pass, whatever failed: what
// was not committed is not in the log (KV-16).
func Once(l *Log) error {
	f := findings{check: "ONCE"}
	for _, events := range l.byKey() {
		in := map[uint64]*Event{}
		for _, e := range events {
			if !e.visit() {
				continue
			}
			if first := in[e.Pass]; first != nil {
				f.add("key %s is visited twice in pass %d, at %s and at %s", e.Key, e.Pass, first.At, e.At)
			}
			in[e.Pass] = e
		}
	}
	return f.err()
}

// Fresh demands that each call finds the state that the one before it left, so
// that a visit sees every message applied before it, and nothing is overwritten
// by what was read earlier (KV-22).
func Fresh(l *Log) error {
	f := findings{check: "FRESH"}
	for _, events := range l.byKey() {
		for i, e := range events[1:] {
			before := events[i]
			if e.Found != before.Left {
				f.add("key %s at %s finds what call %d left, and call %d at %s had left %d", e.Key, e.At, e.Found, before.Stamp, before.At, before.Left)
			}
		}
		if first := events[0]; first.Found != 0 {
			f.add("key %s at %s finds what call %d left, and had no state", first.Key, first.At, first.Found)
		}
	}
	return f.err()
}

// NoGhost demands that no key is visited that has no state by then (KV-28).
func NoGhost(l *Log) error {
	f := findings{check: "NOGHOST"}
	for _, events := range l.byKey() {
		left := uint64(0)
		for _, e := range events {
			if e.visit() && (e.Found == 0 || left == 0) {
				f.add("key %s is visited at %s without a state", e.Key, e.At)
			}
			left = e.Left
		}
	}
	return f.err()
}

// Atomic demands that states, output and calls agree: stored, the stamps in the
// store by encoded key, are what the last call of each key left, and emitted,
// the number of messages by the stamp of their call, is what the calls emitted.
func Atomic(l *Log, stored map[string]uint64, emitted map[uint64]int) error {
	f := findings{check: "ATOMIC"}
	known := map[uint64]bool{}
	for i := range l.Events {
		e := &l.Events[i]
		known[e.Stamp] = true
		if got := emitted[e.Stamp]; got != e.Emitted {
			f.add("key %s: call %d at %s emitted %d messages, and %d came out", e.Key, e.Stamp, e.At, e.Emitted, got)
		}
	}
	for stamp, n := range emitted {
		if !known[stamp] {
			f.add("%d messages came out of call %d, which was never committed", n, stamp)
		}
	}
	left := l.byKey()
	for key, events := range left {
		if last := events[len(events)-1]; stored[key] != last.Left {
			f.add("key %s: the store has the state of call %d, and call %d at %s left %d", last.Key, stored[key], last.Stamp, last.At, last.Left)
		}
	}
	for key, stamp := range stored {
		if left[key] == nil {
			f.add("the store has the state of call %d under a key that no call was about", stamp)
		}
	}
	return f.err()
}
