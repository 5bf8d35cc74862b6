package visit

import "slices"

// coverage is the progress of a pass over the partition's range, bucket by
// bucket.
type coverage struct {
	buckets []bucket
	total   uint64 // hash length of the range
}

// newCoverage returns a pass over r in which everything is pending.
func newCoverage(r Range, buckets int) coverage {
	c := coverage{total: r.length()}
	for _, part := range Split(r, buckets) {
		c.buckets = append(c.buckets, newBucket(part))
	}
	return c
}

// reset makes everything pending again.
func (c *coverage) reset() {
	for i := range c.buckets {
		b := &c.buckets[i]
		b.parts = append(b.parts[:0], interval{Range: b.rng, state: pending})
	}
}

// mark puts r into state s, in whichever buckets it lies.
func (c *coverage) mark(r Range, s state) {
	for i := range c.buckets {
		c.buckets[i].mark(r, s)
	}
}

// turn puts everything in one state into another.
func (c *coverage) turn(from, to state) {
	for i := range c.buckets {
		c.buckets[i].turn(from, to)
	}
}

// all says whether everything is in state s.
func (c *coverage) all(s state) bool {
	for i := range c.buckets {
		if !c.buckets[i].all(s) {
			return false
		}
	}
	return true
}

// has says whether anything is in state s.
func (c *coverage) has(s state) bool {
	for i := range c.buckets {
		if _, ok := c.buckets[i].first(s); ok {
			return true
		}
	}
	return false
}

// next returns the next range to read: the lowest pending interval of the first
// bucket in round-robin order after last that has one and may be read (KV-6).
func (c *coverage) next(last int, may func(bucket int) bool) (bucket int, r Range, ok bool) {
	for i := range c.buckets {
		bucket = (last + 1 + i) % len(c.buckets)
		if !may(bucket) {
			continue
		}
		if r, ok = c.buckets[bucket].first(pending); ok {
			return bucket, r, true
		}
	}
	return 0, Range{}, false
}

// find returns the bucket that holds a key of the range.
func (c *coverage) find(key Key) int {
	i, ok := slices.BinarySearchFunc(c.buckets, At(key), func(b bucket, at Bound) int {
		return b.rng.Lower.Compare(at)
	})
	if !ok {
		i--
	}
	return i
}

// scanned returns the fraction of the hash length that is not pending (KV-45).
func (c *coverage) scanned() float64 {
	var left uint64
	for i := range c.buckets {
		left += c.buckets[i].length(pending)
	}
	if c.total == 0 && c.has(pending) {
		return 0
	}
	return fraction(c.total-left, c.total)
}

// done returns the fraction of the hash length that is committed.
func (c *coverage) done() float64 {
	var sum uint64
	for i := range c.buckets {
		sum += c.buckets[i].length(committed)
	}
	if c.total == 0 && !c.all(committed) {
		return 0
	}
	return fraction(sum, c.total)
}

// fraction divides lengths; a range whose bounds share the hash has no length
// and counts as done once the caller knows that nothing is left.
func fraction(part, whole uint64) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}
