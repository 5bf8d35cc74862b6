package visit

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// mark puts a range into a state behind the fill loop's back, as the cases on
// coverage do.
func (r *rig) mark(lower, upper uint64, s state) {
	r.v.cover.mark(HashRange(lower, upper), s)
	r.v.changed(r.now)
}

// rows prints the stored intervals by bucket.
func (r *rig) rows() string {
	var list []string
	for i := range 1 << 8 {
		if row := r.st.Buckets[i]; row != nil {
			list = append(list, fmt.Sprintf("%d:%s", i, describeRow(row, decodeIntervals)))
		}
	}
	return strings.Join(list, " ")
}

// buckets sets the number of buckets of a rig.
func buckets(n int) func(*Config, *Params) {
	return func(c *Config, _ *Params) { c.Buckets = n }
}

// idle makes a rig that never reads: its first tick is far away.
func idle(r Range, n int) *rig {
	return newRig(nil, func(c *Config, _ *Params) { c.Range, c.Buckets, c.FirstTick = r, n, 1000*time.Hour })
}

func TestCoverageCases(t *testing.T) {
	t.Run("COV-01 fresh coverage is pending", func(t *testing.T) {
		r := newRig(nil, buckets(2))
		want(t, "coverage", r.v.Coverage(), "pass 1: [1,51)p | [51,100)p")
		want(t, "all committed", r.v.cover.all(committed), false)
	})
	t.Run("COV-02 buffered coverage stays in memory", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil).tokens()
		r.fill()
		r.sync()
		want(t, "coverage", r.v.Coverage(), "pass 1: [1,100)B")
		want(t, "rows", r.rows(), "")
	})
	t.Run("COV-03 committed coverage is stored", func(t *testing.T) {
		r := idle(HashRange(1, 100), 1)
		r.mark(1, 100, committed)
		r.v.EpochOpened(r.now)
		r.store(r.v.Delta())
		want(t, "rows", r.rows(), "0:[[1,100)]")
	})
	t.Run("COV-04 ranges are handed out until none is left", func(t *testing.T) {
		c := newCoverage(HashRange(1, 100), 2)
		every := func(int) bool { return true }
		b0, first, _ := c.next(1, every)
		b1, second, _ := c.next(b0, every)
		want(t, "first", first, "[1,51)")
		want(t, "second", second, "[51,100)")
		c.mark(first, buffered)
		c.mark(second, buffered)
		_, _, ok := c.next(b1, every)
		want(t, "a third", ok, false)
		c.reset()
		_, _, ok = c.next(b1, every)
		want(t, "after the rotation", ok, true)
	})
	t.Run("COV-05 a sync without changes writes nothing", func(t *testing.T) {
		r := idle(HashRange(1, 100), 1)
		r.mark(10, 50, committed)
		r.sync()
		want(t, "rows", r.rows(), "0:[[10,50)]")
		r.v.EpochOpened(r.now)
		want(t, "second delta", r.v.Delta(), "nothing")
	})
	t.Run("COV-06 a rotation clears stored rows with the next sync", func(t *testing.T) {
		r := newRig(nil, nil).tokens()
		l, _ := r.begin()
		r.v.Listed(r.now, l.Token, []Answer{{Keys: []Found{{Key: key(5, "k")}}, Rows: 1}})
		r.epoch(1)
		want(t, "coverage", r.v.Coverage(), "pass 2: [1,100)p")
		want(t, "rows before", r.rows(), "0:[[1,100)]")
		r.sync()
		want(t, "rows after", r.rows(), "")
	})
	t.Run("COV-07 a middle slice is restored", func(t *testing.T) {
		r := idle(HashRange(1, 100), 1)
		r.mark(20, 80, committed)
		r.sync()
		r.crash()
		want(t, "coverage", r.v.Coverage(), "pass 1: [1,20)p [20,80)C [80,100)p")
	})
	t.Run("COV-08 a commit spans buckets and is stored by bucket", func(t *testing.T) {
		r := idle(HashRange(10, 110), 4)
		r.mark(40, 90, committed)
		r.sync()
		want(t, "coverage", r.v.Coverage(),
			"pass 1: [10,35)p | [35,40)p [40,60)C | [60,85)C | [85,90)C [90,110)p")
		want(t, "rows", r.rows(), "1:[[40,60)] 2:[[60,85)] 3:[[85,90)]")
	})
}

