package visit

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// play drives the machine as a driver would, waking only when the machine says
// so, until the time is over. Lists answer at once, epochs take a millisecond,
// and seen is called for every visit that is committed.
func (r *rig) play(d time.Duration, seen func(at time.Duration, v Visit)) {
	for end := r.now.Mono + d; r.now.Mono < end; {
		r.fill()
		if at, ok := r.v.ReadyAt(r.now, 1000); ok && at <= r.now.Mono {
			r.v.EpochOpened(r.now)
			visits := r.v.NextVisits(r.now, nil, 1000)
			r.v.AcceptVisits(r.now, Outcome{Delivered: len(visits)})
			r.tick(time.Millisecond)
			r.commit()
			for _, v := range visits {
				seen(r.now.Mono, v)
			}
			continue
		}
		r.tick(r.sleep(end) - r.now.Mono)
	}
}

// sleep returns the next time at which something is to be done, at most end.
func (r *rig) sleep(end time.Duration) time.Duration {
	next := end
	if at, ok := r.v.WakeAt(r.now); ok {
		next = min(next, max(at, r.now.Mono+1))
	}
	if at, ok := r.v.ReadyAt(r.now, 1000); ok {
		next = min(next, max(at, r.now.Mono+1))
	}
	return next
}

// uniform returns n keys spread evenly over [0, span).
func uniform(n, span uint64) table {
	var t table
	for i := range n {
		t = append(t, tableRow{key(i*(span/n)+span/n/2, "k"), 1})
	}
	return t
}

// paced makes a rig over [0, span) with this period and everything else by
// default.
func paced(keys table, span uint64, period time.Duration) *rig {
	return newRig(keys, func(c *Config, p *Params) {
		c.Range, c.Buckets = HashRange(0, span), 8
		*p = DefaultParams()
		p.Period = period
	})
}

func TestPaceIsEven(t *testing.T) {
	for _, period := range []time.Duration{2 * time.Second, 10 * time.Second, time.Hour, 24 * time.Hour} {
		for _, first := range []time.Duration{0, period / 100, period / 41} {
			t.Run(fmt.Sprintf("KV-26 tenths of %s, first tick after %s", period, first), func(t *testing.T) {
				checkTenths(t, period, min(first, 500*time.Millisecond))
			})
		}
	}
}

// checkTenths runs three passes and counts the visits in each tenth of a period.
func checkTenths(t *testing.T, period, first time.Duration) {
	r := paced(uniform(1000, 1_000_000), 1_000_000, period)
	r.cfg.FirstTick = first
	r.start()
	start := r.now.Mono
	var tenths [30]int
	r.play(3*period, func(at time.Duration, v Visit) {
		if i := int((at - start) * 10 / period); i < len(tenths) {
			tenths[i]++
		}
	})
	for i, n := range tenths {
		if n < 70 || n > 130 {
			t.Errorf("tenth %d of the period holds %d of 1000 visits: %v", i, n, tenths)
		}
	}
}

func TestPassesLastAPeriod(t *testing.T) {
	for _, c := range []struct {
		name   string
		rng    Range
		keys   table
		period time.Duration
	}{
		{"one unit", HashRange(5, 6), spaced(5, 5), 10 * time.Second},
		{"three units", HashRange(5, 8), spaced(6, 6), time.Hour},
		{"a range inside one hash", Range{At(key(7, "a")), At(key(7, "z"))}, table{{key(7, "k"), 1}}, time.Minute},
		{"the last hash", HashRangeFrom(math.MaxUint64), table{{key(math.MaxUint64, "k"), 1}}, time.Minute},
		{"the whole space", FullRange(), table{{key(0, "k"), 1}, {key(1<<63, "k"), 1}, {key(math.MaxUint64, "k"), 1}}, 24 * time.Hour},
		{"a nanosecond a unit", HashRange(0, 1e9), spaced(1e8, 9e8), time.Second},
		{"a short period", HashRange(0, 1000), spaced(10, 990), 20 * time.Millisecond},
	} {
		t.Run("KV-25 "+c.name, func(t *testing.T) {
			r := newRig(c.keys, func(cfg *Config, p *Params) {
				cfg.Range, cfg.Buckets = c.rng, 8
				*p = DefaultParams()
				p.Period = c.period
			})
			visits := 0
			r.play(10*c.period, func(time.Duration, Visit) { visits++ })
			if n := len(c.keys); visits < 9*n || visits > 10*n {
				t.Errorf("%d visits of %d keys in ten periods", visits, n)
			}
		})
	}
}

