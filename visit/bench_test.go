package visit

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkVisits measures the machine's own cost per visit: a list of 1000
// keys, taken in one epoch, committed, pass after pass.
func BenchmarkVisits(b *testing.B) {
	for _, sources := range []int{1, 2} {
		b.Run(fmt.Sprintf("sources=%d", sources), func(b *testing.B) { benchVisits(b, sources, 1000) })
	}
	b.Run("small-chunks", func(b *testing.B) { benchVisits(b, 1, 10) })
}

func benchVisits(b *testing.B, sources, perList int) {
	cfg := Config{Stream: "s", Range: HashRange(0, 1<<20), Buckets: 1, Generation: 1, Sources: sources}
	p := DefaultParams()
	p.Finite, p.Period = false, 10*time.Millisecond
	now := Instant{Wall: 1}
	v := New(cfg, p, Stored{}, now)
	answers := make([]Answer, sources)
	keys := make([]Found, perList)
	rows := new(int)
	var visits []Visit
	b.ReportAllocs()
	for n := 0; n < b.N; {
		now.Mono += p.Period
		now.Wall += int64(p.Period)
		l, ok := v.NextList(now)
		if !ok {
			b.Fatalf("no list: %s", v.Status(now))
		}
		v.AcceptList(now, l)
		found := int(min(uint64(perList), l.Range.Span()))
		width := l.Range.Span() / uint64(found)
		for i := range found {
			keys[i] = Found{Key: Key{Hash: l.Range.Lower.Key.Hash + uint64(i)*width, Bytes: "0123456789abcdef"}, Rows: rows, Bytes: 100}
		}
		for i := range answers {
			answers[i] = Answer{Keys: keys[:found], Rows: found, Bytes: 100 * found}
		}
		v.Listed(now, l.Token, answers)
		v.EpochOpened(now)
		visits = v.NextVisits(now, visits[:0], perList)
		v.AcceptVisits(now, Outcome{Delivered: len(visits)})
		_ = v.Delta()
		v.EpochCommitted(now)
		n += len(visits)
	}
}

// BenchmarkTouch measures a write to a key while visits are buffered, which
// every message pays.
func BenchmarkTouch(b *testing.B) {
	r := newRig(uniform(5000, 1_000_000), func(c *Config, p *Params) {
		c.Range, c.Buckets = HashRange(0, 1_000_000), 8
		*p = DefaultParams()
		p.MaxScanRows = 10
	})
	r.signal()
	r.fill()
	b.ReportAllocs()
	b.Run(fmt.Sprintf("buffered=%d", r.v.Buffered()), func(b *testing.B) {
		for i := range b.N {
			r.v.Touch(Key{Hash: uint64(i*7919) % 1_000_000, Bytes: "k"})
		}
	})
	idle := newRig(nil, nil)
	b.Run("idle", func(b *testing.B) {
		for i := range b.N {
			idle.v.Touch(Key{Hash: uint64(i % 100), Bytes: "k"})
		}
	})
}

// BenchmarkIdleEpoch measures what an epoch of messages pays for a stream that
// has nothing to do.
func BenchmarkIdleEpoch(b *testing.B) {
	r := newRig(nil, func(_ *Config, p *Params) { p.Period = time.Hour })
	r.sync()
	b.ReportAllocs()
	for range b.N {
		r.tick(time.Millisecond)
		r.v.UpstreamCompleted(r.now, false)
		_, _ = r.v.NextList(r.now)
		r.v.EpochOpened(r.now)
		_ = r.v.Delta()
		r.v.EpochCommitted(r.now)
	}
}
