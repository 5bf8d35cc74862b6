package visit

import "slices"

// Union returns the keys of all ranges as sorted ranges that neither overlap
// nor touch.
func Union(ranges ...Range) []Range {
	sorted := slices.DeleteFunc(slices.Clone(ranges), Range.Empty)
	slices.SortFunc(sorted, func(a, b Range) int { return a.Lower.Compare(b.Lower) })
	var out []Range
	for _, r := range sorted {
		if n := len(out); n > 0 && r.Lower.Compare(out[n-1].Upper) <= 0 {
			if r.Upper.Compare(out[n-1].Upper) > 0 {
				out[n-1].Upper = r.Upper
			}
			continue
		}
		out = append(out, r)
	}
	return out
}

// Subtract returns the keys that are in one of from and in none of what, in
// the form Union gives.
func Subtract(from, what []Range) []Range {
	left := Union(from...)
	for _, hole := range what {
		left = without(left, hole)
	}
	return left
}

// without cuts hole out of sorted, disjoint ranges.
func without(ranges []Range, hole Range) []Range {
	var out []Range
	for _, r := range ranges {
		if r.Intersect(hole).Empty() {
			out = append(out, r)
			continue
		}
		before := Range{Lower: r.Lower, Upper: hole.Lower}
		after := Range{Lower: hole.Upper, Upper: r.Upper}
		for _, part := range []Range{before, after} {
			if !part.Empty() {
				out = append(out, part)
			}
		}
	}
	return out
}
