package engine

import (
	"time"

	"github.com/rondo-flow/rondo/visit"
)

// clock is the one clock of a running pipeline. Everything that decides gets
// its time as an argument from here.
type clock struct {
	origin time.Time
	wall   func() int64 // unix nanoseconds: this machine's, or the store's
}

func newClock() clock {
	return clock{time.Now(), func() int64 { return time.Now().UnixNano() }}
}

// now reads the monotonic and the wall clock.
func (c clock) now() visit.Instant { return visit.Instant{Mono: c.mono(), Wall: c.wall()} }

// mono reads the monotonic clock alone, which is never stepped.
func (c clock) mono() time.Duration { return time.Since(c.origin) }
