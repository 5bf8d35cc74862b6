package visit

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawRange draws a range over few hashes, with bounds inside hashes and open
// ends, so that bounds often coincide.
func drawRange(t *rapid.T) Range {
	return Range{Lower: drawBound(t, "lower"), Upper: drawBound(t, "upper")}
}

func drawBound(t *rapid.T, name string) Bound {
	if rapid.IntRange(0, 9).Draw(t, name+" end") == 0 {
		return Bound{End: true}
	}
	return At(Key{
		Hash:  rapid.Uint64Range(0, 6).Draw(t, name+" hash"),
		Bytes: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, name+" bytes"),
	})
}

// everyKey is all there is in the small world of drawRange.
func everyKey() []Key {
	var keys []Key
	for h := range uint64(9) {
		for _, b := range []string{"a", "b", "c"} {
			keys = append(keys, Key{Hash: h, Bytes: b})
		}
	}
	return keys
}

func in(ranges []Range, k Key) bool {
	return slices.ContainsFunc(ranges, func(r Range) bool { return r.Contains(k) })
}

// tidy says whether ranges are as Union and Subtract promise.
func tidy(ranges []Range) bool {
	for i, r := range ranges {
		if r.Empty() || i > 0 && ranges[i-1].Upper.Compare(r.Lower) >= 0 {
			return false
		}
	}
	return true
}

func TestRangeAlgebraEqualsSetsOfKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Custom(drawRange), 0, 5).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Custom(drawRange), 0, 5).Draw(t, "b")
		union, difference := Union(a...), Subtract(a, b)
		if !tidy(union) || !tidy(difference) {
			t.Fatalf("union %v or difference %v is not tidy", union, difference)
		}
		for _, k := range everyKey() {
			if in(union, k) != in(a, k) {
				t.Fatalf("%s in the union %v of %v", k, union, a)
			}
			if in(difference, k) != (in(a, k) && !in(b, k)) {
				t.Fatalf("%s in the difference %v of %v and %v", k, difference, a, b)
			}
			if len(a) > 1 && a[0].Intersect(a[1]).Contains(k) != (a[0].Contains(k) && a[1].Contains(k)) {
				t.Fatalf("%s in the intersection of %v", k, a[:2])
			}
		}
	})
}

func TestSplitIsEvenAndComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lower := rapid.Uint64().Draw(t, "lower")
		r := HashRangeFrom(lower)
		if upper := rapid.Uint64().Draw(t, "upper"); upper > lower {
			r = HashRange(lower, upper)
		}
		n := rapid.IntRange(1, 50).Draw(t, "n")
		parts := Split(r, n)
		if want := min(uint64(n), r.Span()); uint64(len(parts)) != want {
			t.Fatalf("%d parts of %s, want %d", len(parts), r, want)
		}
		if parts[0].Lower != r.Lower || parts[len(parts)-1].Upper != r.Upper {
			t.Fatalf("the parts of %s begin or end elsewhere: %v", r, parts)
		}
		for i, p := range parts {
			if i > 0 && p.Lower != parts[i-1].Upper {
				t.Fatalf("gap or overlap before %s", p)
			}
			size, last := values(p), values(parts[len(parts)-1])
			if size < last || size-last > 1 || i > 0 && size > values(parts[i-1]) {
				t.Fatalf("parts of %s are uneven: %v", r, parts)
			}
		}
	})
}

// values returns the number of hashes in a range less one, which fits 64 bits
// even for all of them.
func values(r Range) uint64 {
	if r.Upper.End {
		return maxHash - r.Lower.Key.Hash
	}
	return r.Upper.Key.Hash - r.Lower.Key.Hash - 1
}

// TestMarksEqualAnArray compares coverage with an array of states, one per key.
func TestMarksEqualAnArray(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCoverage(FullRange(), 1)
		c.buckets = []bucket{newBucket(HashRange(0, 2)), newBucket(Range{AtHash(2), At(key(5, "b"))}), newBucket(Range{At(key(5, "b")), Bound{End: true}})}
		keys := everyKey()
		twin := make([]state, len(keys))
		for range rapid.IntRange(0, 12).Draw(t, "marks") {
			r, s := drawRange(t), state(rapid.IntRange(0, 3).Draw(t, "state"))
			c.mark(r, s)
			for i, k := range keys {
				if r.Contains(k) {
					twin[i] = s
				}
			}
			for i := range c.buckets {
				c.buckets[i].check()
			}
		}
		for i, k := range keys {
			if got := stateOf(&c, k); got != twin[i] {
				t.Fatalf("%s is %d, want %d in %s", k, got, twin[i], &c)
			}
			if b := c.find(k); !c.buckets[b].rng.Contains(k) {
				t.Fatalf("%s is not in bucket %d", k, b)
			}
		}
		for i := range c.buckets {
			for _, k := range keys {
				if want := stateOf(&c, k) >= taken && c.buckets[i].rng.Contains(k); in(c.buckets[i].durable(), k) != want {
					t.Fatalf("%s in what is stored of bucket %d: %v", k, i, c.buckets[i].durable())
				}
			}
		}
	})
}

func stateOf(c *coverage, k Key) state {
	for _, p := range c.buckets[c.find(k)].parts {
		if p.Contains(k) {
			return p.state
		}
	}
	return 99
}
