package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// mostPending is how many timers are counted: there may be as many as the disk holds.
const (
	mostPending = 100_000
	pendingPage = 10_000
)

// PendingTimers are the timers that are set and have not fired.
type PendingTimers struct {
	// Count stops at a hundred thousand; More tells that there are more.
	Count int
	More  bool
}

// CountTimers counts what a store has of the timers of a pipeline; nil if its spec
// has no timer streams.
func CountTimers(ctx context.Context, s store.Timers, sp *spec.Spec) (p *PendingTimers, err error) {
	for _, id := range sp.Pipeline.ComputationIDs() {
		for _, stream := range sp.Pipeline.Computations[id].TimerStreamIDs() {
			if p == nil {
				p = &PendingTimers{}
			}
			if err := p.add(ctx, s, id, stream); err != nil {
				return nil, fmt.Errorf("count the timers of %s/%s: %w", id, stream, err)
			}
		}
	}
	return p, nil
}

// add counts the timers of a stream, page by page.
func (p *PendingTimers) add(ctx context.Context, s store.Timers, computation, stream string) error {
	r := store.TimerRequest{Computation: computation, Stream: stream, After: store.TimersFront}
	for !p.More {
		r.MaxRows = min(pendingPage, mostPending+1-p.Count)
		a, err := s.ListTimers(ctx, r)
		if err != nil {
			return err
		}
		if p.Count += len(a.Timers); p.Count > mostPending {
			p.Count, p.More = mostPending, true
		}
		if a.End || len(a.Timers) == 0 {
			return nil
		}
		r.After = a.Timers[len(a.Timers)-1].Place()
	}
	return nil
}

// countRest bounds the share of time that counting timers takes, however many people
// ask: a count is good for as many times as long as it took.
const countRest = 20

// timerCount is the count of timers that was made last. It is safe for concurrent use.
type timerCount struct {
	mu    sync.Mutex
	last  *PendingTimers // nil before the first
	until time.Duration  // it is good
}

// get returns a count that is still good, nil if there is none.
func (c *timerCount) get(now time.Duration) *PendingTimers {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now >= c.until {
		return nil
	}
	return c.last
}

func (c *timerCount) put(p *PendingTimers, began, now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.until = p, now+countRest*(now-began)
}

// PendingTimers counts the timers that are set; nil if there are no timer streams, or the store does not answer. With
// many timers it is the count of a moment ago. Errors: ErrNotRunning, and those of the
// store.
func (p *Pipeline) PendingTimers(ctx context.Context) (*PendingTimers, error) {
	env, err := p.running()
	if err != nil {
		return nil, err
	}
	began := env.clock.mono()
	if last := env.timerCount.get(began); last != nil {
		return last, nil
	}
	count, err := CountTimers(ctx, env.store, p.opts.Spec)
	if errors.Is(err, store.ErrUnavailable) {
		return nil, nil
	}
	if err == nil {
		env.timerCount.put(count, began, env.clock.mono())
	}
	return count, err
}
