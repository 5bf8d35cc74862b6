package visit

import "time"

// schedule measures how long the running pass has been going on (KV-45).
//
// The anchor is a wall time and is stored, so that down-time counts. Within a
// process monotonic time is added to what had passed when the anchor was read:
// a wall clock that steps changes neither the lag nor the pace.
type schedule struct {
	anchor  int64         // wall time from which the pass counts
	passed  time.Duration // elapsed at the monotonic time since
	since   time.Duration
	stopped bool // the stream is disabled: nothing elapses
}

// resume continues a stored schedule that went on until a wall time. An anchor in the
// future, left by a clock that was ahead, counts as now.
func (s *schedule) resume(now Instant, anchor, until int64) {
	s.set(now, time.Duration(max(until-anchor, 0)))
}

// rested is the wall time until which a schedule that is stopped went on, 0 for one that
// goes on: a restart must not take the rest for down-time.
func (s *schedule) rested() int64 {
	if !s.stopped {
		return 0
	}
	return s.anchor + int64(s.passed)
}

// set makes d the time that has elapsed by now.
func (s *schedule) set(now Instant, d time.Duration) {
	s.passed, s.since = d, now.Mono
	s.anchor = now.Wall - int64(d)
}

// elapsed returns how long the pass has been going on.
func (s *schedule) elapsed(now Instant) time.Duration {
	if s.stopped {
		return s.passed
	}
	return s.passed + max(now.Mono-s.since, 0)
}

// stop halts or continues the schedule.
func (s *schedule) stop(now Instant, stopped bool) {
	s.set(now, s.elapsed(now))
	s.stopped = stopped
}

// lag returns how far a pass of which the given fraction is scanned is behind a
// schedule that reads it evenly over period.
func (s *schedule) lag(now Instant, scanned float64, period time.Duration) time.Duration {
	return max(s.elapsed(now)-part(scanned, period), 0)
}

// rebase keeps the lag of this moment under another period.
func (s *schedule) rebase(now Instant, scanned float64, from, to time.Duration) {
	s.set(now, s.lag(now, scanned, from)+part(scanned, to))
}

// part returns a fraction of d.
func part(fraction float64, d time.Duration) time.Duration {
	return time.Duration(fraction * float64(d))
}
