package visit

import (
	"math"
	"time"
)

// limiter holds hand-out to max_visits_per_second. Every key handed out counts,
// whatever its visit does. Like the pacer it keeps its allowance as time, in
// which one visit costs 1/rate.
type limiter struct {
	cost  time.Duration // of one visit, 0 for no limit
	saved time.Duration // allowance at the time at; below 0 it is a debt
	at    time.Duration
}

// retune changes the limit to rate visits per second, 0 for none.
func (l *limiter) retune(rate float64) {
	l.cost = 0
	if rate > 0 {
		l.cost = time.Duration(min(float64(time.Second)/rate, math.MaxInt64/4))
	}
}

// allowance returns what is saved at mono: at most hold, but always enough for
// one visit.
func (l *limiter) allowance(mono, hold time.Duration) time.Duration {
	return min(l.saved+max(mono-l.at, 0), max(l.cost, hold))
}

// advance brings the allowance to mono.
func (l *limiter) advance(mono, hold time.Duration) {
	l.saved = l.allowance(mono, hold)
	l.at = max(l.at, mono)
}

// allow returns how many of n visits may be handed out at mono.
func (l *limiter) allow(mono, hold time.Duration, n int) int {
	if l.cost == 0 {
		return n
	}
	return int(min(int64(n), int64(max(l.allowance(mono, hold), 0)/l.cost)))
}

// readyAt returns the time from which one visit is allowed.
func (l *limiter) readyAt() time.Duration { return l.at + max(l.cost-l.saved, 0) }

// take counts n visits as handed out.
func (l *limiter) take(n int) { l.saved -= l.cost * time.Duration(n) }

// restart empties the allowance.
func (l *limiter) restart(mono time.Duration) { l.saved, l.at = 0, mono }
