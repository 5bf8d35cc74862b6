package visit

import (
	"fmt"
	"time"
)

// Bounds of the period_unreachable state. It is raised when the achieved pace
// falls below raiseBelow of the target and the pass lags by raiseLag of the
// period, and cleared when the pace is above clearAbove or the lag below
// clearLag: the gaps keep it from flickering (KV-48).
const (
	raiseBelow, clearAbove = 0.9, 0.97
	raiseLag, clearLag     = 0.1, 0.05
)

// reach compares the achieved with the target pace. It adds up how much of the
// schedule was covered, in time, and how much time it took.
type reach struct {
	covered     moving // seconds of the schedule over seconds
	since       time.Duration
	unreachable bool
}

// minWindow is the least time over which the pace is measured: passes shorter than
// the time between two visits would have none.
const minWindow = 2 * time.Second

// anew measures from mono on: another pace is in force.
func (r *reach) anew(mono time.Duration) { r.covered, r.since = moving{}, mono }

// stretch is how long d takes at a fraction of its pace, at most 100 years.
func stretch(d time.Duration, pace float64) time.Duration {
	if takes := float64(d) / pace; takes < float64(longest) {
		return time.Duration(takes)
	}
	return longest
}

// restart forgets the time up to mono, in which the stream was paused.
func (r *reach) restart(mono time.Duration) { r.since = mono }

// observe takes that worth of the schedule was covered up to mono.
func (r *reach) observe(mono, period, worth time.Duration) {
	r.covered.observe(mono, max(period/4, minWindow), worth.Seconds(), max(mono-r.since, 0).Seconds())
	r.since = max(r.since, mono)
}

// pace returns achieved over target pace at mono.
func (r *reach) pace(mono, period time.Duration) Rate {
	now := *r
	now.observe(mono, period, 0)
	ratio, known := now.covered.ratio()
	return Rate{Value: ratio, Known: known && r.covered.used}
}

// judge decides whether the period can be kept.
func (r *reach) judge(pace Rate, lag, period time.Duration) {
	switch {
	case !pace.Known:
	case r.unreachable:
		r.unreachable = pace.Value < clearAbove && lag > part(clearLag, period)
	default:
		r.unreachable = pace.Value < raiseBelow && lag > part(raiseLag, period)
	}
}

// message says what is needed and achieved.
func (r *reach) message(pace, offered Rate, period time.Duration) string {
	takes := stretch(period, pace.Value).Round(time.Millisecond)
	if offered.Value == 0 {
		return fmt.Sprintf("the scan achieves %.0f%% of its pace: a pass takes about %s", 100*pace.Value, takes)
	}
	return fmt.Sprintf("needs %.3g keys/s, achieves %.3g: a pass takes about %s",
		offered.Value, offered.Value*pace.Value, takes)
}
