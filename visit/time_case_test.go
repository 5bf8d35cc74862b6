package visit

import (
	"errors"
	"testing"
	"time"
)

// slow is a pass of 100 s with a tick of 1 s.
func slow(_ *Config, p *Params) { p.Period, p.FillPeriod = 100*time.Second, time.Second }

func TestTimestampCases(t *testing.T) {
	t.Run("TS-01 there is no stamp before the first read", func(t *testing.T) {
		r := newRig(nil, buckets(2))
		want(t, "start", r.v.Status(r.now).PassStart, 0)
	})
	t.Run("TS-03 a commit keeps the stamp", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		r.fill()
		read := r.now.Wall
		r.tick(time.Second)
		r.epoch(1)
		want(t, "start", r.v.Status(r.now).PassStart, read)
	})
	t.Run("TS-04 the stamp survives a restart", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		r.fill()
		read := r.now.Wall
		r.tick(time.Second)
		r.epoch(1)
		r.tick(time.Hour)
		r.crash()
		want(t, "start", r.v.Status(r.now).PassStart, read)
	})
	for _, c := range []struct {
		share uint64
		event time.Duration
	}{{25, 1025 * time.Second}, {75, 1050 * time.Second}} {
		t.Run("TS-05 event time of a late visit", func(t *testing.T) {
			r := newRig(nil, func(cfg *Config, p *Params) {
				slow(cfg, p)
				cfg.Range = HashRange(0, 100)
			})
			r.now = Instant{Mono: time.Hour, Wall: int64(1000 * time.Second)}
			r.start()
			r.v.pass.start = r.now.Wall
			r.v.cover.mark(HashRange(0, c.share-1), committed)
			r.tick(50 * time.Second)
			l, _ := r.begin()
			end := AtHash(c.share)
			r.v.Listed(r.now, l.Token, []Answer{{Keys: []Found{{Key: key(c.share-1, "k")}}, CompleteTo: &end}})
			visit := r.v.NextVisits(r.now, nil, 1)[0]
			want(t, "system", time.Duration(visit.System), 1050*time.Second)
			want(t, "event", time.Duration(visit.Event), c.event)
		})
	}
	t.Run("TS-06 on schedule, event time is system time within a tick", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		for _, v := range r.drain(99, 10, time.Second) {
			if late := v.System - v.Event; late < 0 || late > int64(time.Second) {
				t.Errorf("%s is %s late", v, time.Duration(late))
			}
		}
	})
	t.Run("TS-07 one chunk has one clock reading and its ids ascend", func(t *testing.T) {
		r := newRig(spaced(5, 80), buckets(2))
		type id struct{ generation, list, index uint64 }
		seen := map[id]bool{}
		for pass := range 4 {
			visits := r.drain(16, 5, tick50)
			for i, v := range visits {
				this := id{r.cfg.Generation, v.List, uint64(v.Index)}
				if seen[this] {
					t.Errorf("id %+v is used twice", this)
				}
				seen[this] = true
				if i == 0 || visits[i-1].List != v.List {
					continue
				}
				if last := visits[i-1]; last.System != v.System || last.Event != v.Event || last.Index+1 != v.Index {
					t.Errorf("%s and %s are of one chunk", last, v)
				}
			}
			if pass == 1 {
				r.crash()
			}
		}
	})
}

