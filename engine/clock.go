package engine

import (
	"sync/atomic"
	"time"

	"github.com/rondo-flow/rondo/visit"
)

// clock is the one clock of a running pipeline. Everything that decides gets
// its time as an argument from here.
type clock struct {
	origin time.Time
	// stepped is by how much the wall clock was stepped, which tests do; the
	// monotonic one never is.
	stepped *atomic.Int64
}

func newClock() clock { return clock{time.Now(), &atomic.Int64{}} }

// now reads the monotonic and the wall clock.
func (c clock) now() visit.Instant {
	t := time.Now()
	return visit.Instant{Mono: t.Sub(c.origin), Wall: t.UnixNano() + c.stepped.Load()}
}

// mono reads the monotonic clock alone.
func (c clock) mono() time.Duration { return time.Since(c.origin) }
