package partition

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// readyTimers asks for timers. What is read must not change meanwhile, so it
// returns true while a read is to be answered: no epoch may begin.
func (m *Machine) readyTimers(now visit.Instant, r *Ready) bool {
	if m.draining {
		return false // no timer is handed out any more
	}
	busy := false
	for i, t := range m.timers {
		if read := t.nextRead(m.cfg.Job.Partition); read != nil {
			r.ReadTimers = append(r.ReadTimers, ReadTimers{i, read})
			busy = true
		}
		busy = busy || t.reading
		m.readySurvey(now, i, r)
	}
	return busy
}

// readySurvey asks for the least event timestamp of a stream that holds an output
// back.
func (m *Machine) readySurvey(now visit.Instant, i int, r *Ready) {
	t := m.timers[i]
	if !slices.ContainsFunc(m.outputs, func(o outputState) bool { return slices.Contains(o.Parents, t.Stream) }) {
		return
	}
	_, parents := m.merged(t.Parents, t.Stream, now)
	at, ok := t.surveyAt(parents)
	switch {
	case ok && at <= now.Mono:
		r.SurveyTimers = append(r.SurveyTimers, ReadTimers{i, t.request(m.cfg.Job.Partition)})
	case ok:
		r.wake(at)
	}
}

// timerWatermark is what the triggers of a stream are compared with. It never goes
// back, though clocks may.
func (m *Machine) timerWatermark(t *timerStream, now visit.Instant) int64 {
	return max(t.watermark, m.timerTime(t, now))
}

func (m *Machine) timerTime(t *timerStream, now visit.Instant) int64 {
	if t.Clock == RealClock {
		return now.Wall
	}
	least := endOfTime
	for _, w := range t.Watch {
		if w.Stream == t.Stream {
			continue // its own watermark would wait for itself
		}
		state, watermark := m.parent(w.Stream, now)
		if t.Clock == SystemClock {
			watermark = m.systemWatermark(w.Stream, now)
		}
		if state != store.Finished {
			least = min(least, earlier(watermark, int64(w.Delay)))
		}
	}
	return least
}

// earlier subtracts without an overflow.
func earlier(watermark, delay int64) int64 {
	if watermark < store.NoTime+delay {
		return store.NoTime
	}
	return watermark - delay
}

// seeTimers notes how far each stream's watermark has come.
func (m *Machine) seeTimers(now visit.Instant) {
	for _, t := range m.timers {
		t.watermark = m.timerWatermark(t, now)
	}
}

// nextTimers peeks at the timers of an epoch: those that are due, of several
// streams the same number at most, in order of trigger. more: others are due.
func (m *Machine) nextTimers(now visit.Instant, rows int, r *Ready) (out []DueTimer, more bool) {
	due := make([]int, len(m.timers))
	open := 0
	for i, t := range m.timers {
		if m.draining || m.heldBack(t.Stream) || len(t.window) == 0 {
			continue
		}
		watermark := m.timerWatermark(t, now)
		if due[i] = t.due(watermark); due[i] > 0 {
			open++
		} else if m.timerClocked(t) {
			r.wake(m.wakeTimer(t, now, watermark))
		}
	}
	for i, t := range m.timers {
		n := min(due[i], max(1, rows/max(open, 1)))
		for _, timer := range t.window[:n] {
			out = append(out, DueTimer{i, timer})
		}
		more = more || n < due[i]
	}
	slices.SortFunc(out, func(a, b DueTimer) int { return a.Compare(b.TimerID) })
	return out, more
}

// wakeTimer is when the first timer of a stream, which is not due, may be. Where the
// clock has come far enough and messages hold system time back, their end wakes the
// partition. After a clock was set back, what is a moment from the watermark is due when
// the clock has made that up.
func (m *Machine) wakeTimer(t *timerStream, now visit.Instant, watermark int64) time.Duration {
	at, least := now.Wall, time.Duration(0)
	switch t.Clock {
	case EventClock:
		at, least = min(at, watermark), visitSteps
	case SystemClock:
		at = earlier(at, int64(m.longestDelay(t)))
	}
	wait := clockSteps
	if trigger := t.window[0].Trigger; trigger > at && trigger-int64(clockSteps) < at {
		wait = max(time.Duration(trigger-at), least)
	}
	return now.Mono + wait
}

// longestDelay is that of the watched streams which are not completed.
func (m *Machine) longestDelay(t *timerStream) (longest time.Duration) {
	for _, w := range t.Watch {
		if state, _ := m.parent(w.Stream, visit.Instant{}); w.Stream != t.Stream && state != store.Finished {
			longest = max(longest, w.Delay)
		}
	}
	return longest
}

// timerClocked tells that the watermark of a stream moves with the clock.
func (m *Machine) timerClocked(t *timerStream) bool {
	return t.Clock != EventClock || slices.ContainsFunc(t.Watch, func(w Watch) bool { return m.followsVisits(w.Stream) })
}

// followsVisits tells that the stream is a visit stream, or a timer stream that
// depends on one.
func (m *Machine) followsVisits(stream string) bool {
	return slices.ContainsFunc(m.visitors, func(v *visitor) bool { return m.dependsOn(stream, v.stream) })
}

// dependsOn tells that a stream is the other one, or a timer stream that depends
// on it, directly or through other timers.
func (m *Machine) dependsOn(stream, other string) bool {
	if stream == other {
		return true
	}
	i := slices.IndexFunc(m.timers, func(t *timerStream) bool { return t.Stream == stream })
	return i >= 0 && slices.ContainsFunc(m.timers[i].Parents, func(p string) bool { return p != stream && m.dependsOn(p, other) })
}

// timersDueBefore tells whether timers are due that the final pass of a visit
// stream has to wait for (KV-33).
func (m *Machine) timersDueBefore(visits string) bool {
	return slices.ContainsFunc(m.timers, func(t *timerStream) bool {
		return !m.dependsOn(t.Stream, visits) && t.mayBeDue(t.watermark)
	})
}

// timerState is the state of a timer stream and its watermark for outputs: that of
// its parents, held back by the event timestamps of timers that are set.
func (m *Machine) timerState(t *timerStream, now visit.Instant) (store.StreamState, int64) {
	state, watermark := m.merged(t.Parents, t.Stream, now)
	switch {
	case t.empty() && state == store.Finished:
		return state, watermark
	case m.draining:
		state = store.Drained
	case !t.empty():
		state = store.Active
	}
	return state, min(watermark, t.leastEvent())
}

// takeTimers removes what fired or was cleared, and sets what the epoch has set, in
// the commit and in the windows.
func (m *Machine) takeTimers(c *store.Commit, fired []DueTimer, p Processed) {
	gone := slices.Clone(p.TimersGone)
	for i := range fired {
		gone = append(gone, fired[i].TimerID)
	}
	slices.SortFunc(gone, store.TimerID.Compare)
	c.TimersGone, c.TimersSet = slices.Compact(gone), p.TimersSet
	if len(c.TimersGone)+len(c.TimersSet) == 0 {
		return
	}
	for _, t := range m.timers {
		t.edit(c.TimersGone, c.TimersSet)
	}
}
