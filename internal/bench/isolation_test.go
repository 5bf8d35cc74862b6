package bench

import (
	"slices"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/yson"
)

// The load that isolation is measured at: calls of this cost, and keys enough
// for a pass that goes on all the time.
const (
	isolationCost = 20 * time.Microsecond
	isolationKeys = 100_000
)

// capacity is how many messages a second the pipeline takes without visits.
func capacity(b *testing.B) float64 {
	b.Helper()
	w := &watched{rate: 1e6, keys: isolationKeys, cost: isolationCost}
	s := w.filled(b, w.counted)
	defer s.Close()
	var rate float64
	w.run(b, s, func(*engine.Pipeline) {
		wait(time.Second)
		before := w.messages.Load()
		wait(2 * time.Second)
		rate = float64(w.messages.Load()-before) / 2
	})
	return rate
}

// Visits are turned on and off in turns of sliceLength, so that both see the same
// disk and the same machine; what is due in settleTime after a turn began
// belongs to neither.
const (
	sliceLength = 400 * time.Millisecond
	settleTime  = 100 * time.Millisecond
	pairSlices  = 8
)

// pair measures one pair: the 99th percentile of the messages' latency while
// visits are off and while they are on.
func (w *watched) pair(b *testing.B, p *engine.Pipeline) (off, on time.Duration) {
	b.Helper()
	var began [pairSlices]time.Duration
	for i := range began {
		enabled := yson.Boolean(i%2 == 1)
		if _, err := p.SetDynamic(b.Context(), "computations.counter.key_visitor_streams.sweep.enabled", enabled, 0); err != nil {
			b.Fatal(err)
		}
		began[i] = time.Since(w.origin)
		wait(sliceLength)
	}
	wait(settleTime)
	var took [2][]time.Duration
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.done {
		for i, at := range began {
			if d.due >= at+settleTime && d.due < at+sliceLength {
				took[i%2] = append(took[i%2], d.took)
			}
		}
	}
	w.done = nil
	return flowtest.Percentile(took[0], 0.99), flowtest.Percentile(took[1], 0.99)
}

// BenchmarkIsolation: the median of five pairs; a message at a fifth of the
// capacity takes at most 1.5 times as long beside visits of 10 000 keys a second
// as without.
func BenchmarkIsolation(b *testing.B) {
	rate := 0.2 * capacity(b)
	for b.Loop() {
		w := &watched{rate: rate, keys: isolationKeys, cost: isolationCost, period: "10s"}
		var ratios, offs, ons []float64
		w.run(b, w.filled(b, w.counted), func(p *engine.Pipeline) {
			wait(500 * time.Millisecond)
			for range 5 {
				before := w.visits.Load()
				off, on := w.pair(b, p)
				if n := w.visits.Load() - before; n < isolationKeys/20 {
					b.Fatalf("%d visits in a pair", n)
				}
				offs, ons = append(offs, off.Seconds()*1e3), append(ons, on.Seconds()*1e3)
				ratios = append(ratios, float64(on)/float64(off))
			}
		})
		b.ReportMetric(median(offs), "off-p99-ms")
		b.ReportMetric(median(ons), "on-p99-ms")
		ratio := median(ratios)
		b.ReportMetric(ratio, "on/off")
		if ratio > 1.5 {
			missed(b, "99 of 100 messages take %.2f times as long beside visits, at most 1.5 (pairs: %.2f)", ratio, ratios)
		}
	}
}

func median(of []float64) float64 { return slices.Sorted(slices.Values(of))[len(of)/2] }

// overloadTime is long beside what an epoch owes to the next ones.
const overloadTime = 10 * time.Second

// BenchmarkOverload: with more messages than it can take, a pass still has its
// share of the processing time, a quarter.
func BenchmarkOverload(b *testing.B) {
	rate := 1.2 * capacity(b)
	for b.Loop() {
		w := &watched{rate: rate, keys: isolationKeys, cost: isolationCost, period: "100ms"}
		var visits, messages float64
		w.run(b, w.filled(b, w.counted), func(*engine.Pipeline) {
			wait(time.Second)
			v, m := w.visits.Load(), w.messages.Load()
			wait(overloadTime)
			visits, messages = float64(w.visits.Load()-v), float64(w.messages.Load()-m)
		})
		share := visits / (visits + messages)
		b.ReportMetric(share, "share")
		b.ReportMetric(visits/overloadTime.Seconds(), "visits/s")
		b.ReportMetric(messages/overloadTime.Seconds(), "messages/s")
		if share < 0.25*0.9 {
			missed(b, "visits had %.3f of the processing time, their share is 0.25", share)
		}
	}
}

// BenchmarkDisabled: a visit stream that is disabled costs messages nothing.
func BenchmarkDisabled(b *testing.B) {
	for b.Loop() {
		var without, with []float64
		for range 3 {
			for _, w := range []*watched{{}, {period: "1d", more: "enabled = %false;"}} {
				w.rate, w.keys = 1e6, isolationKeys
				var rate float64
				w.run(b, w.filled(b, w.counted), func(*engine.Pipeline) {
					wait(500 * time.Millisecond)
					before := w.messages.Load()
					wait(2 * time.Second)
					rate = float64(w.messages.Load()-before) / 2
				})
				if w.period == "" {
					without = append(without, rate)
				} else {
					with = append(with, rate)
				}
				if n := w.visits.Load(); n > 0 {
					b.Errorf("%d visits", n)
				}
			}
		}
		b.ReportMetric(median(without), "without/s")
		b.ReportMetric(median(with), "disabled/s")
		b.ReportMetric(median(with)/median(without), "of-without")
		if median(with) < 0.9*median(without) {
			missed(b, "%.0f messages a second with a disabled stream, %.0f without", median(with), median(without))
		}
	}
}
