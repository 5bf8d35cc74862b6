package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/yson"
)

// storeDir is where a data folder has its store.
func storeDir(dataDir string) string { return filepath.Join(dataDir, "store") }

// A process that was killed holds its store until the system has cleaned up after
// it, which is waited for before a store counts as held.
const (
	lockWait = time.Second
	lockPoll = 10 * time.Millisecond
)

// openStore opens the store of a data folder, and makes it if it is not there.
func openStore(ctx context.Context, dataDir string, log *slog.Logger) (*pebblestore.Store, error) {
	o := pebblestore.Options{Logger: log, Started: time.Now()}
	s, err := pebblestore.Open(storeDir(dataDir), o)
	for errors.Is(err, store.ErrLocked) && time.Since(o.Started) < lockWait && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(lockPoll):
			s, err = pebblestore.Open(storeDir(dataDir), o)
		}
	}
	if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: this must be writable, also to be looked at; or choose another folder with --data", err)
	}
	return s, err
}

// openExisting opens the store of a data folder; nil if there is none.
func openExisting(ctx context.Context, dataDir string) (*pebblestore.Store, error) {
	if there, err := pebblestore.Exists(storeDir(dataDir)); !there {
		return nil, err
	}
	return openStore(ctx, dataDir, discard())
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// belongs makes sure that a store is the pipeline's, if both are known.
func belongs(ctx context.Context, s store.Store, dataDir, pipeline string) error {
	p, err := s.Pipeline(ctx)
	if err != nil || p == nil {
		return err
	}
	return sameName(p.Name, dataDir, pipeline)
}

func sameName(stored, dataDir, pipeline string) error {
	if pipeline == "" || stored == pipeline {
		return nil
	}
	return fmt.Errorf("the data folder %s belongs to pipeline %q, not %q: choose another one with --data", dataDir, stored, pipeline)
}

// placeFlags say which data folder a command is about.
type placeFlags struct {
	File *string `arg:"" optional:"" help:"The spec file of the pipeline, or its data folder. It may be left out if --data is given."`
	dataFlag
}

// noFile tells that what stands in the place of the file is none, nor a data
// folder.
func (f *placeFlags) noFile() bool {
	if f.File == nil {
		return false
	}
	_, err := yson.FormatOf(*f.File)
	return err != nil && !isDataFolder(*f.File)
}

func isDataFolder(path string) bool {
	info, err := os.Stat(storeDir(path))
	return err == nil && info.IsDir()
}

// place returns the data folder, and the name of the pipeline if it is known.
func (f *placeFlags) place() (dataDir, pipeline string, err error) {
	switch {
	case f.noFile():
		return "", "", &usageError{fmt.Errorf("%s is no spec file, whose name ends in .yson, .yaml, .yml or .json, and no data folder", *f.File)}
	case f.File != nil && isDataFolder(*f.File):
		if f.Data != "" {
			return "", "", &usageError{fmt.Errorf("which data folder, %s or %s? Name one", *f.File, f.Data)}
		}
		return *f.File, "", nil
	case f.File != nil:
		s, err := (&specArg{File: *f.File}).read()
		if err != nil {
			return "", "", err
		}
		return f.folder(s.Name), s.Name, nil
	case f.Data != "":
		return string(f.Data), "", nil
	default:
		return "", "", &usageError{errors.New("which pipeline? Name its spec file, or its data folder with --data")}
	}
}

// open opens the store, or returns nil and the folder if there is none.
func (f *placeFlags) open(ctx context.Context) (s *pebblestore.Store, dataDir string, err error) {
	dataDir, pipeline, err := f.place()
	if err != nil {
		return nil, "", err
	}
	if s, err = openExisting(ctx, dataDir); s == nil {
		return nil, dataDir, err
	}
	if err := belongs(ctx, s, dataDir, pipeline); err != nil {
		return nil, "", errors.Join(err, s.Close())
	}
	return s, dataDir, nil
}

func noRun(dataDir string) error {
	return fmt.Errorf("no pipeline has run in the data folder %s: run one, or name its folder with --data", dataDir)
}
