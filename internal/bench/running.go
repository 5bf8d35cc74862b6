package bench

import (
	"context"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// running is a pipeline at work. It belongs to the goroutine that started it.
type running struct {
	pipeline *engine.Pipeline
	done     chan struct{}
	ended    bool
	// summary and err are the run's, once it ended.
	summary *engine.Summary
	err     error
}

func start(ctx context.Context, p *engine.Pipeline, s store.Store) *running {
	r := &running{pipeline: p, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.summary, r.err = p.Run(ctx, s)
	}()
	return r
}

// lookEvery bounds the error of a measured time.
const lookEvery = 5 * time.Millisecond

// until looks at the pipeline's status until something is reached or the run
// ends, and returns the visits by then.
func (r *running) until(reached func(*engine.Status) bool) (visits uint64, at time.Time) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-r.done:
			r.ended = true
			return 0, time.Now()
		case now := <-ticker.C:
			if s := r.pipeline.Status(); reached(&s) {
				return s.Visits, now
			}
		}
	}
}
