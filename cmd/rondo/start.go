package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

type startCommand struct{ runCommand }

// Help is shown below the usage.
func (startCommand) Help() string {
	return `Is rondo run. But where workers of a cluster have the pipeline, or will, since it is paused or stopped, they go on, with the spec that was submitted last; the command ends at once then.

Examples:
  rondo start examples/flights/pipeline.yson
  rondo start pipeline.yson --store postgres://rondo@db/flows`
}

// Run makes workers go on, or runs the pipeline here.
func (c *startCommand) Run(io *streams) error {
	if c.Store != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		done, err := c.startWorkers(ctx, io)
		stop()
		if done || err != nil {
			return err
		}
	}
	return c.runCommand.Run(io)
}

// startWorkers makes workers go on; false if the pipeline is none of a cluster.
func (c *startCommand) startWorkers(ctx context.Context, io *streams) (done bool, err error) {
	s, err := c.read()
	if err != nil {
		return false, err
	}
	at := c.at(s.Name)
	r, err := at.reachWorkers(ctx, s.Name)
	if r == nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	t := r.subject.(*manned)
	switch {
	case c.Fresh || len(c.Set) > 0:
		return true, &usageError{errors.New("workers go on with what is stored: --fresh and --set do not go with that; submit the spec with its --set first (rondo submit)")}
	case c.Version != 0 && c.Version != t.pipeline.Version:
		return true, fmt.Errorf("%w: it has version %d, not %d; read it again", engine.ErrVersion, t.pipeline.Version, c.Version)
	case s.StaticText != t.pipeline.Static:
		return true, errors.New("the file's static spec is not the one that was submitted: submit it first (rondo submit), and then start it")
	}
	if err := cluster.Retarget(ctx, t.shared, store.ToWork); err != nil {
		return true, err
	}
	return true, t.await(ctx, io, store.ToWork)
}
