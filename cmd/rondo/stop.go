package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/store"
)

type pauseCommand struct{ placeFlags }

// Help is shown below the usage.
func (pauseCommand) Help() string {
	return `It is what Ctrl-C does where the pipeline runs: each partition stops at its next epoch bound, and what is in flight stays in the store. rondo start goes on from there. The command waits until the run has ended; Ctrl-C ends the waiting alone.

Workers of a cluster end their jobs, and wait until the pipeline is started. That is stored: whoever dies or comes meanwhile, it stays paused.

Examples:
  rondo pause examples/flights/pipeline.yson
  rondo pause --data rondo-data/flights
  rondo pause --store postgres://rondo@db/flows`
}

// Run pauses the pipeline.
func (c *pauseCommand) Run(io *streams) error {
	return c.end(io, store.ToPause, (*console.Client).Pause)
}

type stopCommand struct{ placeFlags }

// Help is shown below the usage.
func (stopCommand) Help() string {
	return `Sources are not read any more; what was read is worked through, and then the run ends. Nothing is in flight after that, which matters before the spec is changed. Visits rest, and timers that are not due yet stay. rondo start goes on from there. The command waits until the run has ended; Ctrl-C ends the waiting alone. A stop that takes too long can be cut short with rondo pause.

Workers of a cluster work through what is in flight on all of them, and then wait until the pipeline is started. That is stored: whoever dies or comes meanwhile, it drains, and stays stopped.

Examples:
  rondo stop examples/flights/pipeline.yson
  rondo stop --data rondo-data/flights
  rondo stop --store postgres://rondo@db/flows`
}

// Run stops the pipeline.
func (c *stopCommand) Run(io *streams) error { return c.end(io, store.ToDrain, (*console.Client).Stop) }

// end tells a running pipeline to end, and waits until it has.
func (f *placeFlags) end(io *streams, to store.Target, tell func(*console.Client, context.Context) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if shared, err := f.retarget(ctx, io, to); shared || err != nil {
		return err
	}
	at, name, err := f.wanted()
	if err != nil {
		return err
	}
	if at.dataDir == "" {
		return errNobody
	}
	client, err := f.reachRunning(ctx, io)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := tell(client, ctx); err != nil {
		return err
	}
	r, err := at.reachResting(ctx, name)
	if err != nil {
		return err
	}
	s, err := r.Status(ctx)
	if err = errors.Join(err, r.close()); err != nil {
		return err
	}
	what := stateText(s) + inFlightText(s)
	if !s.Completed {
		what += "; rondo run goes on from here"
	}
	_, err = fmt.Fprintf(io.err, "rondo: %s: %s\n", s.Pipeline, what)
	return err
}

// endPoll is how often it is looked whether a run has ended.
const endPoll = 50 * time.Millisecond

// reachResting finds the pipeline when its run has ended.
func (at where) reachResting(ctx context.Context, name string) (*reached, error) {
	ticker := time.NewTicker(endPoll)
	defer ticker.Stop()
	for {
		folder, err := at.hold(passing)
		if err == nil {
			return restingIn(ctx, at, name, folder)
		}
		if !errors.Is(err, store.ErrLocked) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errGaveUp
		case <-ticker.C:
		}
	}
}
