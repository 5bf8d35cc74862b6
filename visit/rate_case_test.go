package visit

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestRateCases(t *testing.T) {
	hundred := func(c *Config, p *Params) { c.Range = HashRange(0, 100) }
	offered := func(r *rig) Rate { return r.v.Status(r.now).Offered }
	t.Run("RATE-01 the planned rate counts keys and ignores a full buffer", func(t *testing.T) {
		keys := append(table{{key(0, "k"), 2}}, rowsOf(2, 10, 90)...)
		r := newRig(keys, func(c *Config, p *Params) {
			hundred(c, p)
			p.MaxScanRows, p.BufferRowLimit = 5, 1
		}).tokens()
		r.fill()
		want(t, "ready", r.v.Buffered(), 2)
		want(t, "planned", offered(r), 1000)
		r.reconfigure(t, func(p *Params) { p.Period = 20 * time.Millisecond })
		want(t, "REC-02 planned at once", offered(r), 500)
		for range 5 {
			r.tick(tick50)
			r.fill()
		}
		want(t, "ready", r.v.Buffered(), 2)
		want(t, "planned", offered(r), 500)
	})
	t.Run("REC-02 a changed period shows in the planned rate at once", func(t *testing.T) {
		r := newRig(append(table{{key(0, "k"), 1}}, spaced(10, 90)...), hundred).tokens()
		r.fill()
		want(t, "planned", offered(r), 1000)
		lists := len(r.lists)
		r.reconfigure(t, func(p *Params) { p.Period = 20 * time.Millisecond })
		want(t, "planned", offered(r), 500)
		want(t, "ready", r.v.Buffered(), 10)
		want(t, "reads", len(r.lists), lists)
	})
	t.Run("RATE-05 an empty stretch is a known zero", func(t *testing.T) {
		r := newRig(spaced(90, 90), func(c *Config, p *Params) { hundred(c, p); c.Buckets = 2 }).tokens()
		want(t, "before any read", offered(r), "unknown")
		l, _ := r.begin()
		r.v.Listed(r.now, l.Token, r.answers(l))
		want(t, "after the empty bucket", offered(r), 0)
		want(t, "empty", r.v.Empty(), false)
		r.fill()
		want(t, "ready", r.v.Buffered(), 1)
		want(t, "after the other", offered(r), 100)
	})
	t.Run("RATE-07 scanned empty state", func(t *testing.T) {
		r := newRig(nil, hundred).tokens()
		r.fill()
		want(t, "ready", r.v.Buffered(), 0)
		want(t, "rate", offered(r), 0)
		want(t, "empty", r.v.Empty(), false)
	})
	t.Run("RATE-09 pace for an ordinary span", func(t *testing.T) {
		p := pacer{span: 1000, period: 2 * time.Second}
		want(t, "units per second", p.rate(), 500)
	})
	t.Run("RATE-16 a stream that became Empty offers nothing", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.signal()
		r.polls(5, tick50)
		want(t, "rate", r.v.Status(r.now).Offered, "0")
	})
	t.Run("RATE-17 constant cap hits do not stretch the pass", func(t *testing.T) {
		r := newRig(spaced(1, 999), func(c *Config, p *Params) {
			c.Range, p.Period, p.FillPeriod, p.MaxScanRows = HashRange(0, 1000), 10*time.Second, 0, 3
		})
		for len(r.v.Summaries()) < 2 {
			r.polls(1, 10*time.Millisecond)
		}
		for _, s := range r.v.Summaries() {
			if took := time.Duration(s.End - s.Start); took < 9*time.Second || took > 11*time.Second {
				t.Errorf("a pass of 10 s took %s", took)
			}
		}
	})
	t.Run("after 30 s recent reads weigh more", func(t *testing.T) {
		var d density
		d.observe(0, 10, 40, 100)
		d.observe(20*time.Second, 20, 80, 100)
		value, bytes, _ := d.value()
		want(t, "lifetime", value, 0.15)
		want(t, "bytes over the lifetime", bytes, 0.6)
		d.observe(40*time.Second, 20, 80, 100)
		if value, bytes, _ = d.value(); value <= 0.16 || value >= 0.2 || bytes <= 4*0.16 || bytes >= 0.8 {
			t.Errorf("the density is %v keys and %v bytes", value, bytes)
		}
	})
	t.Run("a range whose bounds share the hash has no rate", func(t *testing.T) {
		r := newRig(table{{key(7, "b"), 1}}, func(c *Config, _ *Params) {
			c.Range = Range{Lower: At(key(7, "a")), Upper: At(key(7, "z"))}
		})
		want(t, "visits in each pass", hashes(r.drain(3, 1, tick50)), "7 7 7")
		want(t, "rate", offered(r), "unknown")
	})
	t.Run("processed counts committed visits", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		r.fill()
		want(t, "before", r.v.Status(r.now).Processed, "unknown")
		r.tick(time.Second)
		r.epoch(4)
		want(t, "4 in about a second", r.v.Status(r.now).Processed.Value > 3.9, true)
	})
}

