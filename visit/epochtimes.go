package visit

import (
	"slices"
	"time"
)

// epochTimes holds the durations of the last 16 epochs.
type epochTimes struct {
	ring   [16]time.Duration
	count  int
	middle time.Duration
	most   time.Duration
}

// add takes the duration of one more epoch.
func (e *epochTimes) add(d time.Duration) {
	e.ring[e.count%len(e.ring)] = max(d, 0)
	e.count++
	sorted := e.ring
	known := sorted[:min(e.count, len(sorted))]
	slices.Sort(known)
	e.middle, e.most = known[len(known)/2], known[len(known)-1]
}

// median returns the middle duration, 0 before the first epoch.
func (e *epochTimes) median() time.Duration { return e.middle }

// longest returns the largest duration, 0 before the first epoch.
func (e *epochTimes) longest() time.Duration { return e.most }
