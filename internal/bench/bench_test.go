package bench

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// measure gives rates of the pipeline and its floor, and their ratio.
func measure(b *testing.B, what string, run func(context.Context, Config) (*Result, error), count int) {
	var all Result
	for b.Loop() {
		r, err := run(b.Context(), Config{Partitions: 16, Keys: 100_000, Count: count, Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		all.Add(r)
	}
	b.ReportMetric(all.Rate(), what+"/s")
	b.ReportMetric(all.FloorRate(), "floor/s")
	b.ReportMetric(all.OfFloor(), "of-floor")
}

// BenchmarkMessages: one iteration is 200 000 messages.
func BenchmarkMessages(b *testing.B) { measure(b, "messages", Messages, 200_000) }

// BenchmarkVisits: one iteration is a million visits.
func BenchmarkVisits(b *testing.B) { measure(b, "visits", Visits, 1_000_000) }

// TestSmallRunsMeasureWhatTheySay, whatever the numbers do not divide by.
func TestSmallRunsMeasureWhatTheySay(t *testing.T) {
	for what, run := range map[string]func(context.Context, Config) (*Result, error){"messages": Messages, "visits": Visits} {
		t.Run(what, func(t *testing.T) {
			stages := map[string]float64{}
			r, err := run(t.Context(), Config{
				Partitions: 3, Keys: 71, Count: 2003, Dir: t.TempDir(),
				Progress: func(stage string, done float64) { stages[stage] = done },
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.Count != 2003 || r.Pipeline <= 0 || r.Floor <= 0 {
				t.Errorf("got %+v", r)
			}
			if stages["floor"] != 1 {
				t.Errorf("the floor was told to be done to %v", stages["floor"])
			}
		})
	}
}

func TestACancelledMeasurementStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Visits(ctx, Config{Partitions: 2, Keys: 10, Count: math.MaxInt, Dir: t.TempDir(), Progress: func(stage string, _ float64) {
		if stage == "pipeline" {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestResultsAddUp(t *testing.T) {
	r := Result{Count: 100, Pipeline: 2 * time.Second, Floor: time.Second}
	r.Add(&Result{Count: 300, Pipeline: 2 * time.Second, Floor: 2 * time.Second})
	if r.Rate() != 100 || r.FloorRate() != 400.0/3 || r.OfFloor() != 0.75 {
		t.Errorf("rate %v, floor %v, of it %v", r.Rate(), r.FloorRate(), r.OfFloor())
	}
}

func TestNumbersThatMakeNoSenseAreRefused(t *testing.T) {
	for _, c := range []Config{{Keys: 10, Count: 10}, {Partitions: 20_000, Keys: 30_000, Count: 10}, {Partitions: 3, Keys: 2, Count: 10}, {Partitions: 3, Keys: 10}} {
		if c.Check() == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if c := (Config{Partitions: 3, Keys: 3, Count: 1}); c.Check() != nil {
		t.Errorf("%+v: %v", c, c.Check())
	}
}
