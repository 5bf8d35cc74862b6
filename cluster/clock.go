package cluster

import "time"

// instant is a moment of this process: what its monotonic clock and its wall clock
// said.
type instant struct{ at time.Time }

func now() instant { return instant{time.Now()} }

// since is the time from then until now, by the monotonic clock.
func (i instant) since() time.Duration { return time.Since(i.at) }

// wall is what this machine's clock said, unix nanoseconds.
func (i instant) wall() int64 { return i.at.UnixNano() }
