package partition

import (
	"math"
	"time"
)

// Scaling says how the number of partitions of a computation follows its load.
type Scaling struct {
	// Min and Max bound it.
	Min, Max int
	// Each is how many messages and timers a second one partition is to handle.
	Each float64
	// Deviation is the factor by which the number may be off before it changes.
	Deviation float64
	// Double and Half are how long a number stays before it doubles, or halves. More
	// than that takes less time, but at least half of it.
	Double, Half time.Duration
}

// Load is what a computation does at a moment.
type Load struct {
	// Now is monotonic.
	Now time.Duration
	// Rate is the messages and timers a second that all partitions together have
	// handled since the load before.
	Rate float64
	// Count is how many partitions there are.
	Count int
	// Steady: all of them run.
	Steady bool
}

// Scale follows the load of one computation. The zero Scale has seen nothing.
type Scale struct {
	count   int           // that there was at the last load
	since   time.Duration // when it became that
	at      time.Duration // of the last load
	average float64       // rate
	peak    float64       // the average, held: it decays with a half-life of Half
}

// Follow takes the load in, and tells the number of partitions that there should be.
// It is the present one most of the time: one that has just changed stays for a while;
// what is much too large goes down to three times what is needed, and by half at once
// at the most. So a load that goes up and down by less than that changes nothing.
func (s *Scale) Follow(l Load, p Scaling) int {
	s.observe(l, p)
	want := s.want(l.Count, p)
	if l.Count < p.Min || l.Count > p.Max {
		return min(max(l.Count, p.Min), p.Max) // the bounds were changed
	}
	if want == l.Count || !l.Steady {
		return l.Count
	}
	ratio, patience := float64(want)/float64(l.Count), p.Double
	if want < l.Count {
		ratio, patience = 1/ratio, p.Half
	}
	if ratio < p.Deviation || l.Now-s.since < delay(ratio, patience) {
		return l.Count
	}
	return want
}

// delay is how long a number stays before it changes by a factor above 1.
func delay(ratio float64, patience time.Duration) time.Duration {
	return max(time.Duration(float64(patience)*math.Ln2/math.Log(ratio)), patience/2)
}

// observe averages the rate, so that a burst is not taken for load, over a quarter of
// the shorter patience: it has nearly settled before anything changes.
func (s *Scale) observe(l Load, p Scaling) {
	if l.Count != s.count {
		s.count, s.since = l.Count, l.Now
	}
	passed := float64(l.Now - s.at)
	s.at = l.Now
	s.average += (l.Rate - s.average) * (1 - math.Exp(-passed/(float64(min(p.Double, p.Half))/4)))
	s.peak = max(s.average, s.average+(s.peak-s.average)*math.Exp2(-passed/float64(p.Half)))
}

// want is the number for the load, whenever it is time for it.
func (s *Scale) want(count int, p Scaling) int {
	whole := func(x float64) int { return int(min(math.Ceil(x), float64(p.Max))) }
	needed := whole(s.peak / p.Each)
	if needed < count {
		needed = max(min(count, whole(3*s.peak/p.Each)), (count+1)/2)
	}
	return min(max(needed, p.Min), p.Max)
}
