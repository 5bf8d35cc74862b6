package visit

import (
	"testing"
	"time"
)

const stalled5 = "Key visitor stalled: a single key has more than max_scan_rows_per_iteration = 5 rows"

func TestCapCases(t *testing.T) {
	t.Run("CAP-01 a capped read keeps only keys that are complete", func(t *testing.T) {
		keys := append(table{{key(0, "k"), 2}}, rowsOf(2, 10, 90)...)
		r := newRig(keys, func(c *Config, p *Params) {
			c.Range, p.MaxScanRows, p.BufferRowLimit = HashRange(0, 100), 5, 1
		}).tokens()
		r.fill()
		want(t, "ready", r.v.Buffered(), 2)
		want(t, "coverage", r.v.Coverage(), "pass 1: [0,20:k)B [20:k,100)p")
		want(t, "visits", hashes(r.epoch(10)), "0 10")
	})
	t.Run("CAP-03 a key with as many rows as the cap stalls until the cap is raised", func(t *testing.T) {
		r := newRig(table{{key(7, "k"), 5}}, func(_ *Config, p *Params) { p.MaxScanRows = 5 })
		r.polls(5, 50*time.Millisecond)
		want(t, "visits", len(r.visits), 0)
		want(t, "problem", r.problem("scan_cap_stall"), stalled5)
		want(t, "coverage", r.v.Coverage(), "pass 1: [1,7:k)C [7:k,100)p")
		r.params.MaxScanRows = 6
		want(t, "refused", r.v.Reconfigure(r.now, r.params), "<nil>")
		want(t, "visits", hashes(r.drain(1, 1, 50*time.Millisecond)), "7")
		want(t, "problem", r.problem("scan_cap_stall"), "")
	})
	t.Run("CAP-04 a cap of 1 is reported as a stall", func(t *testing.T) {
		r := newRig(spaced(10, 20), func(_ *Config, p *Params) { p.MaxScanRows = 1 })
		r.polls(10, 50*time.Millisecond)
		want(t, "visits", len(r.visits), 0)
		want(t, "problem", r.problem("scan_cap_stall"),
			"Key visitor stalled: a single key has more than max_scan_rows_per_iteration = 1 rows")
		if len(r.lists) > 11 {
			t.Errorf("%d lists in 10 ticks: a stalled bucket must be idle between ticks", len(r.lists))
		}
	})
	t.Run("CAP-07 capped reads go on at once", func(t *testing.T) {
		r := newRig(spaced(5, 80), func(_ *Config, p *Params) { p.MaxScanRows, p.FillPeriod = 4, 1000*time.Second }).tokens()
		r.fill()
		want(t, "ready", r.v.Buffered(), 16)
	})
	t.Run("CAP-08 a stall stays visible while other buckets advance", func(t *testing.T) {
		keys := table{{key(7, "k"), 5}, {key(60, "a"), 1}, {key(60, "b"), 1}, {key(90, "k"), 1}}
		r := newRig(keys, func(c *Config, p *Params) { c.Buckets, p.MaxScanRows = 2, 5 }).tokens()
		for range 10 {
			r.polls(1, 50*time.Millisecond)
			want(t, "problem", r.problem("scan_cap_stall"), stalled5)
		}
		want(t, "visits", hashes(r.visits), "60 60 90")
		want(t, "pass", r.v.Status(r.now).Pass, 1)
		want(t, "buckets", r.v.Status(r.now).Buckets, "[{[1,51) 0.12 true} {[51,100) 1 false}]")
	})
	t.Run("a source that gives up before its first key halves the slice", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil).tokens()
		for _, upper := range []string{"[1,100)", "[1,50)", "[1,25)"} {
			l, _ := r.begin()
			want(t, "slice", l.Range, upper)
			r.v.Listed(r.now, l.Token, []Answer{{CompleteTo: &l.Range.Lower}})
		}
		want(t, "problems", r.v.Status(r.now).Problems, "[]")
		r.fill()
		want(t, "ready", r.v.Buffered(), 16)
	})
	t.Run("a single hash that no source gets through is an error", func(t *testing.T) {
		r := newRig(nil, func(c *Config, _ *Params) { c.Range = HashRange(1, 2) }).tokens()
		l, _ := r.begin()
		r.v.Listed(r.now, l.Token, []Answer{{CompleteTo: &l.Range.Lower}})
		want(t, "problem", r.problem("background_fill"),
			"a list of [1,2), a single hash, covered nothing of it before the source's limit of time or work")
	})
}

func TestFaultySources(t *testing.T) {
	outside, before := AtHash(100), AtHash(0)
	one := []Found{{Key: key(5, "k")}}
	for _, c := range []struct {
		name   string
		answer Answer
		says   string
	}{
		{"keys out of order", Answer{Keys: []Found{{Key: key(7, "a")}, {Key: key(5, "a")}}},
			"source 0: it returned key 5:a behind 7:a: keys must be distinct and ascend"},
		{"a key twice", Answer{Keys: []Found{{Key: key(5, "a")}, {Key: key(5, "a")}}},
			"source 0: it returned key 5:a behind 5:a: keys must be distinct and ascend"},
		{"a key outside the slice", Answer{Keys: []Found{{Key: key(5, "a")}, {Key: key(100, "a")}}},
			"source 0: it returned keys 5:a to 100:a, some outside the slice [1,100)"},
		{"complete beyond the slice", Answer{Keys: one, CompleteTo: &Bound{End: true}},
			"source 0: it claims to be complete to +inf, which is outside the slice [1,100)"},
		{"complete before the slice", Answer{CompleteTo: &before},
			"source 0: it claims to be complete to 0, which is outside the slice [1,100)"},
		{"rows without keys", Answer{Rows: 10_000, CompleteTo: &outside},
			"source 0: it returned 10000 rows of the slice [1,100) without a key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(spaced(5, 5), nil).tokens()
			l, _ := r.begin()
			r.v.Listed(r.now, l.Token, []Answer{c.answer})
			want(t, "problem", r.problem("background_fill"), c.says)
			want(t, "coverage", r.v.Coverage(), "pass 1: [1,100)p")
			want(t, "visits", hashes(r.drain(1, 1, 50*time.Millisecond)), "5")
			want(t, "problem", r.problem("background_fill"), "")
		})
	}
}
