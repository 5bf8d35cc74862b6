package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// startOver removes what a pipeline recorded in a data folder: its state, and the
// files that its sinks wrote. It says what, and removes nothing if there is
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
}

// startOver removes the files before the state, which knows of them.
func (r *records) startOver(ctx context.Context, pipeline string) error {
	p, err := r.store.Pipeline(ctx)
	switch {
	case err != nil:
		return err
	case p == nil:
		return nil
	case p.Name != pipeline:
		return fmt.Errorf("--fresh removes nothing: the data folder %s belongs to pipeline %q, not %q: choose another one with --data", r.dataDir, p.Name, pipeline)
	}
	if err := r.find(ctx); err != nil {
		return fmt.Errorf("--fresh removes nothing: %w", err)
	}
	for _, path := range r.files {
		r.log.Warn("starting over: removing a file that a sink wrote", "path", path)
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	r.log.Warn("starting over: removing the state", "path", storeDir(r.dataDir))
	return r.store.ForgetPipeline(ctx)
}

// find looks for the files of all sinks.
func (r *records) find(ctx context.Context) error {
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
