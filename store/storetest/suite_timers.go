package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// slotWidth is the number of hashes in a slot.
const slotWidth = 1 << 54

// timed is the encoded key of slot number slot whose hash is beyond the slot's
// begin by rest.
func timed(slot int, rest uint64) string {
	return string(schema.AppendHash(nil, uint64(slot)*slotWidth+rest))
}

// sets sets a timer; its event timestamp is its trigger unless one is given.
func sets(key string, trigger int64, stream string, event ...int64) func(*store.Commit) {
	return func(c *store.Commit) {
		t := store.Timer{TimerID: store.TimerID{Key: key, Trigger: trigger, Stream: stream}, Event: trigger}
		if len(event) > 0 {
			t.Event = event[0]
		}
		c.TimersSet = append(c.TimersSet, t)
		slices.SortFunc(c.TimersSet, func(a, b store.Timer) int { return a.Compare(b.TimerID) })
	}
}

// unsets removes a timer.
func unsets(key string, trigger int64, stream string) func(*store.Commit) {
	return func(c *store.Commit) {
		c.TimersGone = append(c.TimersGone, store.TimerID{Key: key, Trigger: trigger, Stream: stream})
		slices.SortFunc(c.TimersGone, store.TimerID.Compare)
	}
}

var timerTests = map[string]func(t *testing.T, h Harness){
	// D-14
	"timers of all slots come in order of trigger, then key": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, sets(timed(900, 0), 3, "t"), sets(timed(0, 7), 5, "t"), sets(timed(4, 1), -2, "t"),
			sets(timed(4, 0), 3, "t"), sets(timed(1023, slotWidth-1), 3, "t"), sets(timed(4, 1), 4, "t"))
		w.timed(store.TimerRequest{}, "-2@4+1 3@4 3@900 3@1023+18014398509481983 4@4+1 5@0+7 end")
	},
	"a stream does not see the timers of others, nor a computation": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, sets(timed(1, 0), 1, "t"), sets(timed(1, 0), 1, "tt"), sets(timed(1, 0), 2, "tt"))
		w.must(2, sets(timed(1, 0), 9, "t"))
		w.timed(store.TimerRequest{}, "1@1 end")
		w.timed(store.TimerRequest{Stream: "tt"}, "1@1 2@1 end")
		w.timed(store.TimerRequest{Stream: "unknown"}, "end")
		w.timed(store.TimerRequest{Computation: "right"}, "9@1 end")
		w.timed(store.TimerRequest{Computation: "unknown"}, "end")
	},
	"a range cuts slots at both ends": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		for i, key := range []string{timed(2, 5), timed(2, 6), timed(3, 0), timed(4, 0), timed(4, 6), timed(4, 7)} {
			w.must(0, sets(key, int64(10-i), "t"))
		}
		w.timed(store.TimerRequest{Lower: timed(2, 6), Upper: timed(4, 7)}, "6@4+6 7@4 8@3 9@2+6 end")
		w.timed(store.TimerRequest{Lower: timed(2, 7), Upper: timed(4, 0)}, "8@3 end")
		w.timed(store.TimerRequest{Lower: timed(4, 7)}, "5@4+7 end")
		w.timed(store.TimerRequest{Upper: timed(2, 6)}, "10@2+5 end")
		w.timed(store.TimerRequest{Lower: timed(3, 1), Upper: timed(3, 1)}, "end")
		w.timed(store.TimerRequest{Lower: timed(4, 0), Upper: timed(3, 0)}, "end")
	},
	"limits cut the merged order, and an answer says whether it is the end": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		for i := range 6 {
			w.must(0, sets(timed(170*i, 0), int64(6-i), "t"))
		}
		w.timed(store.TimerRequest{MaxRows: 2}, "1@850 2@680 more")
		w.timed(store.TimerRequest{MaxRows: 6}, "1@850 2@680 3@510 4@340 5@170 6@0 end")
		w.timed(store.TimerRequest{MaxRows: 2, After: store.TimerPlace{Trigger: 2, Key: timed(680, 0)}}, "3@510 4@340 more")
		w.timed(store.TimerRequest{MaxRows: 2, After: store.TimerPlace{Trigger: 4, Key: timed(340, 0)}}, "5@170 6@0 end")
		w.timed(store.TimerRequest{After: store.TimerPlace{Trigger: 4}}, "4@340 5@170 6@0 end")
		size := (&store.Timer{TimerID: store.TimerID{Key: timed(0, 0), Stream: "t"}}).Size()
		w.timed(store.TimerRequest{MaxBytes: 1}, "1@850 more")
		w.timed(store.TimerRequest{MaxBytes: 3*size - 1}, "1@850 2@680 more")
		w.timed(store.TimerRequest{MaxBytes: 3 * size}, "1@850 2@680 3@510 more")
	},
	"setting a timer again keeps the smaller event timestamp": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		for _, event := range []int64{-5, -9, 3} {
			w.must(0, sets(timed(1, 0), 7, "t", event))
		}
		w.timed(store.TimerRequest{}, "7@1(-9) end")
	},
	"the least event timestamp of a range beyond a place, and nothing if there is none": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, sets(timed(1, 0), 7, "t", 5), sets(timed(2, 0), 8, "t", -9), sets(timed(900, 0), 9, "t", 4), sets(timed(1, 0), 9, "tt", -20))
		w.leastEvent(store.TimerRequest{}, "-9 true")
		w.leastEvent(store.TimerRequest{MaxRows: 1}, "-9 true")
		w.leastEvent(store.TimerRequest{After: store.TimerPlace{Trigger: 8, Key: timed(2, 0)}}, "4 true")
		w.leastEvent(store.TimerRequest{Lower: timed(1, 0), Upper: timed(1, 1)}, "5 true")
		w.leastEvent(store.TimerRequest{Lower: timed(3, 0), Upper: timed(4, 0)}, "0 false")
		w.leastEvent(store.TimerRequest{Computation: "unknown"}, "0 false")
	},
	// D-14: a firing's deletion comes before a re-set.
	"a timer that goes and is set in one commit is there, with its new event timestamp": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, sets(timed(1, 0), 7, "t", 1), sets(timed(2, 0), 7, "t"))
		w.must(0, unsets(timed(1, 0), 7, "t"), unsets(timed(2, 0), 7, "t"), sets(timed(1, 0), 7, "t", 5))
		w.timed(store.TimerRequest{}, "7@1(5) end")
		w.keyTimers(timed(1, 0), "7/t")
		w.keyTimers(timed(2, 0), "")
	},
	"removing a timer that is not there does nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, sets(timed(1, 0), 7, "t"))
		w.must(0, unsets(timed(1, 0), 7, "tt"), unsets(timed(1, 0), 6, "t"), unsets(timed(9, 0), 7, "t"))
		w.timed(store.TimerRequest{}, "7@1 end")
	},
	"a key's timers are found by its key": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		key := timed(1, 0) + "\x05\x00\x01"
		w.must(0, sets(key, 7, "t"), sets(key, -7, "tt"), sets(key, 7, "s"), sets(timed(1, 0)+"\x05\x00\xff\x00\x01", 1, "t"))
		w.must(2, sets(key, 8, "t"))
		w.keyTimers(key, "-7/tt 7/s 7/t")
		w.keyTimers(timed(5, 0), "")
		got, err := w.KeyTimers(w.ctx, "left", []string{timed(5, 0), key, key})
		w.check(err)
		w.equal("counts", []int{len(got[0]), len(got[1]), len(got[2])}, []int{0, 3, 3})
		w.must(0, unsets(key, -7, "tt"), unsets(key, 7, "s"), unsets(key, 7, "t"))
		w.keyTimers(key, "")
	},
	"a commit that names a timer twice, or no stream, is refused": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.refuses(nil, w.commit(0, sets("a", 1, "t"), sets("a", 1, "t")))
		w.refuses(nil, w.commit(0, unsets("a", 1, "t"), unsets("a", 1, "t")))
		w.refuses(nil, w.commit(0, sets("a", 1, "")))
		w.refuses(nil, w.commit(0, unsets("a", 1, "a\x00")))
	},
	"pages over all slots add up to the whole": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		c := w.commit(0)
		const n = 3 * store.TimerSlots
		for i := range n {
			trigger := int64(i*7919%n) - n/2
			sets := store.Timer{TimerID: store.TimerID{Key: timed(i%store.TimerSlots, uint64(i)), Trigger: trigger, Stream: "t"}}
			c.TimersSet = append(c.TimersSet, sets)
		}
		slices.SortFunc(c.TimersSet, func(a, b store.Timer) int { return a.Compare(b.TimerID) })
		w.check(w.Commit(w.ctx, c))
		for _, r := range []store.TimerRequest{{}, {MaxRows: 100}, {MaxBytes: 5000}} {
			r.Computation, r.Stream, r.After = "left", "t", store.TimersFront
			w.equal(fmt.Sprintf("pages of %+v", r), w.timerPages(r), c.TimersSet)
		}
	},
}

