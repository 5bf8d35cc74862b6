package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// errGaveUp ends the waiting of a command that was interrupted.
var errGaveUp = errors.New("nobody waits any more until the run ends; it was told to")

// retarget tells workers to pause, stop or go on, and waits until they do; false if
// the pipeline is none of a cluster.
func (f *placeFlags) retarget(ctx context.Context, io *streams, to store.Target) (done bool, err error) {
	t, closed, err := f.ofWorkers(ctx)
	if t == nil {
		return false, err
	}
	defer func() { err = errors.Join(err, closed()) }()
	if err := cluster.Retarget(ctx, t.shared, to); err != nil {
		return true, err
	}
	return true, t.await(ctx, io, to)
}

// state is what the pipeline is about, by what was read last.
func (t *manned) state() engine.State { return cluster.StateOf(t.pipeline, t.view) }

// reachedBy tells whether a command has nothing to wait for in a state.
func reachedBy(to store.Target, is engine.State) bool {
	switch is {
	case engine.StateCompleted:
		return true
	case engine.StatePaused:
		return to == store.ToPause
	case engine.StateStopped:
		return to == store.ToDrain
	default:
		return to == store.ToWork
	}
}

// progressEvery is how often a command that waits tells how far it is.
const progressEvery = 2 * time.Second

// await waits until workers have done what they were told, and tells how far they are.
func (t *manned) await(ctx context.Context, io *streams, to store.Target) error {
	said, shown := time.Now(), ""
	for {
		text, done, err := t.progress(ctx, to)
		switch {
		case ctx.Err() != nil:
			return errGaveUp
		case errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrStopped):
			text = "the store does not answer, waiting for it"
		case err != nil:
			return err
		case done:
			_, err = fmt.Fprintf(io.err, "rondo: %s: %s\n", t.pipeline.Name, text)
			return err
		}
		if now := time.Now(); text != shown && now.Sub(said) >= progressEvery {
			said, shown = now, text
			fmt.Fprintf(io.err, "rondo: %s: %s\n", t.pipeline.Name, text)
		}
		select {
		case <-ctx.Done():
			return errGaveUp
		case <-time.After(endPoll):
		}
	}
}

// progress tells how far the workers are with a target. Without workers, nobody gets
// any further.
func (t *manned) progress(ctx context.Context, to store.Target) (text string, done bool, err error) {
	s, err := t.Status(ctx)
	if err != nil {
		return "", false, err
	}
	is, n := t.state(), len(t.view.Workers)
	done = reachedBy(to, is)
	switch {
	case done && is == engine.StateCompleted:
		return string(is), true, nil
	case done && to == store.ToWork && n == 0:
		return "started, but no worker runs: start some with rondo worker", true, nil
	case done && to == store.ToWork:
		return "started on " + pluralDigits(int64(n), "worker"), true, nil
	case done:
		return string(is) + inFlightText(s) + "; rondo start goes on from here", true, nil
	case n == 0:
		return "", false, fmt.Errorf("the pipeline is %s, and stays so, since no worker runs: start one with rondo worker, which works through what is in flight; or leave that there for later with rondo pause", is)
	default:
		s.Running = false // what is in flight is told of any
		return string(is) + inFlightText(s) + ", on " + pluralDigits(int64(n), "worker"), false, nil
	}
}

// refuseResting refuses what only jobs do that work.
func (t *manned) refuseResting(what string) error {
	if is := t.state(); t.pipeline.Target != store.ToWork && is != engine.StateCompleted {
		return fmt.Errorf("the pipeline is %s: %s only while it works; start it again first, with rondo start", is, what)
	}
	return nil
}
