package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
)

// Summary is what a job came to. Counters are over its whole life, restarts
// included; Elapsed and Rate are of this run.
type Summary struct {
	// Completed: every partition is, and the job has nothing more to do.
	Completed bool
	// Messages are the rows read from sources; Epochs, the commits of all
	// partitions; Visits, the visits handled; Passes, the passes that partitions
	// completed.
	Messages, Epochs, Visits, Passes uint64
	// Timers are the timers that fired.
	Timers uint64
	// Counts are the functions' own counters.
	Counts map[string]int64
	// Elapsed is the time of this run; Rate its messages per second.
	Elapsed time.Duration
	Rate    float64
	// Already: it was completed before this run, which did nothing.
	Already bool
}

// summarize adds up what is stored.
func summarize(ctx context.Context, s store.Catalog) (*Summary, error) {
	parts, err := s.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read partitions: %w", err)
	}
	totals, err := s.Totals(ctx)
	if err != nil {
		return nil, fmt.Errorf("read totals: %w", err)
	}
	out := &Summary{Completed: len(parts) > 0, Counts: map[string]int64{}}
	kinds := map[store.PartitionID]store.Kind{}
	for _, p := range parts {
		kinds[p.ID] = p.Kind
		out.Completed = out.Completed && p.State == store.Completed
	}
	for _, t := range totals {
		out.add(kinds[t.Partition], t.Totals)
	}
	return out, nil
}

func (s *Summary) add(kind store.Kind, t store.Totals) {
	s.Epochs += t.Epochs
	s.Timers += t.Timers
	s.Visits += t.Visits
	s.Passes += t.Passes
	if kind == store.SourcePartition {
		s.Messages += t.Messages
	}
	for _, c := range t.Counts {
		s.Counts[c.Name] = flow.AddCounts(s.Counts[c.Name], c.Value)
	}
}

func (s *Summary) since(before *Summary, elapsed time.Duration) {
	s.Already = before.Completed
	s.Elapsed = elapsed
	if elapsed > 0 {
		s.Rate = float64(s.Messages-before.Messages) / elapsed.Seconds()
	}
}