func TestCoverageCasesOfShapes(t *testing.T) {
	t.Run("COV-10 the scanned fraction counts buffered and committed", func(t *testing.T) {
		c := newCoverage(HashRange(0, 100), 1)
		want(t, "fresh", c.scanned(), 0)
		c.mark(HashRange(0, 25), buffered)
		want(t, "buffered", c.scanned(), 0.25)
		c.mark(HashRange(0, 25), committed)
		c.mark(HashRange(25, 75), buffered)
		want(t, "both", c.scanned(), 0.75)
		want(t, "done", c.done(), 0.25)
	})
	t.Run("COV-12 a range open to the right is stored", func(t *testing.T) {
		r := idle(FullRange(), 1)
		r.v.cover.mark(HashRangeFrom(50), committed)
		r.sync()
		want(t, "rows", r.rows(), "0:[[50,+inf)]")
		r.crash()
		want(t, "restored", r.v.Coverage(), "pass 1: [0,50)p [50,+inf)C")
	})
	t.Run("COV-13 what is stored follows the coverage", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil)
		want(t, "at first", r.rows(), "")
		r.drain(16, 16, 50*time.Millisecond)
		want(t, "committed", r.rows(), "0:[[1,100)]")
		r.sync()
		want(t, "rotated", r.rows(), "")
	})
	t.Run("COV-14 a reset takes effect in the store at the sync", func(t *testing.T) {
		r := idle(HashRange(1, 100), 1)
		r.mark(10, 50, committed)
		r.sync()
		r.v.cover.reset()
		want(t, "coverage", r.v.Coverage(), "pass 1: [1,100)p")
		want(t, "rows before", r.rows(), "0:[[10,50)]")
		r.sync()
		want(t, "rows after", r.rows(), "")
	})
	t.Run("COV-17 a broken row counts as not covered", func(t *testing.T) {
		r := idle(HashRange(0, 100), 4)
		r.mark(0, 100, committed)
		r.v.EpochOpened(r.now)
		r.store(r.v.Delta())
		r.st.Buckets[2] = []byte{formatVersion, 200}
		r.crash()
		want(t, "coverage", r.v.Coverage(), "pass 1: [0,25)C | [25,50)C | [50,75)p | [75,100)C")
		if w := r.v.Warnings(); len(w) != 1 || !strings.Contains(w[0], "bucket 2") {
			t.Errorf("warnings: %q", w)
		}
		r.sync()
		want(t, "rows after a sync", r.rows(), "0:[[0,25)] 1:[[25,50)] 3:[[75,100)]")
	})
	t.Run("COV-19 equal neighbours melt, others do not", func(t *testing.T) {
		c := newCoverage(HashRange(1, 100), 1)
		c.mark(HashRange(1, 30), buffered)
		c.mark(HashRange(30, 60), buffered)
		c.mark(HashRange(60, 100), buffered)
		want(t, "one interval", &c, "[1,100)B")
		c.mark(HashRange(40, 60), committed)
		want(t, "three intervals", &c, "[1,40)B [40,60)C [60,100)B")
	})
}

func TestBucketCases(t *testing.T) {
	t.Run("BKT-01 the full space in four", func(t *testing.T) {
		want(t, "parts", Split(FullRange(), 4),
			"[[0,4611686018427387904) [4611686018427387904,9223372036854775808) [9223372036854775808,13835058055282163712) [13835058055282163712,+inf)]")
	})
	t.Run("BKT-02 one bucket is the range itself", func(t *testing.T) {
		want(t, "parts", Split(HashRange(10, 20), 1), "[[10,20)]")
	})
	t.Run("BKT-06 rounding of uneven splits", func(t *testing.T) {
		want(t, "five", Split(HashRange(0, 20), 5), "[[0,4) [4,8) [8,12) [12,16) [16,20)]")
		three := Split(FullRange(), 3)
		want(t, "first border", three[0].Upper.Key.Hash, uint64(0x5555555555555556))
		want(t, "second border", three[1].Upper.Key.Hash, uint64(0xAAAAAAAAAAAAAAAB))
		want(t, "open end", three[2].Upper, "+inf")
		want(t, "one", Split(FullRange(), 1), "[[0,+inf)]")
	})
	t.Run("BKT-07 membership is judged by prefix", func(t *testing.T) {
		r := HashRange(23, 35)
		for _, c := range []struct {
			key Key
			in  bool
		}{
			{key(22, "k"), false}, {key(23, "k"), true}, {key(23, "4324,6565"), true},
			{key(34, "k"), true}, {key(34, "99999999"), true}, {key(35, "k"), false},
		} {
			want(t, c.key.String(), r.Contains(c.key), c.in)
		}
	})
	t.Run("BKT-08 range algebra", func(t *testing.T) {
		h := HashRange
		want(t, "overlap", Union(h(0, 11), h(5, 16)), "[[0,16)]")
		want(t, "touch", Union(h(0, 11), h(11, 16)), "[[0,16)]")
		want(t, "gap", Union(h(0, 11), h(12, 16)), "[[0,11) [12,16)]")
		want(t, "an empty one", Union(h(0, 16), h(5, 5)), "[[0,16)]")
		want(t, "nothing", Union(h(5, 5)), "[]")
		want(t, "difference", Subtract(
			[]Range{h(2, 5), h(6, 11), h(15, 21)},
			[]Range{h(0, 1), h(3, 9), h(10, 17), h(17, 18), h(19, 20)}), "[[2,3) [9,10) [18,19) [20,21)]")
		want(t, "difference with an empty one", Subtract([]Range{h(2, 5)}, []Range{h(0, 0), h(3, 9)}), "[[2,3)]")
	})
	t.Run("equal hashes on both bounds are one bucket of one unit", func(t *testing.T) {
		r := Range{Lower: At(key(7, "a")), Upper: At(key(7, "m"))}
		want(t, "parts", Split(r, 8), "[[7:a,7:m)]")
		want(t, "span", r.Span(), 1)
	})
	t.Run("a span smaller than the bucket count bounds it", func(t *testing.T) {
		want(t, "parts", Split(HashRange(5, 8), 8), "[[5,6) [6,7) [7,8)]")
	})
	t.Run("lengths of the open end", func(t *testing.T) {
		want(t, "everything", FullRange().Span(), uint64(math.MaxUint64))
		want(t, "the last hash", HashRangeFrom(math.MaxUint64).Span(), 1)
		want(t, "nothing", HashRange(5, 5).Span(), 0)
	})
}
