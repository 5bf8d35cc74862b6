package fieldreport

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flowtest"
)

// TestTenDays: a period of a day, no input, and restarts at random moments. An
// idle partition reads and commits a few times a minute.
func TestTenDays(t *testing.T) {
	play(t, func(t *testing.T) {
		const day = 24 * time.Hour
		w := newWorld(t, setting{partitions: 2, buckets: 8, period: day})
		w.fill(0, 100_000, nil)
		var running time.Duration
		for w.now() < 10*day {
			from := w.now()
			w.start()
			w.wait(min(time.Duration(w.rng.Int64N(int64(2*day))), 10*day+time.Hour-w.now()))
			running += w.now() - from
			if w.rng.IntN(2) == 0 {
				w.kill()
			} else {
				w.pause()
			}
			w.wait(time.Duration(w.rng.Int64N(int64(time.Minute))))
		}
		perMinute := func(n int64) float64 { return float64(n) / running.Minutes() / float64(w.partitions) }
		lists, commits := perMinute(w.store.lists.Load()), perMinute(w.store.commits.Load())
		t.Logf("%.1f lists and %.1f commits a minute in each partition", lists, commits)
		if lists > 4 || commits > 8 {
			t.Errorf("an idle partition lists %.1f times and commits %.1f times a minute: want a few times", lists, commits)
		}
		w.passesAre(9, 10)
		passes, err := w.summaries()
		w.check(err)
		var claims []flowtest.Claim
		for _, p := range passes {
			claims = append(claims, p.Claim)
		}
		l := w.rec.Committed()
		w.check(flowtest.Cover(l, w.periods(1.2)), flowtest.Gap(l, w.periods(1.2)), flowtest.Once(l),
			flowtest.Smooth(l, flowtest.Span{To: 10 * day}, 100, 0.7, 1.3), flowtest.Honest(l, day, claims...))
	})
}
