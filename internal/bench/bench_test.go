package bench

import (
	"context"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

const (
	partitions = 16
	keys       = 100_000
	batch      = 1000
)

func open(b *testing.B) store.Store {
	b.Helper()
	s, err := pebblestore.Open(b.TempDir(), pebblestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func pipeline(b *testing.B, s Setup) *engine.Pipeline {
	b.Helper()
	p, err := s.Pipeline(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func floor(b *testing.B) *Floor {
	b.Helper()
	f, err := NewFloor(b.Context(), open(b), partitions, batch, keys)
	if err != nil {
		b.Fatal(err)
	}
	if err := f.Fill(b.Context()); err != nil {
		b.Fatal(err)
	}
	return f
}

// report gives rates of the pipeline and its floor, and their ratio.
func report(b *testing.B, what string, rate, floor float64) {
	b.ReportMetric(rate, what+"/s")
	b.ReportMetric(floor, "floor/s")
	b.ReportMetric(rate/floor, "of-floor")
}

// BenchmarkMessages counts messages by key, over two hops: source to inbox, inbox
// to state. One iteration is 200 000 messages.
func BenchmarkMessages(b *testing.B) {
	const n = 200_000
	var spent, bare time.Duration
	for b.Loop() {
		p := pipeline(b, Setup{Counters: partitions, Sources: 4, Keys: keys, Messages: n})
		sum, err := p.Run(b.Context(), open(b))
		if err != nil {
			b.Fatal(err)
		}
		if sum.Messages != n {
			b.Fatalf("%d messages, want %d", sum.Messages, n)
		}
		spent += sum.Elapsed
		d, err := floor(b).Messages(b.Context(), n)
		if err != nil {
			b.Fatal(err)
		}
		bare += d
	}
	total := float64(n * b.N)
	report(b, "messages", total/spent.Seconds(), total/bare.Seconds())
}

// BenchmarkVisits visits keys whose handler does nothing. One iteration is a
// million visits.
func BenchmarkVisits(b *testing.B) {
	const n = 1_000_000
	var spent, bare time.Duration
	for b.Loop() {
		spent += visits(b, n)
		d, err := floor(b).Visits(b.Context(), n)
		if err != nil {
			b.Fatal(err)
		}
		bare += d
	}
	total := float64(n * b.N)
	report(b, "visits", total/spent.Seconds(), total/bare.Seconds())
}

// visits runs a pipeline until its keys are there, and then measures how long n
// visits take.
func visits(b *testing.B, n uint64) time.Duration {
	p := pipeline(b, Setup{Counters: partitions, Sources: 4, Keys: keys, Messages: keys, Period: "1ms", Endless: true})
	ended := make(chan error, 1)
	s := open(b)
	go func() {
		_, err := p.Run(context.WithoutCancel(b.Context()), s)
		ended <- err
	}()
	until := func(reached func(engine.Status) bool) (uint64, time.Time) {
		for {
			select {
			case err := <-ended:
				b.Fatal("the pipeline ended early: ", err)
			case now := <-time.After(5 * time.Millisecond):
				if s := p.Status(); reached(s) {
					return s.Visits, now
				}
			}
		}
	}
	before, began := until(consumed)
	after, end := until(func(s engine.Status) bool { return s.Visits >= before+n })
	p.Pause()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	return time.Duration(float64(end.Sub(began)) * float64(n) / float64(after-before))
}

// consumed tells that the counters have taken every message.
func consumed(s engine.Status) bool {
	var taken uint64
	for _, p := range s.Partitions {
		if p.Kind == store.RangePartition {
			taken += p.Totals.Messages
		}
	}
	return taken == keys
}
