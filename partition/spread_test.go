package partition

import (
	"strconv"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/visit"
	"pgregory.net/rapid"
)

// spreading is a drive with 1000 keys, of which a tick of 100 ms reads a tenth,
// and visits that take a while.
func spreading(t testing.TB, cost time.Duration) (d *drive, at *[]time.Duration) {
	at = new([]time.Duration)
	d = newDrive(t, "s", "sweep", func(d *drive) {
		d.cost = cost
		d.cfg.Visitors[0].Params.Period, d.cfg.Visitors[0].Params.FillPeriod = time.Second, 100*time.Millisecond
		d.cfg.Visitors[0].Config.Range = visit.HashRange(0, 1000)
		var hashes []uint64
		for h := range uint64(1000) {
			hashes = append(hashes, h)
		}
		d.put("/s", "x", hashes...)
		d.handle = func(c *call) {
			if c.visit != nil {
				*at = append(*at, d.now.Mono)
			}
		}
	})
	d.run(450 * time.Millisecond) // the pace and the cost of a visit are known
	*at = nil
	return d, at
}

// TestVisitsOfASliceAreSpreadOverTheTick: in one go they would take the processors
// from everything else until they are done.
func TestVisitsOfASliceAreSpreadOverTheTick(t *testing.T) {
	for name, message := range map[string]bool{"visits alone": false, "beside messages": true} {
		t.Run(name, func(t *testing.T) {
			d, at := spreading(t, 100*time.Microsecond)
			last := d.now.Mono
			for range 300 {
				if message {
					d.send("s", many(1)...)
				}
				d.run(time.Millisecond)
			}
			if n := len(*at); n < 270 || n > 330 {
				t.Fatalf("%d visits in three ticks", n)
			}
			var longest time.Duration
			for _, t := range *at {
				longest, last = max(longest, t-last), t
			}
			if longest > 25*time.Millisecond {
				t.Errorf("visits make way for %s, and come at once then", longest)
			}
		})
	}
}

// TestVisitsThatNeedTheTimeAreNotSpread: a partition that could not keep its pace
// with pauses makes none.
func TestVisitsThatNeedTheTimeAreNotSpread(t *testing.T) {
	d, at := spreading(t, 800*time.Microsecond)
	d.run(time.Second)
	if n := len(*at); n < 900 {
		t.Errorf("%d visits in a period of 1000, though there is time for all", n)
	}
	if v := d.machine.Status(d.now).Visitors[0]; v.Lag > 200*time.Millisecond {
		t.Errorf("the pass is %s behind", v.Lag)
	}
}

// TestRareVisitsAreNotSpread: a partition that reads a few times a minute commits no
// more often than that, whatever its visits cost (KV-23).
func TestRareVisitsAreNotSpread(t *testing.T) {
	d := newDrive(t, "s", "sweep", func(d *drive) {
		d.cost, d.cfg.Params.MaxRows = 500*time.Microsecond, 20
		d.cfg.Visitors[0].Params.Period, d.cfg.Visitors[0].Params.FillPeriod = 24*time.Hour, 0
		d.cfg.Visitors[0].Config.Range = visit.HashRange(0, 2000)
		for n := range 40_000 {
			d.states[visit.Key{Hash: uint64(n / 20), Bytes: strconv.Itoa(n)}] = map[string]string{"/s": "x"}
		}
	})
	d.run(2 * time.Minute)
	visits, epochs := len(d.visits), d.machine.Status(d.now).Totals.Epochs
	d.run(5 * time.Minute)
	slices := uint64(len(d.visits)-visits) / 20
	if n := d.machine.Status(d.now).Totals.Epochs - epochs; slices < 5 || n > slices+1 {
		t.Errorf("%d epochs for %d slices in five minutes", n, slices)
	}
}

// TestSpreadVisitsAllHaveTheirTurn: whatever the time, at least one is due as soon
// as time has passed, all of them at the end, and a portion when it says so.
func TestSpreadVisitsAllHaveTheirTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.Int64Range(0, int64(time.Hour))
		s := spread{from: time.Duration(duration.Draw(t, "from")), visits: rapid.IntRange(1, 1e6).Draw(t, "visits"), portion: rapid.IntRange(1, 1e6).Draw(t, "portion")}
		s.by = s.from + 1 + time.Duration(duration.Draw(t, "length"))
		now := s.from + 1 + time.Duration(duration.Draw(t, "elapsed"))
		n := s.due(now)
		if n < 1 || n > s.visits || now >= s.by && n != s.visits {
			t.Fatalf("%d of %+v are due at %d", n, s, now)
		}
		if n := s.due(max(s.portionAt(), s.from+1)); n < min(s.portion, s.visits)-1 || n == 0 {
			t.Fatalf("%d of %+v are due when a portion is", n, s)
		}
	})
}