func TestScheduleRules(t *testing.T) {
	t.Run("a wall clock that steps back makes no lag", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		r.drain(50, 10, time.Second)
		r.now.Wall -= int64(time.Hour)
		want(t, "lag", r.v.Status(r.now).Lag, "0s")
		for _, v := range r.drain(40, 10, time.Second) {
			if v.Event > v.System {
				t.Errorf("%s is in the future", v)
			}
		}
	})
	t.Run("a wall clock that steps forward makes no burst", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		r.drain(50, 10, time.Second)
		r.now.Wall += int64(time.Hour)
		before := len(r.visits)
		r.polls(10, time.Second)
		if n := len(r.visits) - before; n > 12 {
			t.Errorf("%d visits in 10 of 100 seconds", n)
		}
	})
	t.Run("a changed period keeps the lag", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		r.drain(50, 10, time.Second)
		r.tick(20 * time.Second)
		before := r.v.Status(r.now).Lag
		r.reconfigure(t, func(p *Params) { p.Period = 10 * time.Second })
		if diff := r.v.Status(r.now).Lag - before; diff < -time.Millisecond || diff > time.Millisecond {
			t.Errorf("the lag was %s and is %s", before, r.v.Status(r.now).Lag)
		}
	})
	t.Run("lag does not grow while disabled", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		r.drain(50, 10, time.Second)
		before := r.v.Status(r.now).Lag
		r.reconfigure(t, func(p *Params) { p.Enabled = false })
		r.tick(time.Hour)
		want(t, "lag while disabled", r.v.Status(r.now).Lag, before)
		r.reconfigure(t, func(p *Params) { p.Enabled = true })
		want(t, "lag after", r.v.Status(r.now).Lag, before)
	})
	t.Run("nor over restarts, nor over a split and a merge", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		r.drain(50, 10, time.Second)
		r.tick(20 * time.Second)
		before := r.v.Status(r.now).Lag
		r.reconfigure(t, func(p *Params) { p.Enabled = false })
		by, ok := r.v.StoreBy()
		want(t, "it is stored soon", ok && by <= r.now.Mono+storeWithin, true)
		r.sync()
		r.tick(time.Hour)
		r.crash()
		want(t, "lag while disabled", r.v.Status(r.now).Lag, before)
		r.tick(time.Hour)
		r.sync()
		halves := []Range{HashRange(1, 50), HashRange(50, 100)}
		parts, _ := Repartition([]Piece{{r.cfg.Range, r.st}}, halves, 1)
		whole, _ := Repartition([]Piece{{halves[0], parts[0]}, {halves[1], parts[1]}}, []Range{r.cfg.Range}, 1)
		r.tick(time.Hour)
		r.st = whole[0]
		r.params.Enabled = true
		r.crash()
		want(t, "lag after", r.v.Status(r.now).Lag, before)
		r.sync()
		r.tick(time.Hour)
		r.crash()
		want(t, "lag after down-time", r.v.Status(r.now).Lag, before+time.Hour)
	})
	t.Run("down-time counts as lag", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		r.drain(50, 10, time.Second)
		before := r.v.Status(r.now).Lag
		r.tick(time.Hour)
		r.crash()
		if lag := r.v.Status(r.now).Lag; lag < before+59*time.Minute {
			t.Errorf("after an hour of down-time the lag is %s", lag)
		}
	})
}

func TestWatermarkRules(t *testing.T) {
	t.Run("the announced watermark wins over the formula", func(t *testing.T) {
		r := newRig(spaced(1, 99), slow)
		r.drain(10, 10, time.Second)
		r.v.EpochOpened(r.now)
		w := r.v.Watermark(r.now)
		r.v.AnnounceWatermark(w)
		r.commit()
		r.now.Wall -= int64(time.Hour)
		r.crash()
		want(t, "watermark", r.v.Watermark(r.now), w)
		for _, v := range r.drain(10, 10, time.Second) {
			want(t, "event", v.Event, w)
		}
	})
	t.Run("the watermark waits for buffered and taken visits", func(t *testing.T) {
		r := newRig(spaced(5, 40), slow)
		for r.v.Buffered() == 0 {
			r.tick(time.Second)
			r.fill()
		}
		event := r.v.NextVisits(r.now, nil, 1)[0].Event
		r.tick(time.Second)
		want(t, "buffered", r.v.Watermark(r.now), event)
		r.v.EpochOpened(r.now)
		r.v.AcceptVisits(r.now, Outcome{Delivered: 1})
		want(t, "taken", r.v.Watermark(r.now), event)
		r.commit()
		want(t, "committed", r.v.Watermark(r.now), r.now.Wall-int64(r.v.Status(r.now).Lag))
	})
}

