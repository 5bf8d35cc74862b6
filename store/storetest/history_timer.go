package storetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/store"
)

var timerStreams = []string{"t", "tt"}

func timerKeys() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		slot := rapid.SampledFrom([]int{0, 1, 511, 512, 1023}).Draw(t, "slot")
		return timed(slot, rapid.SampledFrom([]uint64{0, 1, slotWidth - 1}).Draw(t, "rest"))
	})
}

func triggers() *rapid.Generator[int64] { return rapid.Int64Range(-3, 3) }

func (g *history) drawTimers(t *rapid.T, c *store.Commit) {
	named := map[string]bool{}
	for range rapid.IntRange(0, 4).Draw(t, "timers") {
		key, trigger := timerKeys().Draw(t, "timer key"), triggers().Draw(t, "trigger")
		stream := rapid.SampledFrom(timerStreams).Draw(t, "timer stream")
		what := rapid.IntRange(0, 2).Draw(t, "set or remove")
		if at := fmt.Sprint(key, trigger, stream); named[at] {
			continue
		} else {
			named[at] = true
		}
		if what != 1 {
			sets(key, trigger, stream, rapid.Int64Range(-2, 2).Draw(t, "event"))(c)
		}
		if what != 0 {
			unsets(key, trigger, stream)(c)
		}
	}
}

// timers compares a page and a key's timers.
func (g *history) timers(t *rapid.T) {
	r := store.TimerRequest{
		Computation: "left", Stream: rapid.SampledFrom(timerStreams).Draw(t, "stream"), After: store.TimersFront,
		MaxRows: rapid.IntRange(0, 3).Draw(t, "rows"), MaxBytes: rapid.IntRange(0, 90).Draw(t, "bytes"),
	}
	if rapid.Bool().Draw(t, "a range") {
		r.Lower, r.Upper = timerKeys().Draw(t, "lower"), timerKeys().Draw(t, "upper")
	}
	if rapid.Bool().Draw(t, "a place") {
		r.After = store.TimerPlace{Trigger: triggers().Draw(t, "after"), Key: timerKeys().Draw(t, "after key")}
	}
	key := timerKeys().Draw(t, "key")
	g.same(t, fmt.Sprintf("timers %+v", r), func(w *world) string {
		a, err := w.ListTimers(w.ctx, r)
		w.check(err)
		ids, err := w.KeyTimers(w.ctx, "left", []string{key})
		w.check(err)
		least, any, err := w.LeastTimerEvent(w.ctx, r)
		w.check(err)
		return describeTimers(a) + fmt.Sprintf("%+v %d %v", ids, least, any)
	})
}

// dumpTimers prints all timers of a computation, as they come from either row.
func (w *world) dumpTimers(computation string) string {
	w.t.Helper()
	var b strings.Builder
	for _, stream := range timerStreams {
		a, err := w.ListTimers(w.ctx, store.TimerRequest{Computation: computation, Stream: stream, After: store.TimersFront})
		w.check(err)
		fmt.Fprintf(&b, "%s %s ", stream, describeTimers(a))
		for _, t := range a.Timers {
			of, err := w.KeyTimers(w.ctx, computation, []string{t.Key})
			w.check(err)
			fmt.Fprintf(&b, "%d ", len(of[0]))
		}
	}
	return b.String()
}
