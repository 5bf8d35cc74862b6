package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// Timers reads the timers of computations. A computation that the store does not
// know has none.
type Timers interface {
	// ListTimers reads timers of one stream in a range of keys, in order of
	// trigger, then key, as far as the limits allow. What it holds in memory is
	// bounded by the limits, whatever the number of timers (D-14).
	ListTimers(ctx context.Context, r TimerRequest) (*TimerAnswer, error)
	// LeastTimerEvent returns the smallest event timestamp of the timers of a request,
	// whose limits do not count; false if there is none. It reads all of them.
	LeastTimerEvent(ctx context.Context, r TimerRequest) (event int64, any bool, err error)
	// KeyTimers returns, for each key in the order given, its timers of all
	// streams, ordered by trigger, then stream.
	KeyTimers(ctx context.Context, computation string, keys []string) ([][]TimerID, error)
}

// TimerID names a timer of a computation: there is one at most for each key,
// trigger and stream.
type TimerID struct {
	Key string
	// Trigger is when it is due, unix nanoseconds.
	Trigger int64
	// Stream is the timer stream; like the name of a state it is not empty and has
	// no zero byte.
	Stream string
}

// Compare orders timers by trigger, then key, then stream.
func (t TimerID) Compare(o TimerID) int {
	return cmp.Or(cmp.Compare(t.Trigger, o.Trigger), cmp.Compare(t.Key, o.Key), cmp.Compare(t.Stream, o.Stream))
}

// Place is where the timer is among those of its stream.
func (t TimerID) Place() TimerPlace { return TimerPlace{t.Trigger, t.Key} }

// Timer is a timer with what is stored of it: its event timestamp, unix
// nanoseconds. Setting one that is there keeps the smaller event timestamp.
type Timer struct {
	TimerID
	Event int64
}

// TimerPlace is a position among the timers of a stream.
type TimerPlace struct {
	Trigger int64
	Key     string
}

// TimersFront is before every timer.
var TimersFront = TimerPlace{Trigger: NoTime}

// Compare orders places.
func (p TimerPlace) Compare(o TimerPlace) int {
	return cmp.Or(cmp.Compare(p.Trigger, o.Trigger), cmp.Compare(p.Key, o.Key))
}

// TimerRequest asks for the timers of a stream whose key is in [Lower, Upper),
// bounds as in ListRequest, and whose place is beyond After.
type TimerRequest struct {
	Computation, Stream string
	Lower, Upper        string
	After               TimerPlace
	// MaxRows limits the timers returned, MaxBytes their Sizes; one is returned
	// whatever its size. Zero means no limit.
	MaxRows, MaxBytes int
}

// TimerAnswer holds timers in order. End: there is none of the request beyond
// them.
type TimerAnswer struct {
	Timers []Timer
	End    bool
}

// Size is what a timer counts for in limits of bytes.
func (t *Timer) Size() int { return len(t.Key) + len(t.Stream) + 16 }

// TimerSlots is the number of slots that the timers of a computation are stored
// in. Timers of one slot lie in order of trigger; those of a range are merged
// from its slots, where the first and the last may belong to others in part
// (D-14).
const TimerSlots = 1 << slotBits

const (
	slotBits = 10
	hashEnd  = 1 + 8 // the tag and the hash, which every key begins with
)

// TimerSlot is the slot of a key: the first bits of its hash, which follows one
// byte that all keys of a computation have in common (schema.AppendKey).
func TimerSlot(key string) int {
	return (int(byteAt(key, 1))<<8 | int(byteAt(key, 2))) >> (16 - slotBits)
}

func byteAt(key string, i int) byte {
	if i < len(key) {
		return key[i]
	}
	return 0
}

// TimerSlotsOf returns the slots [first, end) that keys in [lower, upper) are in.
func TimerSlotsOf(lower, upper string) (first, end int) {
	first = TimerSlot(lower)
	if upper == "" {
		return first, TimerSlots
	}
	end = TimerSlot(upper)
	if !slotBegins(upper) {
		end++
	}
	return first, end
}

// slotBegins tells whether a bound is the least one of its slot, so that no key
// of the slot is below it.
func slotBegins(bound string) bool {
	if len(bound) > hashEnd || byteAt(bound, 2)&(1<<(16-slotBits)-1) != 0 {
		return false
	}
	for i := 3; i < len(bound); i++ {
		if bound[i] != 0 {
			return false
		}
	}
	return true
}

// checkTimers checks the timers of a commit: names, and that each is there once
// in each list.
func (c *Commit) checkTimers() error {
	var problems []error
	for i := range c.TimersGone {
		problems = append(problems, checkName("timer stream", c.TimersGone[i].Stream))
		if i > 0 && c.TimersGone[i-1].Compare(c.TimersGone[i]) >= 0 {
			problems = append(problems, fmt.Errorf("it removes timer %+v out of order", c.TimersGone[i]))
		}
	}
	for i := range c.TimersSet {
		problems = append(problems, checkName("timer stream", c.TimersSet[i].Stream))
		if i > 0 && c.TimersSet[i-1].Compare(c.TimersSet[i].TimerID) >= 0 {
			problems = append(problems, fmt.Errorf("it sets timer %+v out of order", c.TimersSet[i]))
		}
	}
	return errors.Join(problems...)
}