func TestDisabledStreamsHoldNoWatermark(t *testing.T) {
	r := newRig(spaced(1, 99), slow)
	for r.v.Buffered() == 0 {
		r.tick(time.Second)
		r.fill()
	}
	before := r.v.Watermark(r.now)
	r.reconfigure(t, func(p *Params) { p.Enabled = false })
	r.tick(time.Hour)
	want(t, "KV-45 it follows the clock", r.v.Watermark(r.now) >= before+int64(time.Hour), true)
}

func TestDiagnosticCases(t *testing.T) {
	t.Run("DIAG-01 a failing read shows and loses nothing", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil).tokens()
		for range 5 {
			l, ok := r.begin()
			want(t, "retried at the tick", ok, true)
			want(t, "slice", l.Range, "[1,100)")
			r.v.ListFailed(r.now, l.Token, errors.New("disk on fire"))
			_, again := r.v.NextList(r.now)
			want(t, "retried at once", again, false)
			want(t, "problem", r.problem("background_fill"), "disk on fire")
			want(t, "ready", r.v.Buffered(), 0)
			r.tick(tick50)
		}
		want(t, "visits", hashes(r.drain(2, 100, tick50)), "10 20")
		want(t, "problem", r.problem("background_fill"), "")
	})
	t.Run("DIAG-03 the stall names stream and limit", func(t *testing.T) {
		r := newRig(table{{key(7, "k"), 5}}, func(_ *Config, p *Params) { p.MaxScanRows = 5 })
		r.polls(5, tick50)
		want(t, "problems", r.v.Status(r.now).Problems[1], "{/key_visitor/sweep/scan_cap_stall "+stalled5+"}")
	})
	t.Run("DIAG-06 stopping during a held read leaves no trace", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil).tokens()
		l, _ := r.begin()
		r.v.Drain(r.now, true)
		r.v.ListFailed(r.now, l.Token, errors.New("interrupted"))
		want(t, "buffered", r.v.Buffered(), 0)
		want(t, "problems", r.v.Status(r.now).Problems, "[]")
	})
	t.Run("DIAG-07 an error names its stream only", func(t *testing.T) {
		bad := newRig(spaced(10, 20), func(c *Config, _ *Params) { c.Stream = "bad" }).tokens()
		good := newRig(spaced(10, 20), nil).tokens()
		l, _ := bad.begin()
		bad.v.ListFailed(bad.now, l.Token, errors.New("disk on fire"))
		good.fill()
		want(t, "bad", bad.v.Status(bad.now).Problems, "[{/key_visitor/bad/background_fill disk on fire}]")
		want(t, "good", good.v.Status(good.now).Problems, "[]")
	})
	t.Run("a list without an answer shows after 30 s", func(t *testing.T) {
		r := newRig(spaced(10, 20), nil).tokens()
		l, _ := r.begin()
		r.tick(29 * time.Second)
		want(t, "problem", r.problem("background_fill"), "")
		r.tick(2 * time.Second)
		want(t, "problem", r.problem("background_fill"), "a list of [1,100) has had no answer for 31s")
		r.v.Listed(r.now, l.Token, r.answers(l))
		want(t, "problem", r.problem("background_fill"), "")
	})
	t.Run("a disabled stream says what waits for it", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(4, 4, tick50)
		r.reconfigure(t, func(p *Params) { p.Enabled = false })
		want(t, "problem", r.problem("disabled"),
			"pass 1 rests at 24%, and the partition cannot complete, until the stream is enabled again")
		want(t, "empty", r.v.Empty(), false)
		want(t, "suspended", r.v.Suspended(), false)
		want(t, "visits", len(r.polls(10, tick50)), 0)
		r.reconfigure(t, func(p *Params) { p.Enabled = true })
		want(t, "rest", hashes(r.drain(4, 4, tick50)), "25 30 35 40")
	})
}
