package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// startOver removes what a pipeline recorded in a data folder: its state, and the
// files and queues that its sinks wrote. It says what, and removes nothing if there is
// anything that it should not.
func startOver(ctx context.Context, pipeline, dataDir string, log *slog.Logger) error {
	s, err := openExisting(dataDir)
	if s == nil {
		return err
	}
	r := records{store: s, dataDir: dataDir, log: log}
	return errors.Join(r.startOver(ctx, pipeline), s.Close())
}

// records are what a pipeline has in a data folder.
type records struct {
	store   *pebblestore.Store
	dataDir string
	log     *slog.Logger
	files   []string // of sinks
	queues  []string // of sinks
}

// startOver removes files and queues before the state, which knows of them.
func (r *records) startOver(ctx context.Context, pipeline string) error {
	p, err := r.store.Pipeline(ctx)
	if p == nil {
		return err
	}
	err = belongs(ctx, r.store, r.dataDir, pipeline)
	if err == nil {
		err = errors.Join(r.findFiles(ctx), r.findQueues(ctx, p))
	}
	if err != nil {
		return fmt.Errorf("--fresh removes nothing: %w", err)
	}
	for _, path := range r.files {
		r.log.Warn("starting over: removing a file that a sink wrote", "path", path)
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for _, name := range r.queues {
		r.log.Warn("starting over: removing a queue that a sink wrote", "queue", name)
		if err := r.store.DropQueue(ctx, name); err != nil {
			return err
		}
	}
	r.log.Warn("starting over: removing the state", "path", storeDir(r.dataDir))
	return r.store.ForgetPipeline(ctx)
}

// findFiles looks for the files of all sinks.
func (r *records) findFiles(ctx context.Context) error {
	parts, err := r.store.Partitions(ctx)
	for _, part := range parts {
		if part.Kind == store.SinkPartition {
			err = errors.Join(err, r.sink(ctx, part))
		}
	}
	return err
}

// sink finds the file of a sink by the position that is stored of it, which a job
// gets when it takes the partition over.
func (r *records) sink(ctx context.Context, part store.Partition) error {
	job, err := r.store.RaiseGeneration(ctx, part.ID)
	if err != nil || job.Position == nil {
		return err
	}
	path, err := file.Written(r.dataDir, job.Position)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("sink %s: %w: move that file away", part.Name, err)
	}
	r.files = append(r.files, path)
	return nil
}

// findQueues looks for the queues of all sinks: the other queues are input.
func (r *records) findQueues(ctx context.Context, p *store.Pipeline) error {
	all, err := r.store.Queues(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	stored, err := spec.Stored(p.Name, r.dataDir, p.Static, p.Dynamic)
	if err != nil {
		return err
	}
	written, err := writtenQueues(&stored.Pipeline)
	for _, q := range all {
		if slices.Contains(written, q.Name) {
			r.queues = append(r.queues, q.Name)
		}
	}
	return err
}

func writtenQueues(p *spec.Pipeline) (names []string, err error) {
	var classes connector.Registry
	if err := queue.Register(&classes); err != nil {
		return nil, err
	}
	for _, c := range p.Computations {
		for _, s := range c.Sinks {
			if _, ok := classes.StoreSink(s.ClassName); !ok {
				continue
			}
			var to queue.SinkParameters
			to.SetDefaults()
			if err := flow.NewParameters(s.Parameters, "").Decode(&to); err != nil {
				return nil, err
			}
			names = append(names, string(to.Path))
		}
	}
	return names, nil
}
