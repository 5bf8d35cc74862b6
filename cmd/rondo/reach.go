package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
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

// find finds out who has the data folder: the pipeline, which answers through its
// socket, or nobody, and then this process; neither if there is no store. A pipeline
// that starts or stops is waited for.
func (at where) find(ctx context.Context, io *streams) (*console.Client, *pebblestore.Folder, error) {
	c, p := console.NewClient(at.dataDir), io.patience(answerWait)
	for {
		served, err := c.Served(ctx)
		if err != nil {
			return nil, nil, err
		}
		if served {
			return c, nil, nil
		}
		if there, err := at.exists(); !there {
			return nil, nil, err
		}
		folder, err := at.hold(passing)
		if err == nil {
			return nil, folder, nil
		}
		if err := p.wait(ctx, err); err != nil {
			return nil, nil, at.silent(err)
		}
	}
}

// silent explains that somebody holds the data folder who does not answer.
func (at where) silent(err error) error {
	held, ok := errors.AsType[*pebblestore.HeldError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("%w: %s is held by %s, but nobody answers at %s in it: if the pipeline starts or stops just now, try again in a moment; if not, its program serves no control socket, as one of your own has to do with console.Listen and console.Serve (docs/control.md), or lost it: stop that process and start the pipeline again with rondo run",
		store.ErrLocked, at, held.Owner, console.SocketName)
}

var errNobody error = &usageError{errors.New("no pipeline was submitted to this store, or one process has it: name the spec file of the pipeline, or its data folder with --data")}

// reach finds the pipeline, whether it runs or not.
func (at where) reach(ctx context.Context, io *streams, name string) (*reached, error) {
	if r, err := at.reachWorkers(ctx, name); r != nil || err != nil {
		return r, err
	}
	if at.dataDir == "" {
		return nil, errNobody
	}
	c, folder, err := at.find(ctx, io)
	switch {
	case err != nil:
		return nil, err
	case c != nil:
		return &reached{c, at.dataDir, closeClient(c)}, checkName(ctx, c, at, name)
	case folder != nil:
		return restingIn(ctx, at, name, folder)
	default:
		return nil, noRun(at)
	}
}

// with finds a pipeline, does something with it and lets go of it. One that ends
// before it answers is looked for again.
func (at where) with(ctx context.Context, io *streams, name string, do func(ctx context.Context, r *reached) error) error {
	for p := io.patience(answerWait); ; {
		r, err := at.reach(ctx, io, name)
		if err == nil {
			err = errors.Join(do(ctx, r), r.close())
		}
		if !console.Ended(err) || p.wait(ctx, fmt.Errorf("%w: %w", store.ErrLocked, err)) != nil {
			return err
		}
	}
}

// with finds the pipeline, does something with it and lets go of it.
func (f *placeFlags) with(io *streams, do func(ctx context.Context, r *reached) error) error {
	at, name, err := f.wanted()
	if err != nil {
		return err
	}
	return at.with(context.Background(), io, name, do)
}

// reachRunning finds the pipeline, which has to run.
func (f *placeFlags) reachRunning(ctx context.Context, io *streams) (*console.Client, error) {
	at, name, err := f.place()
	if err != nil {
		return nil, err
	}
	c, folder, err := at.find(ctx, io)
	if folder != nil {
		err = folder.Release()
	}
	if c == nil {
		c = console.NewClient(at.dataDir) // which says that it does not run
	}
	if err == nil {
		err = checkName(ctx, c, at, name)
	}
	return c, err
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
	spec *spec.Spec
}

// openKept finds the states of a pipeline, whether it runs or not.
func (f *placeFlags) openKept(ctx context.Context, io *streams) (k *kept, err error) {
	at, name, err := f.wanted()
	if err != nil {
		return nil, err
	}
	err = at.with(ctx, io, name, func(ctx context.Context, r *reached) error {
		s, err := specOf(ctx, r)
		k = &kept{&visited{at, io, name}, s}
		return err
	})
	return k, err
}

// visited are states that are looked for at each request, and let go after it: a
// list may be long, and its reader slow, and the pipeline may start or stop
// meanwhile.
type visited struct {
	at   where
	io   *streams
	name string
}

// GetStates reads all states of the keys.
func (v *visited) GetStates(ctx context.Context, computation string, keys []string) (found [][]store.StateRow, err error) {
	err = v.at.with(ctx, v.io, v.name, func(ctx context.Context, r *reached) error {
		found, err = r.States().GetStates(ctx, computation, keys)
		return err
	})
	return found, err
}

// ListStates reads a range of keys.
func (v *visited) ListStates(ctx context.Context, l store.ListRequest) (found *store.ListAnswer, err error) {
	err = v.at.with(ctx, v.io, v.name, func(ctx context.Context, r *reached) error {
		found, err = r.States().ListStates(ctx, l)
		return err
	})
	return found, err
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