func TestAllowanceIsBounded(t *testing.T) {
	for _, c := range []struct {
		span         uint64
		period, tick time.Duration
		epoch        time.Duration
		limit, least time.Duration
	}{
		{1 << 62, 24 * time.Hour, 500 * time.Millisecond, 0, 43200 * time.Millisecond, 43200 * time.Millisecond},
		{1 << 62, 24 * time.Hour, time.Minute, 0, 2 * time.Minute, 43200 * time.Millisecond},
		{1 << 62, 100 * 24 * time.Hour, time.Second, 0, time.Minute, time.Minute},
		{1 << 62, 2 * time.Second, 50 * time.Millisecond, 0, 200 * time.Millisecond, time.Millisecond},
		{1 << 62, 2 * time.Second, 50 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, time.Millisecond},
		{1 << 62, 2 * time.Second, 50 * time.Millisecond, 10 * time.Second, 2 * time.Second, time.Millisecond},
		{1 << 62, time.Hour, 500 * time.Millisecond, 0, 1800 * time.Millisecond, 1800 * time.Millisecond},
		{10, 10 * time.Second, 250 * time.Millisecond, 0, time.Second, time.Second},
		{1, 10 * time.Second, 250 * time.Millisecond, 0, 10 * time.Second, 10 * time.Second},
		{math.MaxUint64, 10 * time.Millisecond, 50 * time.Millisecond, 0, 10 * time.Millisecond, 5 * time.Microsecond},
	} {
		t.Run(fmt.Sprintf("span %d period %s tick %s epochs %s", c.span, c.period, c.tick, c.epoch), func(t *testing.T) {
			p := pacer{span: c.span, period: c.period, tick: c.tick}
			for range 9 {
				p.epochs.add(c.epoch)
			}
			want(t, "limit", p.limit(), c.limit)
			want(t, "minimum slice", p.minimum(), c.least)
			want(t, "allowance after a day without a read", p.allowance(24*time.Hour), c.limit)
		})
	}
}

func TestUnitsNeverOverflow(t *testing.T) {
	for _, span := range []uint64{1, 2, 3, 1000, 1 << 40, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64} {
		for _, period := range []time.Duration{1, 7, time.Millisecond, 24 * time.Hour, longest} {
			p := pacer{span: span, period: period}
			want(t, "the whole period earns the span", p.units(period), span)
			want(t, "the span costs the period", p.worth(span), period)
			if p.units(p.worth(1)) < 1 {
				t.Errorf("span %d period %s: one unit's worth earns none", span, period)
			}
		}
	}
}

func TestPauseOwesNoBurst(t *testing.T) {
	const second = time.Second
	pauses := map[string]func(r *rig){
		"frozen": func(r *rig) { r.tick(100 * second) },
		"drained": func(r *rig) {
			r.v.Drain(r.now, true)
			r.tick(100 * second)
			r.v.Drain(r.now, false)
		},
		"disabled": func(r *rig) {
			p := r.params
			p.Enabled = false
			must(r.v.Reconfigure(r.now, p))
			r.tick(100 * second)
			must(r.v.Reconfigure(r.now, r.params))
		},
		"down": func(r *rig) {
			r.tick(100 * second)
			r.crash()
		},
	}
	for name, pause := range pauses {
		t.Run("KV-25 "+name, func(t *testing.T) {
			r := paced(uniform(1000, 1_000_000), 1_000_000, 10*second)
			r.play(5*second, func(time.Duration, Visit) {})
			pause(r)
			burst, rest := 0, 0
			start := r.now.Mono
			r.play(6*second, func(at time.Duration, _ Visit) {
				if at-start < second {
					burst++
				} else {
					rest++
				}
			})
			if burst > 150 || rest < 400 {
				t.Errorf("%d visits in the first second and %d in the next five, of 100 a second", burst, rest)
			}
		})
	}
}

func TestRestartsMoreFrequentThanAPass(t *testing.T) {
	for i, every := range []time.Duration{20 * time.Second, 5 * time.Second, 5 * time.Second} {
		t.Run("R24 every "+every.String(), func(t *testing.T) {
			r := paced(uniform(60, 60), 60, time.Minute)
			r.cfg.FirstTick = r.params.Tick() * time.Duration(i) / 3
			r.start()
			visits := 0
			for range 10 * time.Minute / every {
				r.play(every, func(time.Duration, Visit) { visits++ })
				r.crash()
			}
			if visits < 8*60 || visits > 11*60 {
				t.Errorf("%d visits of 60 keys in ten periods", visits)
			}
		})
	}
}

