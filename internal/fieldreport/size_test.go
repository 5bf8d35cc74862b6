package fieldreport

import (
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

func TestR52DeletedKeysLeaveNothingBehind(t *testing.T) {
	alone(t, func(t *testing.T) {
		keys, rounds := size(10_000, 1_000_000), 10
		w := newWorld(t, setting{period: time.Second, model: true})
		w.quiet = true
		w.start()
		var first flowtest.Memory
		for round := range rounds {
			for _, op := range []int64{set, remove} {
				for key := range keys {
					w.send(key, op)
				}
				w.wait(w.periods(2))
			}
			if rows := w.rows(); len(rows) != 0 {
				t.Fatalf("%d keys are left after round %d", len(rows), round)
			}
			w.feed.forget()
			if m := flowtest.MeasureMemory(); round == 1 {
				first = m
			} else if round == rounds-1 {
				w.check(flowtest.Mem(first, m, 2<<20))
			}
		}
		w.pause()
	})
}

func TestR55EmptyPartitionsCostNothingAndTheFirstKeyIsVisited(t *testing.T) {
	for name, c := range map[string]struct{ partitions, buckets, keys int }{
		"no key":                        {4, 2, 0},
		"one key":                       {4, 2, 1},
		"one of 200 partitions":         {200, 2, 50},
		"one of 1000 buckets":           {200, 5, 50},
		"one of 1000, in one partition": {1, 1000, 50},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				w := newWorld(t, setting{partitions: c.partitions, buckets: c.buckets, period: time.Minute, visitor: `background_fill_period = "6s";`,
					hash: func(key uint64) uint64 { return 1<<40 + key }})
				w.fill(0, uint64(c.keys), nil)
				w.start()
				w.wait(w.periods(3.2))
				w.passesAre(3, 3)
				lists, commits := w.store.lists.Load(), w.store.commits.Load()
				w.wait(w.period)
				// A tick is a tenth of the period, and each bucket is read at least once.
				most := int64(w.partitions * max(12, 2*w.buckets+4))
				if l, c := w.store.lists.Load()-lists, w.store.commits.Load()-commits; l > most || c > int64(13*w.partitions) {
					t.Errorf("%d lists and %d commits of %d partitions in a period", l, c, w.partitions)
				}
				if w.life.restarts() > 0 || w.life.problem("background_fill") != "" {
					t.Error("empty partitions are in trouble")
				}
				w.send(10_000, set)
				w.wait(w.periods(1.2))
				w.pause()
				l := w.rec.Committed()
				w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Once(l), flowtest.Gap(l, w.periods(1.2)))
				if n := l.Visits(flowtest.Span{To: w.now()}); n == 0 {
					t.Error("the first key has no visit")
				}
			})
		})
	}
}

func TestR56OneHotPartitionHoldsNoOtherUp(t *testing.T) {
	const keys = 6400
	hot := func(key uint64) uint64 { // nine of ten keys in the fourth of 64 partitions
		if key%10 != 0 {
			return 3<<58 + scatter(key)>>6
		}
		return scatter(key)
	}
	for name, c := range map[string]struct {
		hash func(uint64) uint64
		cost time.Duration
		late bool
	}{
		"which keeps up":     {hot, time.Millisecond, false},
		"which cannot":       {hot, 5 * time.Millisecond, true},
		"of sequential keys": {func(key uint64) uint64 { return key }, 100 * time.Microsecond, false},
		"of a common prefix": {func(key uint64) uint64 { return 0xabcdef<<40 + key }, 100 * time.Microsecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				w := newWorld(t, setting{partitions: 64, hash: c.hash})
				w.visitCost = c.cost
				w.fill(0, keys, nil)
				w.start()
				w.wait(w.periods(4.4))
				said := w.life.problem("period_unreachable")
				w.pause()
				l := w.rec.Committed()
				if c.late {
					if !strings.Contains(said, "a pass takes about") {
						t.Errorf("what is said of the hot partition is %q", said)
					}
					slow := owns(w.ranges()[3])
					l = l.Where(func(k flow.Key) bool { return !slow(k) })
				} else if said != "" {
					t.Errorf("it says %q", said)
				}
				w.check(flowtest.Cover(l, w.periods(1.3)), flowtest.Gap(l, w.periods(1.3)), flowtest.Once(l))
			})
		})
	}
}
