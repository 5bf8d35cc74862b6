package visit

import (
	"testing"
	"time"
)

const (
	k16 = "5 10 15 20 25 30 35 40 45 50 55 60 65 70 75 80"
	k8  = "5 10 15 20 25 30 35 40"
)

// tokens lets as much time pass as the cases call "tokens available".
func (r *rig) tokens() *rig {
	r.tick(r.params.Period)
	return r
}

func TestPassCases(t *testing.T) {
	t.Run("PASS-01 two consecutive passes visit each key once", func(t *testing.T) {
		r := newRig(spaced(5, 80), func(c *Config, _ *Params) { c.Buckets = 4 })
		want(t, "first pass", sortedHashes(r.drain(16, 100, 50*time.Millisecond)), k16)
		want(t, "second pass", sortedHashes(r.drain(16, 100, 50*time.Millisecond)), k16)
	})
	t.Run("PASS-02 three names a key are one visit", func(t *testing.T) {
		r := newRig(rowsOf(3, 5, 40), nil)
		want(t, "first pass", hashes(r.drain(8, 100, 50*time.Millisecond)), k8)
		want(t, "second pass", hashes(r.drain(8, 100, 50*time.Millisecond)), k8)
	})
	t.Run("PASS-05 a pass that is not final never reports Empty", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil)
		r.drain(4, 100, 50*time.Millisecond)
		want(t, "empty", r.v.Empty(), false)
	})
	t.Run("PASS-06 passes rotate without keys", func(t *testing.T) {
		r := newRig(nil, nil)
		r.polls(5, 50*time.Millisecond)
		s := r.v.Status(r.now)
		want(t, "visits", len(r.visits), 0)
		want(t, "problems", s.Problems, "[]")
		want(t, "empty", s.Empty, false)
		if s.Pass < 4 {
			t.Errorf("after five periods the pass is %d", s.Pass)
		}
	})
	t.Run("PASS-07 draining suspends reading and handing out", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil)
		r.v.Drain(r.now, true)
		r.tick(200 * time.Millisecond)
		r.fill()
		want(t, "lists", len(r.lists), 0)
		want(t, "suspended", r.v.Suspended(), true)
		r.v.Drain(r.now, false)
		want(t, "suspended", r.v.Suspended(), false)
		want(t, "visits", hashes(r.drain(2, 100, 50*time.Millisecond)), "10 20")
	})
	t.Run("PASS-07 what was buffered is dropped by a drain and read again", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil).tokens()
		r.fill()
		want(t, "buffered", r.v.Buffered(), 2)
		r.v.Drain(r.now, true)
		want(t, "buffered while draining", r.v.Buffered(), 0)
		want(t, "offered while draining", len(r.epoch(100)), 0)
		r.v.Drain(r.now, false)
		want(t, "visits", hashes(r.drain(2, 100, 50*time.Millisecond)), "10 20")
	})
	t.Run("PASS-08 a batch size that is not positive takes nothing", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		r.fill()
		want(t, "0", len(r.epoch(0)), 0)
		want(t, "-1", len(r.epoch(-1)), 0)
		want(t, "all", hashes(r.epoch(100)), k8)
	})
	t.Run("PASS-09 keys ascend in a bucket and buckets take turns", func(t *testing.T) {
		r := newRig(spaced(3, 99), func(c *Config, p *Params) {
			c.Range, c.Buckets = HashRange(0, 100), 4
			p.Period, p.FillPeriod = 100*time.Second, time.Second
		})
		visits := r.drain(33, 100, time.Second)
		want(t, "keys", sortedHashes(visits), hashes33())
		last := map[uint64]uint64{}
		for _, visit := range visits {
			bucket := visit.Key.Hash / 25
			if visit.Key.Hash < last[bucket] {
				t.Errorf("bucket %d: %d after %d", bucket, visit.Key.Hash, last[bucket])
			}
			last[bucket] = visit.Key.Hash
		}
		for i, l := range r.lists[:40] {
			want(t, "bucket of list", l.Range.Lower.Key.Hash/25, i%4)
		}
	})
	t.Run("PASS-04 stopping twice is as stopping once", func(t *testing.T) {
		r := newRig(spaced(5, 5), nil).tokens()
		l, _ := r.begin()
		r.v.Drain(r.now, true)
		r.v.Drain(r.now, true)
		r.v.Listed(r.now, l.Token, r.answers(l))
		want(t, "buffered", r.v.Buffered(), 0)
	})
}

func hashes33() string {
	var visits []Visit
	for _, row := range spaced(3, 99) {
		visits = append(visits, Visit{Key: row.key})
	}
	return hashes(visits)
}
