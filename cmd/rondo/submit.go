package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// sharedFlag names the store of a cluster.
type sharedFlag struct {
	Store string `required:"" placeholder:"URL" env:"RONDO_STORE" help:"The PostgreSQL store that the workers share: postgres://USER@HOST/DATABASE, made by rondo migrate up."`
}

type submitCommand struct {
	specArg
	sharedFlag
}

// Help is shown below the usage.
func (submitCommand) Help() string {
	return `Checks the spec and stores it, for workers to run; it ends at once. Workers that run take the new spec at once; of a pipeline that is paused or stopped they take it when it is started, and while it stops a changed one is refused. What the data in the store does not survive is refused, and nothing is changed.

Relative paths of sources are looked up below each worker's --spec-dir, and here beside the spec file: what there is to read is listed when it is submitted.

Example:
  rondo submit pipeline.yson --store postgres://rondo@db/flows`
}

// Run stores a pipeline.
func (c *submitCommand) Run(io *streams) (err error) {
	ctx := context.Background()
	s, err := c.parse()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(io.err, nil))
	o, err := options(s, "", log)
	if err != nil {
		return err
	}
	p, err := prepareWith(ctx, o)
	if err != nil {
		return err
	}
	for _, note := range s.Notes {
		log.Warn(note)
	}
	shared, err := pgstore.Open(ctx, c.Store, pgstore.Options{Worker: cluster.NewID(), Logger: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	if err := p.Submit(ctx, shared); err != nil {
		return err
	}
	v, err := shared.View(ctx)
	if err != nil {
		return err
	}
	for _, g := range p.WorkerGroups() {
		if len(v.Workers) > 0 && !slices.ContainsFunc(v.Workers, func(w store.Worker) bool { return w.Group == g }) {
			log.Warn("no worker of this group runs, so its computations stand still: start one with rondo worker --group", "group", g)
		}
	}
	stored, err := shared.Pipeline(ctx)
	if err != nil {
		return err
	}
	aside := ""
	if stored.Target != store.ToWork {
		aside = fmt.Sprintf("; it is %s: rondo start makes it go on", cluster.StateOf(stored, v))
	}
	_, err = fmt.Fprintf(io.out, "pipeline %s is submitted, version %d; %s%s\n", s.Name, v.Pipeline, workersText(len(v.Workers)), aside)
	return err
}

func workersText(n int) string {
	switch n {
	case 0:
		return "no worker runs: start some with rondo worker"
	case 1:
		return "1 worker runs"
	}
	return fmt.Sprintf("%d workers run", n)
}
