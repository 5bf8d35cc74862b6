package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pgstore"
)

type workerCommand struct {
	sharedFlag
	Group   string        `placeholder:"NAME" help:"Run the computations of this worker_group alone. Default: those without one."`
	SpecDir string        `default:"." placeholder:"DIR" help:"Folder that relative paths of sources are looked up in (default: the present one)."`
	Data    string        `placeholder:"DIR" help:"Folder for the files that sinks write here. No other process may use it. Default: the first of rondo-data/NAME/worker-1, -2, … that no other worker has, with the pipeline's name."`
	Lease   time.Duration `default:"10s" placeholder:"TIME" help:"How long this worker may be silent before others take its partitions (default 10s). The same for all workers."`
}

// Help is shown below the usage.
func (workerCommand) Help() string {
	return `Runs a share of the pipeline that was submitted to the store, or waits for one. Start as many as you like, on any machines that reach the store: partitions are spread evenly, and move when workers come, go or die. Ctrl-C gives them back at once; kill -9 loses nothing.

What a worker lacks, such as a file that a source names, is left to workers that have it. It ends when the pipeline is completed.

Example:
  rondo worker --store postgres://rondo@db/flows`
}

// leastLease keeps beats from becoming a load of their own.
const leastLease = 100 * time.Millisecond

// Run works until the pipeline is completed, or until it is told to stop.
func (c *workerCommand) Run(io *streams) (err error) {
	if c.Lease < leastLease {
		return &usageError{fmt.Errorf("--lease %s: it is %s at least", c.Lease, leastLease)}
	}
	if info, err := os.Stat(c.SpecDir); err != nil || !info.IsDir() {
		return &usageError{fmt.Errorf("--spec-dir %s: there is no such folder on this machine", c.SpecDir)}
	}
	id := cluster.NewID()
	log := slog.New(slog.NewTextHandler(io.err, nil)).With("worker", id)
	told, tell := context.WithCancel(context.Background())
	defer tell()
	defer onInterrupt(func() {
		log.Warn("leaving at the next epoch bound; Ctrl-C again quits at once")
		tell()
	}, func() { log.Warn("quitting: " + committed) }, time.Now)()
	shared, err := openWaiting(told, c.Store, pgstore.Options{Worker: id, Logger: log})
	if shared == nil {
		return err
	}
	defer quitIfSilent(told, shared, log)()
	defer func() { err = errors.Join(err, shared.Close()) }()
	name := ""
	o := cluster.Options{Worker: id, Group: c.Group, Lease: c.Lease, Log: log}
	sum, err := cluster.Run(told, shared, o, func(ctx context.Context, s *spec.Spec, m *cluster.Member) (*engine.Summary, error) {
		name = s.Name
		return c.work(ctx, io, m, s, log)
	})
	if err != nil || sum == nil {
		return err
	}
	log.Info("ended", "completed", sum.Completed)
	return printSummary(io.out, "text", name, &outcome{Summary: sum})
}

// openAgain is how often a worker tries to open a store that does not answer.
const openAgain = time.Second

// openWaiting opens the store, however long it does not answer: losing the database
// stops progress, and no process. It returns nothing once told is done.
func openWaiting(told context.Context, url string, o pgstore.Options) (*pgstore.Store, error) {
	for waits := false; ; waits = true {
		s, err := pgstore.Open(told, url, o)
		switch {
		case err == nil:
			if waits {
				o.Logger.Info("the store answers")
			}
			return s, nil
		case told.Err() != nil:
			return nil, nil
		case !pgstore.ComesBack(err):
			return nil, err
		case !waits:
			o.Logger.Warn("the store does not answer, waiting for it", "error", err)
		}
		select {
		case <-told.Done():
		case <-time.After(openAgain):
		}
	}
}

// work takes part in the cluster until the pipeline is completed, its spec changes,
// or told is done.
func (c *workerCommand) work(told context.Context, io *streams, m *cluster.Member, s *spec.Spec, log *slog.Logger) (_ *engine.Summary, err error) {
	dataDir, folder, err := c.holdFolder(told, io, s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Release()) }()
	o, err := options(s, dataDir, log)
	if err != nil {
		return nil, err
	}
	o.SpecDir, o.Member = c.SpecDir, m
	p, err := prepareWith(told, o)
	if err != nil {
		return nil, err
	}
	return m.Work(told, p)
}
