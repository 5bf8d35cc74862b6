package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

type workerCommand struct {
	sharedFlag
	Group   string        `placeholder:"NAME" help:"Run the computations of this worker_group alone. Default: those without one."`
	SpecDir pathFlag      `default:"." placeholder:"DIR" help:"Folder that relative paths of sources are looked up in (default: the present one)."`
	Data    pathFlag      `placeholder:"DIR" help:"Folder for the files that sinks write here. No other process may use it. Default: the first of rondo-data/NAME/worker-1, -2, … that no other worker has, with the pipeline's name."`
	Lease   time.Duration `default:"10s" placeholder:"TIME" help:"How long this worker may be silent before others take its partitions (default 10s). The same for all workers."`
}

// Help is shown below the usage.
func (workerCommand) Help() string {
	return `Runs a share of the pipeline that was submitted to the store, or waits for one. Start as many as you like, on any machines that reach the store: partitions are spread evenly, and move when workers come, go or die. Ctrl-C gives them back at once; kill -9 loses nothing.

Each worker has to find the files that the sources name. It ends when the pipeline is completed.

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
	id := cluster.NewID()
	log := slog.New(slog.NewTextHandler(io.err, nil)).With("worker", id)
	told, tell := context.WithCancel(context.Background())
	defer tell()
	defer onInterrupt(func() {
		log.Warn("leaving at the next epoch bound; Ctrl-C again quits at once")
		tell()
	}, time.Now)()
	shared, err := pgstore.Open(told, c.Store, pgstore.Options{Worker: id, Logger: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	for {
		var sum *engine.Summary
		s, err := submitted(told, shared, log)
		if s != nil {
			sum, err = c.work(told, io, shared, s, id, log)
		}
		switch {
		case errors.Is(err, engine.ErrSpecChanged):
			log.Info("another spec was submitted, starting again with it")
		case outlives(err) && told.Err() == nil:
			log.Warn("the store does not answer, trying again", "in", submittedEvery, "error", err)
			pause(told, submittedEvery)
		case err != nil || s == nil:
			return err
		default:
			log.Info("ended", "completed", sum.Completed)
			return printSummary(io.out, "text", s.Name, &outcome{Summary: sum})
		}
	}
}

// outlives tells errors of a store that may answer again: a worker outlives them.
func outlives(err error) bool {
	return errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrStopped)
}

func pause(told context.Context, d time.Duration) {
	select {
	case <-told.Done():
	case <-time.After(d):
	}
}

// submittedEvery is how often a worker looks for a pipeline.
const submittedEvery = time.Second

// submitted waits for the pipeline of the store; nil once told is done.
func submitted(told context.Context, s cluster.Store, log *slog.Logger) (*spec.Spec, error) {
	for said := false; ; said = true {
		stored, err := s.Pipeline(told)
		switch {
		case told.Err() != nil:
			return nil, nil
		case err != nil:
			return nil, err
		case stored != nil:
			return spec.Stored(stored.Name, "the submitted spec", stored.Static, stored.Dynamic)
		case !said:
			log.Info("no pipeline is submitted to the store, waiting for one: rondo submit FILE")
		}
		pause(told, submittedEvery)
	}
}

// work takes part in the cluster until the pipeline is completed, its spec changes,
// or told is done.
func (c *workerCommand) work(told context.Context, io *streams, shared cluster.Store, s *spec.Spec, id string, log *slog.Logger) (_ *engine.Summary, err error) {
	dataDir, folder, err := c.holdFolder(told, io, s.Name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Release()) }()
	o, err := options(s, dataDir, log)
	if err != nil {
		return nil, err
	}
	member, err := cluster.Join(told, shared, cluster.Options{Worker: id, Group: c.Group, Lease: c.Lease, Log: log})
	if err != nil {
		return nil, err
	}
	o.SpecDir, o.Member = string(c.SpecDir), member
	p, err := prepareWith(told, o)
	if err != nil {
		return nil, errors.Join(err, member.Leave(told))
	}
	defer context.AfterFunc(told, p.Pause)()
	living, die := context.WithCancel(context.WithoutCancel(told))
	var beating sync.WaitGroup
	var left error
	beating.Go(func() { left = member.Run(living, p.WorkerGroup) })
	log.Info("joined", "pipeline", s.Name, "group", c.Group)
	sum, err := p.Run(context.WithoutCancel(told), shared)
	die()
	beating.Wait()
	if left != nil {
		log.Warn("left without a word", "error", left)
	}
	return sum, err
}
