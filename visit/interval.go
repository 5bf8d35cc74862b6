package visit

// state is how far a pass has come with an interval (KV-9).
type state uint8

const (
	// pending: still to be read in this pass.
	pending state = iota
	// buffered: read, its visits are queued.
	buffered
	// taken: its visits were handled in the open epoch, which is not durable.
	taken
	// committed: its visits are in a committed epoch, or it had none.
	committed
)

// interval is a piece of a bucket in one state.
type interval struct {
	Range
	state state
}

// bucket is a part of the partition's range and its progress in the pass.
//
// Invariant: parts are sorted and disjoint, cover rng exactly, and no two
// neighbours are in the same state. Only mark and turn change them.
type bucket struct {
	rng   Range
	parts []interval
	spare []interval // the former parts, whose memory mark writes into
}

// newBucket returns a bucket with everything pending.
func newBucket(r Range) bucket {
	return bucket{rng: r, parts: []interval{{Range: r, state: pending}}}
}

// mark puts the part of r that lies in the bucket into state s.
func (b *bucket) mark(r Range, s state) {
	r = r.Intersect(b.rng)
	if r.Empty() {
		return
	}
	out := b.spare[:0]
	for _, p := range b.parts {
		mid := p.Intersect(r)
		if mid.Empty() {
			out = join(out, p)
			continue
		}
		out = join(out, interval{Range{p.Lower, mid.Lower}, p.state})
		out = join(out, interval{mid, s})
		out = join(out, interval{Range{mid.Upper, p.Upper}, p.state})
	}
	b.parts, b.spare = out, b.parts
}

// turn puts every interval of one state into another.
func (b *bucket) turn(from, to state) {
	out := b.spare[:0]
	for _, p := range b.parts {
		if p.state == from {
			p.state = to
		}
		out = join(out, p)
	}
	b.parts, b.spare = out, b.parts
}

// join appends p, dropping it if empty and melting it into an equal neighbour.
func join(parts []interval, p interval) []interval {
	if p.Empty() {
		return parts
	}
	if n := len(parts); n > 0 && parts[n-1].state == p.state {
		parts[n-1].Upper = p.Upper
		return parts
	}
	return append(parts, p)
}

// first returns the lowest interval in state s.
func (b *bucket) first(s state) (Range, bool) {
	for _, p := range b.parts {
		if p.state == s {
			return p.Range, true
		}
	}
	return Range{}, false
}

// all says whether the whole bucket is in state s.
func (b *bucket) all(s state) bool {
	return len(b.parts) == 1 && b.parts[0].state == s
}

// length returns the hash length of what is in state s.
func (b *bucket) length(s state) uint64 {
	var sum uint64
	for _, p := range b.parts {
		if p.state == s {
			sum += p.Range.length()
		}
	}
	return sum
}

// scanned returns the fraction that is not pending.
func (b *bucket) scanned() float64 {
	whole := b.rng.length()
	return fraction(whole-b.length(pending), whole)
}

// durable returns the intervals to store once the open epoch is durable: what
// is committed and what that epoch takes, joined.
func (b *bucket) durable() []Range {
	var out []Range
	for _, p := range b.parts {
		if p.state < taken {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Upper == p.Lower {
			out[n-1].Upper = p.Upper
			continue
		}
		out = append(out, p.Range)
	}
	return out
}
