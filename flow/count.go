package flow

import "math"

// AddCounts returns the sum of two counts. One that is out of range is the
// largest or smallest count there is, and stays there; it does not wrap around.
func AddCounts(a, b int64) int64 {
	switch sum := a + b; {
	case b > 0 && sum < a:
		return math.MaxInt64
	case b < 0 && sum > a:
		return math.MinInt64
	default:
		return sum
	}
}
