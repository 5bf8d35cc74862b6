package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// startOver removes what a pipeline recorded in a data folder: its state, and the
// files and queues that its sinks wrote. It says what, and removes nothing if there is
// anything that it should not.
func startOver(ctx context.Context, pipeline string, at where, log *slog.Logger) error {
	there, err := at.exists()
	if !there {
		return err
	}
	s, err := openStore(ctx, at, discard())
	if err == nil {
		r := records{store: s, at: at, dataDir: at.dataDir, log: log}
		err = errors.Join(r.startOver(context.WithoutCancel(ctx), pipeline), s.Close()) // all of it, once begun
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: make a little room there, --fresh needs it to look up what to remove; or remove the folder %s by hand, with the queues that it holds, and the files that the sinks wrote", err, storeDir(at.dataDir))
	}
	return err
}

// records are what a pipeline has in a data folder.
type records struct {
	store   storage
	at      where
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
	err = belongs(ctx, r.store, r.at, pipeline)
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
	if err := external.Forget(r.dataDir); err != nil {
		return err
	}
	r.log.Warn("starting over: removing the state", "path", r.at.state())
	return r.store.ForgetPipeline(ctx)
}

// findFiles looks for the files of all sinks.
func (r *records) findFiles(ctx context.Context) error {
	return r.eachFile(ctx, func(sink, path string, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("sink %s: %w: move that file away", sink, err)
		}
		r.files = append(r.files, path)
		return nil
	})
}

// lookBack warns of what the sinks of a completed pipeline wrote and is no longer
// there as it was, for no run writes it again.
func (r *records) lookBack(ctx context.Context) error {
	return r.eachFile(ctx, func(sink, path string, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.log.Warn("a file that a sink wrote is gone: put it back, or start over with --fresh", "sink", sink, "path", path)
		case err != nil:
			r.log.Warn("a file that a sink wrote has changed: put it back as it was, or move it away and start over with --fresh", "sink", sink, "error", err)
		}
		return nil
	})
}

// eachFile shows do the files of all sinks, as [file.Written] finds them. It finds
// them by the positions that are stored, which a job gets when it takes the
// partition of a sink over, and in the records of parts, of which those in other
// folders are nobody's here.
func (r *records) eachFile(ctx context.Context, do func(sink, path string, err error) error) error {
	dir, err := filepath.Abs(r.dataDir)
	if err != nil {
		return err
	}
	recorded, err := r.recorded(ctx)
	for _, p := range recorded {
		of, unread := file.ReadRecorded(p.Position)
		switch {
		case unread != nil:
			err = errors.Join(err, fmt.Errorf("sink %s: %w", p.Sink, unread))
		case of.Folder == "" || of.Folder == dir:
			path, missing := file.Written(r.dataDir, p.Position)
			err = errors.Join(err, do(p.Sink, path, missing))
		}
	}
	return err
}

// recorded returns the positions of all sinks, with those of their parts. A position
// of a part that nothing was written to is not among these.
func (r *records) recorded(ctx context.Context) ([]engine.SinkPart, error) {
	out, err := engine.SinkParts(ctx, r.store)
	if err != nil {
		return nil, err
	}
	inParts := map[string]bool{}
	for _, p := range out {
		inParts[p.Sink] = true
	}
	parts, err := r.store.Partitions(ctx)
	for _, part := range parts {
		if part.Kind != store.SinkPartition || inParts[part.Computation] {
			continue
		}
		job, failed := r.store.RaiseGeneration(ctx, part.ID)
		switch {
		case failed != nil:
			err = errors.Join(err, failed)
		case job.Position != nil:
			out = append(out, engine.SinkPart{Sink: part.Name, Position: job.Position})
		}
	}
	return out, err
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
