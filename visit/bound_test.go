package visit

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// fleet is all partitions of a stream, played together.
type fleet struct {
	parts  []*rig
	keys   table
	now    Instant
	period time.Duration
	last   map[Key]time.Duration // when each key was visited, at first the start
	first  map[Key]bool          // it was visited at all
	most   time.Duration         // the longest that a key has waited
}

func newFleet(period time.Duration) *fleet {
	f := &fleet{keys: uniform(300, 10_000), now: Instant{Mono: time.Hour, Wall: int64(time.Hour)}, period: period, last: map[Key]time.Duration{}, first: map[Key]bool{}}
	for _, row := range f.keys {
		f.last[row.key] = f.now.Mono
	}
	f.own([]Range{HashRange(0, 10_000)}, []Stored{{}}, 8)
	return f
}

// own starts a partition for each range.
func (f *fleet) own(ranges []Range, stored []Stored, buckets int) {
	f.parts = nil
	for i, r := range ranges {
		part := &rig{tables: []table{f.keys}, now: f.now, params: DefaultParams(), st: stored[i]}
		part.params.Period = f.period
		part.cfg = Config{Stream: "s", Range: r, Buckets: buckets, Generation: 1, Sources: 1}
		part.cfg.FirstTick = part.params.Tick() * time.Duration(i) / time.Duration(len(ranges))
		part.start()
		f.parts = append(f.parts, part)
	}
}

// repartition replaces all partitions.
func (f *fleet) repartition(n, buckets int) {
	var old []Piece
	for _, part := range f.parts {
		old = append(old, Piece{part.cfg.Range, part.st})
	}
	ranges := Split(HashRange(0, 10_000), n)
	stored, _ := Repartition(old, ranges, buckets)
	f.own(ranges, stored, buckets)
}

// play lets time pass and checks after every tick that no part claims that its
// keys were visited more recently than they were.
func (f *fleet) play(t *testing.T, d time.Duration) {
	for end := f.now.Mono + d; f.now.Mono < end; {
		for _, part := range f.parts {
			part.now = f.now
			part.fill()
			if at, ok := part.v.ReadyAt(f.now, 1000); ok && at <= f.now.Mono {
				for _, v := range part.epoch(1000) {
					f.most = max(f.most, f.now.Mono-f.last[v.Key])
					f.last[v.Key], f.first[v.Key] = f.now.Mono, true
				}
			}
			f.checkAge(t, part)
		}
		f.now.Mono += 20 * time.Millisecond
		f.now.Wall += int64(20 * time.Millisecond)
	}
}

func (f *fleet) checkAge(t *testing.T, part *rig) {
	bound := part.v.Status(f.now).MaxAge
	for _, row := range f.keys {
		age := f.now.Mono - f.last[row.key]
		if f.first[row.key] && part.cfg.Range.Contains(row.key) && age > bound {
			t.Fatalf("%s was visited %s ago, the status says %s at most", row.key, age, bound)
		}
	}
}

// TestNoKeyWaitsLongerThanTheBound states the promise to users, and that the
// status never claims more (KV-48).
func TestNoKeyWaitsLongerThanTheBound(t *testing.T) {
	const period = 10 * time.Second
	t.Run("KV-48 1.2 periods while nothing changes", func(t *testing.T) {
		f := newFleet(period)
		f.play(t, 5*period)
		if f.most > period*12/10 {
			t.Errorf("a key waited %s", f.most)
		}
	})
	for _, buckets := range []int{1, 2, 5, 16, 64, 1000} {
		for _, ticks := range []int{1, 5, 40} {
			t.Run(fmt.Sprintf("KV-48 1.2 periods with %d buckets and %d ticks", buckets, ticks), func(t *testing.T) {
				f := newFleet(period)
				f.own([]Range{HashRange(0, 10_000)}, []Stored{{}}, buckets)
				p := f.parts[0]
				p.params.FillPeriod = period / time.Duration(ticks)
				p.start()
				f.play(t, 4*period)
				if f.most > period*12/10 {
					t.Errorf("a key waited %s", f.most)
				}
			})
		}
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("KV-48 2.5 periods across splits, merges and other bucket counts, seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			f := newFleet(period)
			for range 4 {
				f.play(t, time.Duration((1+rng.Float64())*float64(period)))
				f.repartition(1+rng.IntN(5), 1+rng.IntN(8))
			}
			f.play(t, 2*period)
			if f.most > period*25/10 {
				t.Errorf("a key waited %s", f.most)
			}
		})
	}
}