func TestRestartsMoreFrequentThanASlice(t *testing.T) {
	for _, first := range []time.Duration{0, 250 * time.Millisecond, 499 * time.Millisecond} {
		t.Run("R24 first tick after "+first.String(), func(t *testing.T) {
			r := paced(uniform(1000, 1_000_000), 1_000_000, 24*time.Hour)
			r.cfg.FirstTick = first
			r.start()
			visits := 0
			for range 2 * time.Hour / (20 * time.Second) {
				r.play(20*time.Second, func(time.Duration, Visit) { visits++ })
				if at, ok := r.v.StoreBy(); ok && at <= r.now.Mono {
					r.sync()
				}
				r.crash()
			}
			if visits < 70 || visits > 96 {
				t.Errorf("%d of 1000 visits in a twelfth of the period", visits)
			}
		})
	}
}

// Where a bucket has few turns in a pass, no rest is long enough to earn one: a slice
// is read after each, as where there are no turns.
func TestRestsMoreFrequentThanATurn(t *testing.T) {
	for name, rest := range map[string]func(r *rig){
		"R24 restarts": func(r *rig) {
			if at, ok := r.v.StoreBy(); ok && at <= r.now.Mono {
				r.sync()
			}
			r.crash()
		},
		"a stream that is switched off and on": func(r *rig) {
			for _, on := range []bool{false, true} {
				r.params.Enabled = on
				must(r.v.Reconfigure(r.now, r.params))
			}
		},
		"a process that is frozen": func(r *rig) { r.now.Mono += 5 * time.Minute },
	} {
		for _, buckets := range []int{2, 8} {
			t.Run(fmt.Sprintf("%s, %d buckets", name, buckets), func(t *testing.T) {
				r := paced(uniform(10_000, 1_000_000), 1_000_000, 100*time.Second)
				r.cfg.Buckets, r.params.FillPeriod = buckets, 20*time.Second
				r.start()
				visits := 0
				for range 100 {
					r.play(6*time.Second, func(time.Duration, Visit) { visits++ })
					rest(r)
				}
				if visits < 450 { // a thousandth of the keys is a slice
					t.Errorf("%d visits of 10 000 keys after 100 rests", visits)
				}
			})
		}
	}
}

func TestVisitsPerSecond(t *testing.T) {
	for _, rate := range []float64{0.5, 3, 200} {
		t.Run(fmt.Sprintf("%g per second", rate), func(t *testing.T) {
			r := paced(uniform(1000, 1_000_000), 1_000_000, time.Second)
			r.params.MaxVisitsPerSecond = rate
			must(r.v.Reconfigure(r.now, r.params))
			visits := 0
			r.play(20*time.Second, func(time.Duration, Visit) { visits++ })
			if n := float64(visits); n < 19*rate-1 || n > 20*rate+1 {
				t.Errorf("%d visits in 20 s", visits)
			}
		})
	}
}

func TestCatchUpWidensSlices(t *testing.T) {
	r := paced(uniform(1000, 1_000_000), 1_000_000, 20*time.Minute)
	nothing := func(time.Duration, Visit) {}
	r.play(5*time.Minute, nothing)
	r.v.Drain(r.now, true)
	r.tick(5 * time.Minute)
	r.v.Drain(r.now, false)
	r.play(time.Minute, nothing)
	want(t, "catching up", r.v.Status(r.now).CatchUp, true)
	for range 60 {
		r.play(time.Minute, nothing)
		if s := r.v.Status(r.now); !s.CatchUp {
			want(t, "lag is below the threshold", s.Lag < time.Minute+10*time.Second, true)
			return
		}
	}
	t.Error("the lag never falls below the threshold")
}

func TestNewPeriodCountsAtOnce(t *testing.T) {
	r := paced(uniform(1000, 1_000_000), 1_000_000, 24*time.Hour)
	seen := map[Key]int{}
	count := func(_ time.Duration, v Visit) { seen[v.Key]++ }
	r.play(12*time.Hour, count)
	half := len(seen)
	r.reconfigure(t, func(p *Params) { p.Period = 10 * time.Second })
	r.play(time.Second, count)
	if n := len(seen) - half; n < 50 || n > 200 {
		t.Errorf("%d visits in the first second of a period of 10 s", n)
	}
	for len(r.v.Summaries()) == 0 {
		r.play(100*time.Millisecond, count)
	}
	want(t, "keys visited once in the pass", len(seen), 1000)
}
