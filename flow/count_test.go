package flow_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"pgregory.net/rapid"
)

// TestCountsStopAtTheEndsOfTheirRange: they are the sum of unbounded numbers,
// brought into range.
func TestCountsStopAtTheEndsOfTheirRange(t *testing.T) {
	near := rapid.OneOf(rapid.Int64(), rapid.Int64Range(math.MaxInt64-2, math.MaxInt64), rapid.Int64Range(math.MinInt64, math.MinInt64+2), rapid.Int64Range(-2, 2))
	rapid.Check(t, func(t *rapid.T) {
		a, b := near.Draw(t, "a"), near.Draw(t, "b")
		sum := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		want := sum.Int64()
		if !sum.IsInt64() {
			want = math.MaxInt64
			if sum.Sign() < 0 {
				want = math.MinInt64
			}
		}
		if got := flow.AddCounts(a, b); got != want {
			t.Errorf("%d and %d come to %d, want %d", a, b, got, want)
		}
	})
}
