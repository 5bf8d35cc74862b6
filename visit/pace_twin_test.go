package visit

import (
	"math"
	"slices"
	"time"
)

// paceTwin is a plain token bucket beside the pacer and the limiter of one
// Visitor. It is never below the real allowance, so that a list or a visit
// beyond it is one too many (KV-25).
type paceTwin struct {
	share  float64 // allowance as a share of a pass
	visits float64 // allowance of max_visits_per_second
	rate   float64
	epochs []time.Duration
	opened time.Duration // when the open epoch began
	period time.Duration
}

// periodOf returns the period in force by KV-34 and KV-49.
func (w *world) periodOf(p *owner) (period time.Duration, unlimited bool) {
	switch {
	case p.v.Final() || w.signalled > 0 && w.params.Finite:
		period = w.params.FinalPassPeriod
	case p.v.Status(w.now).Running:
		period = p.v.Status(w.now).Run.Period
	default:
		return w.params.Period, false
	}
	if period == 0 {
		return w.params.Period, true
	}
	return period, false
}

// tickOf returns the idle tick.
func (w *world) tickOf(period time.Duration) time.Duration {
	if w.params.FillPeriod > 0 {
		return w.params.FillPeriod
	}
	return min(500*time.Millisecond, period/40)
}

// least returns the smallest slice as a share of a pass (KV-23).
func (p *owner) least(period time.Duration) float64 {
	slice := min(float64(period)/2000, float64(time.Minute)) / float64(period)
	return max(slice, 1/float64(p.rng.Span()))
}

// most returns the largest allowance as a share of a pass (KV-25).
func (w *world) most(p *owner, period time.Duration) float64 {
	held := max(2*w.tickOf(period), min(period/10, time.Second), 2*p.twin.median())
	return min(1, max(p.least(period), float64(held)/float64(period)))
}

// median returns the middle of the last 16 epochs.
func (t *paceTwin) median() time.Duration {
	last := slices.Sorted(slices.Values(t.epochs[max(len(t.epochs)-16, 0):]))
	if len(last) == 0 {
		return 0
	}
	return last[len(last)/2]
}

// start begins a generation, which may do with one slice if it lags.
func (p *owner) startPace(w *world) {
	p.twin = paceTwin{}
	p.resumePace(w)
}

// resumePace ends a pause, which gives a pass that lags one slice.
func (p *owner) resumePace(w *world) {
	p.twin.period, _ = w.periodOf(p)
	p.twin.share = max(p.twin.share, p.least(p.twin.period))
}

// pass lets time pass and follows the period in force, which must be the one
// that the rules say.
func (w *world) pass(p *owner, d time.Duration) {
	period, unlimited := w.periodOf(p)
	if p.v.pacer.period != period || p.v.pacer.unlimited != unlimited {
		w.fail("%s has period %s, unlimited %v, not %s, %v", p.rng, p.v.pacer.period, p.v.pacer.unlimited, period, unlimited)
	}
	t := &p.twin
	if t.share += float64(d) / float64(period); unlimited {
		t.share = 1
	}
	t.period = period
	if rate := w.params.MaxVisitsPerSecond; rate != t.rate {
		t.rate, t.visits = rate, w.mostVisits(p) // what was saved up before counts
	}
	t.visits += d.Seconds() * t.rate
}

// mostVisits returns how many visits may be saved up.
func (w *world) mostVisits(p *owner) float64 {
	return max(1, max(time.Second, 2*p.twin.median()).Seconds()*w.params.MaxVisitsPerSecond)
}

