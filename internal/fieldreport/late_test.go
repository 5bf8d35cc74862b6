package fieldreport

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flowtest"
)

func TestR16APassThatCannotKeepItsPeriodSaysSoAndByHowMuch(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 4000
		w := newWorld(t, setting{period: 100 * time.Second, visitor: "max_visits_per_second = 16;"}) // 40 %
		w.fill(0, keys, nil)
		w.start()
		w.wait(w.period)
		message := w.life.problem("period_unreachable")
		if !strings.Contains(message, "needs 10") && !strings.Contains(message, "needs 9.") || !strings.Contains(message, "a pass takes about 4m") {
			t.Errorf("within a period it says %q: want that it needs 10 keys a second and a pass takes about 4m10s", message)
		}
		var claims []flowtest.Claim
		for range 9 {
			w.wait(67 * time.Second)
			claims = append(claims, w.claims()...)
		}
		l := w.rec.Committed()
		w.pause()
		const pass = 2.5
		w.check(flowtest.Honest(l, w.periods(pass)+time.Second, claims...),
			flowtest.Gap(l, w.periods(1.2*pass)), flowtest.Cover(l, w.periods(1.2*pass)), flowtest.Once(l))
	})
}

func TestR17BystandersDoNotDelayWhatIsDue(t *testing.T) {
	sizes := []uint64{0, 10_000, 100_000}
	if *long {
		sizes = append(sizes, 1_000_000)
	}
	for _, bystanders := range sizes {
		t.Run(fmt.Sprintf("%d bystanders", bystanders), func(t *testing.T) {
			play(t, func(t *testing.T) {
				const probes = 1000
				w := newWorld(t, setting{})
				w.quiet = true
				var lags times
				due := w.now() + 5*time.Second
				w.on = func(c *call) error {
					if c.visit != nil && c.found.Data != 0 && w.now() >= time.Duration(c.found.Data) {
						c.do = drop
						lags.add(w.now() - time.Duration(c.found.Data))
					}
					return nil
				}
				w.fill(0, probes+bystanders, func(key uint64) uint64 {
					if key < probes {
						return uint64(due)
					}
					return 0
				})
				w.start()
				w.wait(due + w.periods(1.2) - w.now())
				w.pause()
				all := lags.take()
				if len(all) != probes || flowtest.Percentile(all, 1) > w.periods(1.2) {
					t.Errorf("%d of %d are found, the last one after %s", len(all), probes, flowtest.Percentile(all, 1))
				}
			})
		})
	}
}

func TestR18ThePaceFollowsTheNumberOfKeys(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{period: 20 * time.Second})
		w.fill(0, 1000, nil)
		w.start()
		w.wait(w.periods(1.3)) // in the middle of the second pass
		for key := range uint64(9000) {
			w.send(1000+key, set)
		}
		w.wait(w.periods(2.2)) // of the fourth
		many := w.rec.Committed()
		for key := range uint64(9000) {
			w.send(1000+key, remove)
		}
		w.wait(w.periods(3))
		w.pause()
		claims, err := w.summaries()
		w.check(err)
		for _, c := range claims {
			if took := c.Took; took > w.periods(1.5) || took < w.periods(0.8) {
				t.Errorf("pass %d took %s", c.Pass, took)
			}
		}
		l := w.rec.Committed()
		w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)), flowtest.Once(l), flowtest.NoGhost(l))
		for from := time.Duration(0); from < many.End; from += w.period / 10 {
			if n := many.Visits(flowtest.Span{From: from, To: from + w.period/10}); n > 1300 {
				t.Errorf("%d visits in a tenth of a period from %s, of 10000 keys", n, from)
			}
		}
	})
}

func TestR19ALimitIsOfTheWholeStream(t *testing.T) {
	for _, partitions := range []int{4, 16} {
		t.Run(fmt.Sprintf("%d partitions", partitions), func(t *testing.T) {
			play(t, func(t *testing.T) {
				w := newWorld(t, setting{partitions: partitions, period: time.Second, visitor: "max_visits_per_second = 100;"})
				w.fill(0, 4000, nil)
				w.start()
				w.wait(60 * time.Second)
				w.pause()
				if n := w.rec.Committed().Visits(flowtest.Span{To: w.now()}); n < 5700 || n > 6300 {
					t.Errorf("%d visits in a minute: the limit is 100 a second", n)
				}
			})
		})
	}
}

func TestR21TheStatedBoundHoldsForEveryKeyUnderLoad(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{period: 5 * time.Second})
		w.messageCost, w.visitCost = 40*time.Millisecond, 400*time.Microsecond
		w.fill(0, 1000, nil)
		w.start()
		w.load(0.8*25*4, 1000, w.periods(100))
		w.pause()
		l := w.rec.Committed()
		w.check(flowtest.Gap(l, w.periods(1.2)), flowtest.Cover(l, w.periods(1.2)), flowtest.Once(l), flowtest.Fresh(l))
		w.passesAre(98, 100)
	})
}

func TestR51MemoryDoesNotGrowWithTheKeys(t *testing.T) {
	live := func(keys uint64) flowtest.Memory {
		w := newWorld(t, setting{period: 2 * time.Second, onDisk: true, visitor: "buffer_row_limit = 500; max_scan_rows_per_iteration = 1000;"})
		defer w.close()
		w.quiet = true
		var visits atomic.Int64
		var measuring sync.RWMutex // else what is made while the heap is collected counts, too
		w.on = func(c *call) error {
			if c.visit != nil {
				visits.Add(1)
			}
			measuring.RLock()
			defer measuring.RUnlock()
			return nil
		}
		heap := func() uint64 {
			measuring.Lock()
			defer measuring.Unlock()
			return flowtest.MeasureMemory().Heap
		}
		w.fill(0, keys, nil)
		base := flowtest.MeasureMemory()
		var heaps []uint64
		w.start()
		for ; visits.Load() < int64(keys); w.wait(100 * time.Millisecond) {
			heaps = append(heaps, heap())
		}
		w.pause()
		slices.Sort(heaps) // single ones hold what a compaction has in hand
		half := heaps[len(heaps)/2]
		return flowtest.Memory{Heap: half - min(base.Heap, half)}
	}
	few, many := live(20_000), live(300_000)
	t.Logf("a pass over 20 000 keys holds %d KiB, one over 300 000 %d KiB", few.Heap>>10, many.Heap>>10)
	if err := flowtest.Mem(few, many, 8<<20); err != nil {
		t.Error(err)
	}
}
