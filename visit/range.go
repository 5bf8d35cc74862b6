package visit

import "math"

// maxHash is the largest hash, and the length of the whole hash space as pacing
// counts it.
const maxHash = math.MaxUint64

// Range is a half-open range of keys, [Lower, Upper).
type Range struct {
	Lower, Upper Bound
}

// HashRange returns the range of all keys whose hash is in [lower, upper).
func HashRange(lower, upper uint64) Range {
	return Range{Lower: AtHash(lower), Upper: AtHash(upper)}
}

// HashRangeFrom returns the range of all keys whose hash is at least lower.
func HashRangeFrom(lower uint64) Range {
	return Range{Lower: AtHash(lower), Upper: Bound{End: true}}
}

// FullRange returns the range of all keys.
func FullRange() Range { return HashRangeFrom(0) }

// Empty says whether the range can hold no key.
func (r Range) Empty() bool { return r.Lower.Compare(r.Upper) >= 0 }

// Contains says whether key lies in the range.
func (r Range) Contains(key Key) bool {
	return r.Lower.atOrBefore(key) && !r.Upper.atOrBefore(key)
}

// Intersect returns the keys that are in both ranges; it may be empty.
func (r Range) Intersect(o Range) Range {
	out := r
	if o.Lower.Compare(out.Lower) > 0 {
		out.Lower = o.Lower
	}
	if o.Upper.Compare(out.Upper) < 0 {
		out.Upper = o.Upper
	}
	return out
}

// Span returns the length in hash units as pacing counts it. The open end
// counts as 2^64-1; a range that is not empty is at least one unit long even
// where its bounds share the hash (KV-8).
func (r Range) Span() uint64 {
	if r.Empty() {
		return 0
	}
	return max(r.length(), 1)
}

// length returns the plain difference of the bounds' hashes, which adds up
// exactly over the parts of a range.
func (r Range) length() uint64 {
	if r.Empty() {
		return 0
	}
	return r.Upper.position() - r.Lower.position()
}

// String prints the range as [lower,upper).
func (r Range) String() string {
	return "[" + r.Lower.String() + "," + r.Upper.String() + ")"
}

// prefix returns the first units of the range. It cuts between hashes, so a key
// is never cut in two and what begins inside a hash takes the rest of it.
func (r Range) prefix(units uint64) Range {
	if units < r.Span() {
		r.Upper = AtHash(r.Lower.position() + max(units, 1))
	}
	return r
}

// Split cuts a range evenly into min(n, span) parts at hash bounds; the first
// keeps the range's lower bound and the last its upper one. Partitions and
// buckets are cut by this one rule (KV-5, KV-6): of V values the first
// (V-1) mod n + 1 parts get one more than the others.
func Split(r Range, n int) []Range {
	parts := min(uint64(max(n, 1)), max(r.Span(), 1))
	last := r.Upper.position() - r.Lower.position() // values less one
	if !r.Upper.End {
		last--
	}
	if parts == 1 {
		return []Range{r}
	}
	base, extra := last/parts, last%parts+1
	out := make([]Range, 0, parts)
	lower := r.Lower
	for i := range parts - 1 {
		size := base
		if i < extra {
			size++
		}
		upper := AtHash(lower.Key.Hash + size)
		out = append(out, Range{Lower: lower, Upper: upper})
		lower = upper
	}
	return append(out, Range{Lower: lower, Upper: r.Upper})
}
