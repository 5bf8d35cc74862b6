package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// StateOf returns what a pipeline that workers run is about: its target, once all of
// them are done with that. Workers of the view that are gone should not be in it. Where
// there are none it is what they would be about.
func StateOf(p *store.Pipeline, v *store.View) engine.State {
	idle := !slices.ContainsFunc(v.Workers, func(w store.Worker) bool {
		info, err := InfoOf(&w)
		return err != nil || !engine.Idle(info.Said, p)
	})
	switch {
	case v.Unfinished == 0 && v.Layout > 0:
		return engine.StateCompleted
	case p.Target == store.ToPause && idle:
		return engine.StatePaused
	case p.Target == store.ToPause:
		return engine.Pausing
	case p.Target == store.ToRest && idle:
		return engine.StateStopped
	case p.Target == store.ToWork:
		return engine.Running
	default:
		return engine.Draining
	}
}

// ErrRefused tells that a pipeline cannot be paused, stopped or started as it is now.
var ErrRefused = errors.New("refused")

// refuse returns why a pipeline that has a target is not given another one; nil if it is,
// or has it already. Whether workers have come to their target matters to none: they go
// over from each to each.
func refuse(has, to store.Target, completed bool) error {
	switch {
	case completed && to != store.ToWork:
		return fmt.Errorf("%w: the pipeline is completed: nothing is left to do", ErrRefused)
	case completed:
		return nil
	case to == store.ToWork && has == store.ToWork:
		return fmt.Errorf("%w: the pipeline is started already", ErrRefused)
	case to == store.ToWork && has == store.ToDrain:
		return fmt.Errorf("%w: the pipeline is draining: wait until it has stopped, or cut that short with rondo pause", ErrRefused)
	case to != store.ToWork && has == store.ToRest:
		return fmt.Errorf("%w: the pipeline is stopped: no job runs, and nothing is in flight; rondo start makes it go on", ErrRefused)
	}
	return nil
}

// Retarget tells the workers of a pipeline to pause (store.ToPause), to stop
// (store.ToDrain), or to go on (store.ToWork), now and whenever they start. StateOf tells
// how far they are. Errors: ErrRefused, and those of the store.
func Retarget(ctx context.Context, s Store, to store.Target) error {
	for {
		v, err := s.View(ctx)
		if err != nil {
			return fmt.Errorf("look at the cluster: %w", err)
		}
		p, err := s.Pipeline(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("read the stored pipeline: %w", err)
		case p == nil:
			return errors.New("no pipeline was submitted to the store: submit one with rondo submit")
		}
		completed := StateOf(p, v) == engine.StateCompleted
		if err := refuse(p.Target, to, completed); err != nil || p.Target == to || completed {
			return err
		}
		next := p.Clone()
		next.Aim(to)
		err = s.SavePipeline(ctx, next)
		if again := errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrUnknownOutcome); !again {
			return err
		}
	}
}
