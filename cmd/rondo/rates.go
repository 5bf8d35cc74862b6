package main

import (
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// rateSpan is the time over which a shown rate is taken, if it is shown often
// enough.
const rateSpan = 2 * time.Second

// rates turns the messages of statuses into the rate of late.
type rates struct{ marks []mark }

type mark struct {
	at       time.Duration // since the run began
	messages uint64
}

// add returns the messages per second over the last rateSpan, or since the
// reading before if that is longer ago; at the first, since the run began.
func (r *rates) add(s *engine.Status) float64 {
	r.marks = append(r.marks, mark{s.Elapsed, s.Messages})
	if len(r.marks) == 1 {
		return s.Rate
	}
	for len(r.marks) > 2 && s.Elapsed-r.marks[1].at >= rateSpan {
		r.marks = r.marks[1:]
	}
	first := r.marks[0]
	if s.Elapsed <= first.at {
		return 0
	}
	return float64(s.Messages-first.messages) / (s.Elapsed - first.at).Seconds()
}
