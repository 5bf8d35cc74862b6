package datagen

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/connector"
)

// readFor returns how many rows come until the time is over, and how many
// batches they come in.
func readFor(t *testing.T, r connector.Reader, d time.Duration) (rows, batches int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for {
		b, err := r.Read(ctx, connector.Limit{Rows: 1000, Bytes: 1 << 30})
		if errors.Is(err, context.DeadlineExceeded) {
			return rows, batches
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, batches = rows+len(b.Rows), batches+1
	}
}

// TestRowsComeAtTheirRate: the clock is virtual, so the numbers are exact.
func TestRowsComeAtTheirRate(t *testing.T) {
	for params, want := range map[string]struct{ rows, batches int }{
		"rate=1":                   {10, 10},
		"rate=0.25":                {3, 3},
		"rate=100; partitions=4":   {250, 250},
		"rate=1000":                {10000, 1000},
		"rate=150":                 {1500, 1500},
		"rate=500000":              {5000000, 5000},
		"rate=1e-9":                {1, 1},
		"rate=1000; count=2000":    {2000, 200},
		"rate=2500; partitions=10": {2500, 1250},
	} {
		t.Run(params, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, mustSource(t, params, "k uint64"), "0")
				rows, batches := readFor(t, r, 10*time.Second-time.Millisecond)
				if rows != want.rows || batches != want.batches {
					t.Errorf("%d rows in %d batches, want %d in %d", rows, batches, want.rows, want.batches)
				}
			})
		})
	}
}

func TestWhatWasNotTakenIsMadeUpForWithinBounds(t *testing.T) {
	for pause, want := range map[time.Duration]int{300 * time.Millisecond: 300 + 500, time.Hour: 1000 + 500} {
		t.Run(pause.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := open(t, mustSource(t, "rate=1000", "k uint64"), "0")
				if rows, _ := readFor(t, r, 95*time.Millisecond); rows != 100 {
					t.Fatalf("%d rows before the pause", rows)
				}
				<-time.After(pause)
				if rows, _ := readFor(t, r, 497*time.Millisecond); rows != want {
					t.Errorf("%d rows after the pause, want %d", rows, want)
				}
			})
		})
	}
}

func TestAWaitingReadEndsWithItsContext(t *testing.T) {
	for _, params := range []string{"rate=0.001", "count=1"} {
		synctest.Test(t, func(t *testing.T) {
			r := open(t, mustSource(t, params, "k uint64"), "0")
			start := time.Now()
			if rows, _ := readFor(t, r, 3*time.Second); rows != 1 || time.Since(start) != 3*time.Second {
				t.Errorf("%s: %d rows in %s", params, rows, time.Since(start))
			}
		})
	}
}