func TestAPeriodThatCannotBeKept(t *testing.T) {
	t.Run("period_unreachable is raised and cleared", func(t *testing.T) {
		r := newRig(spaced(1, 999), func(c *Config, p *Params) {
			c.Range, p.Period, p.FillPeriod, p.BufferRowLimit = HashRange(0, 1000), 10*time.Second, 0, 10
		})
		for range 40 {
			r.fill()
			r.epoch(10)
			r.tick(250 * time.Millisecond)
		}
		if m := r.problem("period_unreachable"); !strings.HasPrefix(m, "needs 99.8 keys/s, achieves 3") {
			t.Errorf("with 40%% of the time it needs: %q", m)
		}
		want(t, "what to do", strings.HasSuffix(r.problem("period_unreachable"), "lengthen period or give visits more time (visit_share, max_visits_per_second)"), true)
		l, listing := r.begin()
		for range 100 {
			if listing {
				break
			}
			r.epoch(10)
			r.tick(250 * time.Millisecond)
			l, listing = r.begin()
		}
		r.v.ListFailed(r.now, l.Token, errors.New("no luck"))
		want(t, "while nothing can be read", strings.HasSuffix(r.problem("period_unreachable"), "; it cannot read, see background_fill"), true)
		r.reconfigure(t, func(p *Params) { p.Period = 100 * time.Second })
		for range 400 {
			r.fill()
			r.epoch(10)
			r.tick(250 * time.Millisecond)
		}
		want(t, "with time enough", r.problem("period_unreachable"), "")
	})
}

func TestReconfigureCases(t *testing.T) {
	t.Run("REC-04 a raised cap ends the stall", func(t *testing.T) {
		r := newRig(table{{key(7, "k"), 5}}, func(_ *Config, p *Params) { p.MaxScanRows, p.FillPeriod = 5, time.Hour }).tokens()
		r.fill()
		want(t, "problem", r.problem("scan_cap_stall"), stalled5)
		r.reconfigure(t, func(p *Params) { p.MaxScanRows = 6 })
		r.fill()
		want(t, "ready at once", r.v.Buffered(), 1)
		want(t, "problem", r.problem("scan_cap_stall"), "")
	})
	t.Run("REC-05 defaults and bounds", func(t *testing.T) {
		want(t, "defaults", DefaultParams().Validate(), "<nil>")
		p := Params{FinalPassPeriod: -1, FillPeriod: -1, CatchupLagThreshold: -1, CatchupMultiplier: 1, MaxVisitsPerSecond: -1}
		want(t, "every problem at once", p.Validate(), `period must be greater than 0 and at most 100 years, got 0s
final_pass_period must be at least 0 and at most 100 years, got -1ns
background_fill_period must be greater than 0 and at most 100 years, got -1ns
catchup_lag_threshold must be at least 0, got -1ns
catchup_speedup_multiplier must be greater than 1, got 1
max_visits_per_second must be greater than 0, got -1
max_scan_rows_per_iteration must be greater than 0, got 0
buffer_row_limit must be greater than 0, got 0
buffer_byte_limit must be greater than 0, got 0`)
		r := newRig(nil, nil)
		if err := r.v.Reconfigure(r.now, p); err == nil {
			t.Error("bad parameters were taken")
		}
		want(t, "the old ones stay", r.v.params, r.params)
	})
	t.Run("REC-06 without its section a stream falls back to defaults", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(3, 3, tick50)
		r.reconfigure(t, func(p *Params) { *p = DefaultParams() })
		want(t, "period", r.v.pacer.period, 24*time.Hour)
		want(t, "coverage is kept", r.v.Coverage(), "pass 1: [1,20:k)C [20:k,100)B")
	})
}
