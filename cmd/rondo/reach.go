package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// subject is a pipeline to look at or to change: one that runs, through its
// socket, or one that rests, in its store.
type subject interface {
	Status(ctx context.Context) (*console.Status, error)
	Visits(ctx context.Context) (*console.Visits, error)
	Passes(ctx context.Context, computation, stream string) (*console.Passes, error)
	Spec(ctx context.Context) (*console.Spec, error)
	SetDynamic(ctx context.Context, r console.SetRequest) (*console.SetAnswer, error)
	States() store.States
}

var (
	_ subject = (*console.Client)(nil)
	_ subject = (*resting)(nil)
)

// reached is a pipeline that was found, and how to let go of it.
type reached struct {
	subject
	dataDir string
	close   func() error
}

// reach finds the pipeline, whether it runs or not.
func (f *placeFlags) reach(ctx context.Context) (*reached, error) {
	at, name, err := f.place()
	if err != nil {
		return nil, err
	}
	c := console.NewClient(at.dataDir)
	served, err := c.Served(ctx)
	if err != nil {
		return nil, err
	}
	if !served {
		return restingIn(ctx, at, name)
	}
	return &reached{c, at.dataDir, closeClient(c)}, checkName(ctx, c, at, name)
}

// with finds the pipeline, does something with it and lets go of it.
func (f *placeFlags) with(do func(ctx context.Context, r *reached) error) error {
	ctx := context.Background()
	r, err := f.reach(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, r), r.close())
}

// reachRunning finds the pipeline, which has to run.
func (f *placeFlags) reachRunning(ctx context.Context) (*console.Client, error) {
	at, name, err := f.place()
	if err != nil {
		return nil, err
	}
	c := console.NewClient(at.dataDir)
	return c, checkName(ctx, c, at, name)
}

// checkName makes sure that a running pipeline is the one that was named.
func checkName(ctx context.Context, c *console.Client, at where, name string) error {
	in, err := c.Spec(ctx)
	if err != nil {
		return err
	}
	return sameName(in.Name, at, name)
}

func closeClient(c *console.Client) func() error {
	return func() error {
		c.Close()
		return nil
	}
}

// kept are the states of a pipeline with its spec.
type kept struct {
	store.States
	spec  *spec.Spec
	close func() error
}

// openKept opens the states of a pipeline, whether it runs or not.
func (f *placeFlags) openKept(ctx context.Context) (*kept, error) {
	r, err := f.reach(ctx)
	if err != nil {
		return nil, err
	}
	s, err := specOf(ctx, r)
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return &kept{r.States(), s, r.close}, nil
}

// specOf reads the spec in force.
func specOf(ctx context.Context, r *reached) (*spec.Spec, error) {
	in, err := r.Spec(ctx)
	if err != nil {
		return nil, err
	}
	s, err := spec.Stored(in.Name, r.dataDir, in.Static, in.Dynamic)
	if err != nil {
		return nil, fmt.Errorf("the spec stored in %s: %w", r.dataDir, err)
	}
	return s, nil
}
