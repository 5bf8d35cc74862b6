package engine

import (
	"time"

	"github.com/rondo-flow/rondo/visit"
)

// clock is the one clock of a running pipeline. Everything that decides gets
// its time as an argument from here.
type clock struct{ origin time.Time }

func newClock() clock { return clock{time.Now()} }

// now reads the monotonic and the wall clock.
func (c clock) now() visit.Instant {
	t := time.Now()
	return visit.Instant{Mono: t.Sub(c.origin), Wall: t.UnixNano()}
}

// mono reads the monotonic clock alone.
func (c clock) mono() time.Duration { return time.Since(c.origin) }
