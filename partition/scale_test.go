package partition_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/partition"
)

// following is a computation whose partitions are replaced as soon as that is asked for.
type following struct {
	scale   partition.Scale
	p       partition.Scaling
	now     time.Duration
	count   int
	changes []int // all numbers there were, the first included
	last    time.Duration
}

func newFollowing(p partition.Scaling, count int) *following {
	return &following{p: p, count: count, changes: []int{count}}
}

// load lets a rate hold for a while, and looks every few seconds.
func (f *following) load(rate float64, d time.Duration) {
	const every = 10 * time.Second
	for end := f.now + d; f.now < end; {
		f.now += every
		n := f.scale.Follow(partition.Load{Now: f.now, Rate: rate, Count: f.count, Steady: true}, f.p)
		if n != f.count {
			f.changes, f.count, f.last = append(f.changes, n), n, f.now
		}
	}
}

func defaults() partition.Scaling {
	return partition.Scaling{Min: 3, Max: 100, Each: 100, Deviation: 1.1, Double: 20 * time.Minute, Half: 200 * time.Minute}
}

// TestTheNumberOfPartitionsFollowsTheLoad: each load holds for some time, one after the
// other; want has the numbers that there were.
func TestTheNumberOfPartitionsFollowsTheLoad(t *testing.T) {
	type span struct {
		rate float64
		d    time.Duration
	}
	for name, c := range map[string]struct {
		count int
		spans []span
		want  []int
	}{
		"enough":                         {10, []span{{1000, 24 * time.Hour}}, []int{10}},
		"a little too much":              {20, []span{{2090, 24 * time.Hour}}, []int{20}},
		"twice as much":                  {10, []span{{2000, 20*time.Minute - 20*time.Second}}, []int{10}},
		"twice as much, for longer":      {10, []span{{2000, time.Hour}}, []int{10, 20}},
		"much more":                      {10, []span{{8000, 11 * time.Minute}}, []int{10, 70}},
		"beyond the most":                {10, []span{{1e9, time.Hour}}, []int{10, 100}},
		"a burst":                        {10, []span{{1000, time.Hour}, {2000, time.Minute}, {1000, time.Hour}}, []int{10, 12}},
		"a third":                        {30, []span{{1000, 100 * time.Hour}}, []int{30}},
		"a tenth":                        {60, []span{{600, 100 * time.Hour}}, []int{60, 30, 18}},
		"nothing":                        {60, []span{{0, 100 * time.Hour}}, []int{60, 30, 15, 8, 4, 3}},
		"nothing for an hour":            {60, []span{{6000, 5 * time.Hour}, {0, time.Hour}, {6000, 5 * time.Hour}}, []int{60}},
		"more than the bounds allow":     {120, []span{{12000, 10 * time.Second}}, []int{120, 100}},
		"fewer than the bounds allow":    {1, []span{{0, 10 * time.Second}}, []int{1, 3}},
		"a day and a night, three times": {10, slices.Repeat([]span{{3000, 12 * time.Hour}, {1200, 12 * time.Hour}}, 3), []int{10, 29}},
	} {
		f := newFollowing(defaults(), c.count)
		for _, s := range c.spans {
			f.load(s.rate, s.d)
		}
		if !slices.Equal(f.changes, c.want) {
			t.Errorf("%s: %v, want %v", name, f.changes, c.want)
		}
	}
}

func drawnScaling(t *rapid.T) (partition.Scaling, int) {
	p := partition.Scaling{Each: 100, Deviation: rapid.Float64Range(1.01, 3).Draw(t, "deviation")}
	p.Min = rapid.IntRange(1, 20).Draw(t, "min")
	p.Max = rapid.IntRange(p.Min, 400).Draw(t, "max")
	p.Double = time.Duration(rapid.IntRange(1, 60).Draw(t, "double")) * time.Minute
	p.Half = time.Duration(rapid.IntRange(1, 300).Draw(t, "half")) * time.Minute
	return p, rapid.IntRange(1, 500).Draw(t, "count")
}

// TestTheNumberOfPartitionsStaysWithinItsBounds, whatever the load does, and none is
// replaced soon after the last was, nor by less than half.
func TestTheNumberOfPartitionsStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, count := drawnScaling(t)
		f := newFollowing(p, count)
		for i := range rapid.IntRange(1, 20).Draw(t, "spans") {
			last, so := f.last, len(f.changes)
			f.load(rapid.Float64Range(0, 60_000).Draw(t, fmt.Sprint("rate", i)), 10*time.Second*time.Duration(rapid.IntRange(1, 500).Draw(t, "for")))
			if f.count < p.Min || f.count > p.Max {
				t.Fatalf("%d partitions, within %d and %d", f.count, p.Min, p.Max)
			}
			if patience := min(p.Double, p.Half) / 2; len(f.changes) == so+1 && last > 10*time.Second && f.last-last < patience {
				t.Fatalf("%v: replaced after %s, and %s is the least", f.changes, f.last-last, patience)
			}
		}
		for i := 2; i < len(f.changes); i++ { // the first may be out of the bounds
			if f.changes[i]*2 < f.changes[i-1] {
				t.Fatalf("%v: less than half at once", f.changes)
			}
		}
	})
}

// TestTheNumberOfPartitionsDoesNotFlap: while the load goes up and down, by less than a
// factor of two and a half, in whatever rhythm, the number changes in one direction only,
// and not for ever.
func TestTheNumberOfPartitionsDoesNotFlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, count := drawnScaling(t)
		f := newFollowing(p, min(max(count, p.Min), p.Max))
		least := rapid.Float64Range(0, 20_000).Draw(t, "least")
		for i := range rapid.IntRange(2, 40).Draw(t, "spans") {
			f.load(least*rapid.Float64Range(1, 2.5).Draw(t, fmt.Sprint("times", i)), 10*time.Second*time.Duration(rapid.IntRange(1, 1000).Draw(t, "for")))
		}
		up, down := 0, 0
		for i := 1; i < len(f.changes); i++ {
			if f.changes[i] > f.changes[i-1] {
				up++
			} else {
				down++
			}
		}
		if up > 0 && down > 0 {
			t.Fatalf("up and down: %v", f.changes)
		}
		settled := len(f.changes)
		f.load(least*2.5, 100*time.Hour)
		f.load(least*2.5, 100*time.Hour)
		if n := len(f.changes); n-settled > 40 || f.now-f.last < 50*time.Hour {
			t.Fatalf("it does not settle: %v", f.changes)
		}
	})
}