// timerPages reads page by page.
func (w *world) timerPages(r store.TimerRequest) (all []store.Timer) {
	w.t.Helper()
	for {
		a, err := w.ListTimers(w.ctx, r)
		w.check(err)
		all = append(all, a.Timers...)
		if a.End {
			return all
		}
		r.After = all[len(all)-1].Place()
	}
}

// timed compares one answer, by default of stream "t" of "left" from the front.
func (w *world) timed(r store.TimerRequest, want string) {
	w.t.Helper()
	r = defaultTimers(r)
	a, err := w.ListTimers(w.ctx, r)
	w.check(err)
	w.equal(fmt.Sprintf("timers %+v", r), describeTimers(a), want)
}

func defaultTimers(r store.TimerRequest) store.TimerRequest {
	r.Computation, r.Stream = cmp.Or(r.Computation, "left"), cmp.Or(r.Stream, "t")
	if r.After == (store.TimerPlace{}) {
		r.After = store.TimersFront
	}
	return r
}

func (w *world) leastEvent(r store.TimerRequest, want string) {
	w.t.Helper()
	least, any, err := w.LeastTimerEvent(w.ctx, defaultTimers(r))
	w.check(err)
	w.equal(fmt.Sprintf("least event of %+v", r), fmt.Sprint(least, " ", any), want)
}

// describeTimers prints trigger@slot+rest(event) for each timer.
func describeTimers(a *store.TimerAnswer) string {
	var b strings.Builder
	for _, t := range a.Timers {
		fmt.Fprintf(&b, "%d@%d", t.Trigger, store.TimerSlot(t.Key))
		if hash, err := schema.KeyHash(t.Key); err == nil && hash%slotWidth != 0 {
			fmt.Fprintf(&b, "+%d", hash%slotWidth)
		} else if err != nil {
			fmt.Fprintf(&b, "%q", t.Key)
		}
		if t.Event != t.Trigger {
			fmt.Fprintf(&b, "(%d)", t.Event)
		}
		b.WriteByte(' ')
	}
	if a.End {
		return b.String() + "end"
	}
	return b.String() + "more"
}

func (w *world) keyTimers(key, want string) {
	w.t.Helper()
	got, err := w.KeyTimers(w.ctx, "left", []string{key})
	w.check(err)
	parts := make([]string, len(got[0]))
	for i, id := range got[0] {
		parts[i] = fmt.Sprintf("%d/%s", id.Trigger, id.Stream)
	}
	w.equal("timers of the key", strings.Join(parts, " "), want)
}
