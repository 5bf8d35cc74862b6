package partition

import (
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// leastEvent knows a lower bound of the event timestamps of all timers of a
// stream, which outputs must not get ahead of. Timers beyond the window are known
// to the store alone; when the bound that they once had holds an output back, the
// store is asked for the present one (a survey), now and then.
type leastEvent struct {
	window int64 // exact, of the window
	beyond int64 // a lower bound of those beyond it; NoTime until it is known
	since  int64 // of what went beyond since the survey began
	// moved: timers came into the window since the last survey, so that another
	// may say more.
	moved     bool
	surveying bool
	at        time.Duration // when the last one began
	took      time.Duration
}

const (
	surveyEvery = 10 * time.Second
	surveyShare = 20 // and at most this part of the time
)

func newLeastEvent() leastEvent {
	return leastEvent{window: endOfTime, beyond: store.NoTime, since: endOfTime, moved: true}
}

// begin is called when the window ceases to be whole: nothing is beyond it yet.
func (l *leastEvent) begin() { l.beyond = endOfTime }

func (l *leastEvent) add(event int64) {
	l.beyond = min(l.beyond, event)
	l.since = min(l.since, event)
}

func (t *timerStream) leastEvent() int64 {
	if t.whole {
		return t.least.window
	}
	return min(t.least.window, t.least.beyond)
}

// surveyAt is when the store is to be asked, false for never. parents is the
// watermark that the stream would have without its timers.
func (t *timerStream) surveyAt(parents int64) (time.Duration, bool) {
	l := &t.least
	if t.whole || !t.known || l.surveying || !l.moved || l.beyond > l.window || l.beyond >= parents {
		return 0, false
	}
	if l.at == 0 {
		return 0, true
	}
	return l.at + max(surveyEvery, surveyShare*l.took), true
}

func (l *leastEvent) surveyBegan(now visit.Instant) {
	l.surveying, l.moved, l.since, l.at = true, false, endOfTime, now.Mono
}

// surveyed takes the answer in. What fired since only makes it too low.
func (l *leastEvent) surveyed(now visit.Instant, e TimersSurveyed) {
	l.surveying, l.took = false, now.Mono-l.at
	if e.Failed {
		l.moved = true
		return
	}
	l.beyond = l.since
	if e.Any {
		l.beyond = min(l.beyond, e.Least)
	}
}
