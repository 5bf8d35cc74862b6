package main

import (
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// evictions is the counter of functions that evict keys.
const evictions = "evictions"

// view is what is shown of a running pipeline.
type view struct {
	messages, epochs, visits, passes uint64
	evictions                        int64
	rate                             float64 // messages per second, lately
	elapsed                          time.Duration
	sweeps                           []sweep
	// troubles are what keeps partitions from working, a line each.
	troubles []string
}

func newView(s *engine.Status, rate float64) view {
	v := view{
		messages: s.Messages, epochs: s.Epochs, visits: s.Visits, passes: s.Passes,
		evictions: s.Counts[evictions], rate: rate, elapsed: s.Elapsed,
		sweeps: sweepsOf(s.Partitions),
	}
	for _, p := range s.Partitions {
		v.troubles = append(v.troubles, troublesOf(p)...)
	}
	return v
}

// troublesOf are a failed job's error, a call that does not return, and what a
// visit stream complains about.
func troublesOf(p engine.PartitionStatus) (lines []string) {
	where := fmt.Sprintf("%s, partition %d", p.Computation, p.ID)
	if p.Error != "" {
		lines = append(lines, fmt.Sprintf("%s, %s: %s", where, p.Phase, p.Error))
	}
	if p.BusyFor > 0 {
		lines = append(lines, fmt.Sprintf("%s: key %s has been in its handler for %s", where, p.Busy, p.BusyFor.Round(time.Second)))
	}
	for _, v := range p.Visitors {
		for _, problem := range v.Problems {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", where, problem.Path, problem.Message))
		}
	}
	return lines
}
