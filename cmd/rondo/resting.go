package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// resting is a pipeline that does not run. While it is looked at, a run waits.
type resting struct {
	store    storage
	dataDir  string
	pipeline *store.Pipeline
}

// restingIn opens the store of a pipeline that has run in a data folder, which this
// process holds.
func restingIn(ctx context.Context, at where, name string, folder *pebblestore.Folder) (*reached, error) {
	s, err := openHeld(ctx, at, folder)
	if err != nil {
		return nil, err
	}
	p, err := s.Pipeline(ctx)
	switch {
	case err != nil:
	case p == nil:
		err = noRun(at)
	default:
		err = sameName(p.Name, at, name)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &reached{&resting{s, at.dataDir, p}, at.dataDir, s.Close}, nil
}

// States returns the states in the store.
func (r *resting) States() store.States { return r.store }

// Spec returns the spec that the next run would find.
func (r *resting) Spec(context.Context) (*console.Spec, error) {
	return &console.Spec{Name: r.pipeline.Name, Static: r.pipeline.Static, Dynamic: r.pipeline.Dynamic, Version: r.pipeline.Version}, nil
}

func (r *resting) parsed() (*spec.Spec, error) {
	s, err := spec.Stored(r.pipeline.Name, r.dataDir, r.pipeline.Static, r.pipeline.Dynamic)
	if err != nil {
		return nil, fmt.Errorf("the spec stored in %s: %w", r.dataDir, err)
	}
	return s, nil
}

// SetDynamic stores another dynamic spec, which the next run goes by unless the
// file's has changed by then.
func (r *resting) SetDynamic(ctx context.Context, q console.SetRequest) (*console.SetAnswer, error) {
	version, err := r.set(ctx, q)
	if err != nil {
		return nil, console.ErrorOf(err)
	}
	return &console.SetAnswer{Version: version}, nil
}

func (r *resting) set(ctx context.Context, q console.SetRequest) (version uint64, err error) {
	if q.Version != 0 && q.Version != r.pipeline.Version {
		return 0, fmt.Errorf("%w: it has version %d, not %d; read it again", engine.ErrVersion, r.pipeline.Version, q.Version)
	}
	before, err := r.parsed()
	if err != nil {
		return 0, err
	}
	value, err := q.Parsed()
	if err != nil {
		return 0, err
	}
	after, err := before.With(q.Path, value)
	if err != nil {
		return 0, err
	}
	next := r.pipeline.Clone()
	if next.Dynamic = after.DynamicText; next.Equal(r.pipeline) {
		return next.Version, nil
	}
	err = r.store.SavePipeline(ctx, next)
	return next.Version, err
}

// Status counts what is stored.
func (r *resting) Status(ctx context.Context) (*console.Status, error) {
	s, err := engine.StoredStatus(ctx, r.store)
	if err != nil {
		return nil, err
	}
	sp, err := r.parsed()
	if err != nil {
		return nil, err
	}
	pending, err := engine.CountTimers(ctx, r.store, sp)
	if err != nil {
		return nil, err
	}
	out := console.StatusOf(*s, nil)
	out.Timers = console.TimersOf(s.Timers, pending)
	out.Pipeline, out.Version = r.pipeline.Name, r.pipeline.Version
	out.Problems = lastProblems(r.dataDir)
	return out, nil
}

// Visits tells how far the passes were.
func (r *resting) Visits(ctx context.Context) (*console.Visits, error) {
	streams, err := r.streams(ctx)
	if err != nil {
		return nil, err
	}
	var all []engine.VisitStream
	for _, v := range streams {
		all = append(all, v.VisitStream)
	}
	return console.VisitsOf(r.pipeline.Name, false, all, time.Now()), nil
}

// Passes tells which passes were completed.
func (r *resting) Passes(ctx context.Context, computation, stream string) (*console.Passes, error) {
	streams, err := r.streams(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range streams {
		if v.Computation == computation && v.Stream == stream {
			return console.PassesOf(computation, stream, v.Passes), nil
		}
	}
	return nil, fmt.Errorf("there is no visit stream %s/%s", computation, stream)
}

func (r *resting) streams(ctx context.Context) ([]engine.StoredVisitStream, error) {
	s, err := r.parsed()
	if err != nil {
		return nil, err
	}
	return engine.StoredVisitStreams(ctx, r.store, s)
}