// checkList checks a list that begins against the allowance.
func (w *world) checkList(p *owner, l List) {
	w.pass(p, 0)
	if _, unlimited := w.periodOf(p); unlimited {
		return
	}
	// What an epoch that has ended since adds to the largest allowance counts for
	// the time before, too; so it is applied here and not as time passes.
	p.twin.share = min(p.twin.share, w.most(p, p.twin.period))
	span := float64(l.Range.Span())
	if p.v.catchUp {
		span /= w.params.CatchupMultiplier
	}
	share := span / float64(p.rng.Span())
	if share > p.twin.share+1e-6 && l.Range.Span() > 1 || p.twin.share < 1e-9 {
		w.fail("the list of %s takes %.6f of a pass, %.6f are allowed", l.Range, share, p.twin.share)
	}
	p.twin.share = max(p.twin.share-share, 0)
	w.tally.Paced++
}

// refund gives back what the answer to a list did not cover.
func (w *world) refund(f *answerUnderWay) {
	p, l := f.part, f.list
	if p.v != f.v {
		return
	}
	var left uint64
	for _, part := range p.v.cover.buckets[l.Bucket].parts {
		if part.state == pending {
			left += part.Intersect(l.Range).length()
		}
	}
	p.twin.share += float64(left) / float64(p.rng.Span())
}

// checkTaken checks visits that are handed out against max_visits_per_second.
func (w *world) checkTaken(p *owner, n int) {
	w.pass(p, 0)
	if w.params.MaxVisitsPerSecond == 0 {
		return
	}
	p.twin.visits = min(p.twin.visits, w.mostVisits(p))
	if p.twin.visits -= float64(n); p.twin.visits < -1e-6 {
		w.fail("%d visits are handed out, %.3f too many for %g per second", n, -p.twin.visits, w.params.MaxVisitsPerSecond)
	}
}

// able says whether a fill loop has everything it needs but time.
func (p *owner) able(w *world) bool {
	s := p.v.Status(w.now)
	_, busy := p.v.Outstanding()
	return p.epoch == nil && !busy && !p.v.paused() && !p.v.full() && p.v.cover.has(pending) &&
		!slices.ContainsFunc(s.Buckets, func(b BucketStatus) bool { return b.Stalled })
}

// never is later than any wake-up.
const never = time.Duration(math.MaxInt64)

// wake returns when the fill loop asks to be woken.
func (p *owner) wake(now Instant) time.Duration {
	if at, ok := p.v.WakeAt(now); ok {
		return at
	}
	return never
}

// checkWake checks, after a time in which nothing happened, that a driver which
// sleeps until the fill loop asks for it sleeps through nothing and does not
// wake in vain for ever.
func (w *world) checkWake(p *owner, asked time.Duration) {
	_, ok := p.v.NextList(w.now)
	if ok && asked > w.now.Mono {
		w.fail("%s would read now and asked to sleep until %s: %s", p.rng, asked, p.v.Status(w.now))
	}
	if again := p.wake(w.now); !ok && again <= w.now.Mono {
		w.fail("%s asks to be woken at %s and has nothing to do: %s", p.rng, again, p.v.Status(w.now))
	}
}

// checkStarved checks, after a time in which nothing happened, that a fill loop
// which was able to read reads, and that visits which are ready are handed out.
func (w *world) checkStarved(p *owner, able bool, d time.Duration) {
	if p.v.paused() {
		return
	}
	period, _ := w.periodOf(p)
	tick := max(w.tickOf(period), w.params.Tick()) // a first tick is spread over an ordinary one
	due := tick + time.Duration(2*p.least(period)*float64(period)) + 1
	if _, ok := p.v.NextList(w.now); able && d >= due && !ok {
		w.fail("%s does not read %s after it could: %s", p.rng, d, p.v.Status(w.now))
	}
	wait := time.Duration(0)
	if rate := w.params.MaxVisitsPerSecond; rate > 0 {
		// A pause inside an epoch empties the allowance before its visits are paid.
		debt := w.mostVisits(p)
		wait = time.Duration(math.Ceil((1 + debt) * float64(time.Second) / rate))
	}
	if p.v.Buffered() > 0 && d > wait && len(p.v.NextVisits(w.now, nil, 1)) == 0 {
		w.fail("%s hands out nothing of %d visits after %s", p.rng, p.v.Buffered(), d)
	}
}
