package main

import (
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// live shows the progress of a run as a block of lines on a terminal. At the end
// it goes: the summary says it all.
type live struct {
	*painted
	rates rates
}

var _ display = (*live)(nil)

// newLive shows a block for a pipeline with a number of visit streams.
func newLive(s *screen, sweeps int) *live {
	return &live{painted: newPainted(s, blockLines+sweeps)}
}

func (l *live) every() time.Duration { return 200 * time.Millisecond }

func (l *live) show(s *engine.Status) {
	v := newView(s, l.rates.add(s))
	l.paint(v.line)
}
