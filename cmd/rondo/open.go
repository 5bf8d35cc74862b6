package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// storeDir is where a data folder has its store.
func storeDir(dataDir string) string { return filepath.Join(dataDir, "store") }

// openStore opens the store of a data folder, and makes it if it is not there.
func openStore(dataDir string, log *slog.Logger) (*pebblestore.Store, error) {
	return pebblestore.Open(storeDir(dataDir), pebblestore.Options{Logger: log, Started: time.Now()})
}

// openExisting opens the store of a data folder; nil if there is none.
func openExisting(dataDir string) (*pebblestore.Store, error) {
	entries, err := os.ReadDir(storeDir(dataDir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return openStore(dataDir, slog.New(slog.DiscardHandler))
}

// kept is the store of a stopped pipeline with the spec that it has.
type kept struct {
	store.Store
	spec *spec.Spec
}

// openKept opens a data folder that a pipeline has run in: the one with that name,
// if it is not empty.
func openKept(ctx context.Context, dataDir, pipeline string) (*kept, error) {
	s, err := openExisting(dataDir)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, noState(dataDir)
	}
	k, err := keptIn(ctx, s, dataDir)
	if err == nil && pipeline != "" && pipeline != k.spec.Name {
		err = fmt.Errorf("the data folder %s belongs to pipeline %q, not %q: name another one with --data", dataDir, k.spec.Name, pipeline)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return k, nil
}

func keptIn(ctx context.Context, s store.Store, dataDir string) (*kept, error) {
	p, err := s.Pipeline(ctx)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, noState(dataDir)
	}
	parsed, err := spec.Stored(p.Name, dataDir, p.Static, p.Dynamic)
	if err != nil {
		return nil, fmt.Errorf("the spec stored in %s: %w", dataDir, err)
	}
	return &kept{s, parsed}, nil
}

func noState(dataDir string) error {
	return fmt.Errorf("no pipeline has run in the data folder %s: run one, or name its folder with --data", dataDir)
}
