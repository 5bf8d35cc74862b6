package fieldreport

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

func TestR01OneBlockedPartitionStopsNoOther(t *testing.T) {
	alone(t, func(t *testing.T) {
		w := newWorld(t, setting{partitions: 8, period: time.Second})
		w.fill(0, 1600, nil)
		blocked := owns(w.ranges()[3])
		const block, blockFor = 7, 10 * time.Second
		w.on = func(c *call) error {
			if c.message != nil && c.message.Payload.Int64("op") == block {
				take(blockFor)
			}
			return nil
		}
		w.start()
		w.wait(2 * time.Second)
		goroutines := runtime.NumGoroutine()
		at := w.now()
		w.send(w.keyOf(blocked), block)
		for w.now() < at+blockFor {
			w.send(uint64(w.rng.IntN(1600)), set) // some of them wait behind the blocked one
			w.wait(20 * time.Millisecond)
		}
		const lists = 8 // one of each partition may be under way at either moment
		if n := runtime.NumGoroutine(); n > goroutines+lists {
			t.Errorf("%d goroutines while a partition is blocked, %d before", n, goroutines)
		}
		released := w.now()
		w.wait(10 * time.Second)
		w.pause()
		l := w.rec.Committed()
		healthy := l.Where(func(k flow.Key) bool { return !blocked(k) })
		w.check(flowtest.Gap(healthy, w.periods(1.2)), flowtest.Cover(healthy, w.periods(1.2)),
			flowtest.Once(l), flowtest.Fresh(l))
		freed := l.Where(blocked)
		keys := len(freed.Since(released).Where(blocked).Events) - freed.Visits(flowtest.Span{From: released, To: w.now()})
		if n := freed.Visits(flowtest.Span{From: released, To: released + time.Second}); n > keys*13/10 {
			t.Errorf("%d visits in the period after the release, of %d keys: more than one paced pass", n, keys)
		}
		w.check(flowtest.Smooth(freed, flowtest.Span{From: released + time.Second, To: released + 9*time.Second}, 8, 0.8, 1.2))
	})
}

func TestR02VisitsKeepTheirShareUnderFullLoad(t *testing.T) {
	const keys = 10_000
	for name, load := range map[string]float64{"at capacity": 1, "beyond capacity": 1.2} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T) {
				w := newWorld(t, setting{partitions: 2, period: 8 * time.Second, dynamic: "max_rows_per_batch = 60;"})
				w.messageCost, w.visitCost = 10*time.Millisecond, 2*time.Millisecond
				w.fill(0, keys, nil)
				w.start()
				const messages = 200 // a second, what two partitions can take
				for range 160 {
					for range int(messages * load) {
						w.send(uint64(w.rng.IntN(keys)), set)
					}
					w.wait(time.Second)
				}
				// A quarter of the time makes 125 visits a second in each partition.
				l := w.rec.Committed()
				rate := 2 * 0.25 / w.visitCost.Seconds()
				if got := float64(l.Visits(flowtest.Span{To: w.now()})) / w.now().Seconds(); got < 0.95*rate {
					t.Errorf("%.0f visits a second, their share is %.0f", got, rate)
				}
				slowest := time.Duration(keys / rate * 1.2 * float64(time.Second))
				w.check(flowtest.Gap(l, slowest), flowtest.Cover(l, slowest), flowtest.Once(l), flowtest.Fresh(l))
				if message := w.life.problem("period_unreachable"); !strings.Contains(message, "a pass takes about") {
					t.Errorf("what is shown of it is %q", message)
				}
				w.pause()
			})
		})
	}
}

func TestR05HalfTheCapacityAndManyRestartsLeaveNobodyOut(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		w.fill(0, 1000, nil)
		w.visitCost = 80 * time.Millisecond // a pass takes two periods at the least
		for w.now() < w.periods(50) {
			w.start()
			w.wait(time.Duration(w.rng.Int64N(int64(w.periods(1.2)))))
			w.kill()
		}
		l := w.rec.Committed()
		w.check(flowtest.Cover(l, w.periods(3)), flowtest.Once(l), flowtest.Fresh(l))
		if oldest, mean := ages(l); oldest >= 3*mean {
			t.Errorf("the least recently visited key waits for %s, %.1f times the mean of %s: want less than 3 times", oldest, float64(oldest)/float64(mean), mean)
		}
	})
}

// ages are how long ago keys were visited at the end of a log, the longest and
// the mean.
func ages(l *flowtest.Log) (oldest, mean time.Duration) {
	last := map[string]time.Duration{}
	for _, e := range l.Events {
		last[e.Key.Encoded()] = e.At
	}
	for _, at := range last {
		oldest, mean = max(oldest, l.End-at), mean+l.End-at
	}
	return oldest, mean / time.Duration(len(last))
}

func TestR07ABandOfKeysThatCannotBeRemovedIsPassed(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys, band = 6000, 5000
		w := newWorld(t, setting{partitions: 1, buckets: 1, skips: true,
			visitor: "max_scan_rows_per_iteration = 1000; buffer_row_limit = 1000;",
			hash:    func(key uint64) uint64 { return key * (1 << 63 / keys * 2) }})
		w.on = func(c *call) error {
			if c.visit != nil && c.key < band {
				return errRefused
			}
			return nil
		}
		w.fill(0, keys, nil)
		w.start()
		w.wait(w.periods(5.5))
		w.passesAre(4, 5)
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)), flowtest.Once(l))
	})
}
