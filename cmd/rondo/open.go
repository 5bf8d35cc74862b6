package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/yson"
)

// storeDir is where a data folder has its store.
func storeDir(dataDir string) string { return filepath.Join(dataDir, "store") }

// storage is a store that a pipeline can be removed from.
type storage interface {
	store.Store
	ForgetPipeline(ctx context.Context) error
}

// where is where a pipeline's data lies: files of sinks and the control socket in
// the folder, the state there too unless url names a PostgreSQL store.
type where struct{ dataDir, url string }

// String names the store without the secrets that its URL may have.
func (at where) String() string {
	if at.url != "" {
		return "the PostgreSQL store"
	}
	return "the data folder " + at.dataDir
}

// another is how to choose another store.
func (at where) another() string {
	if at.url != "" {
		return "another schema with --store, with rondo_schema=NAME in the URL"
	}
	return "another one with --data"
}

// state names what holds the state.
func (at where) state() string {
	if at.url != "" {
		return at.String()
	}
	return storeDir(at.dataDir)
}

// exists tells whether there is a store in the data folder. That of a URL has to be
// there.
func (at where) exists() (bool, error) {
	if at.url != "" {
		return true, nil
	}
	return pebblestore.Exists(storeDir(at.dataDir))
}

func (at where) openOnce(ctx context.Context, log *slog.Logger, started time.Time) (storage, error) {
	if at.url == "" {
		s, err := pebblestore.Open(storeDir(at.dataDir), pebblestore.Options{Logger: log, Started: started})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := pgstore.Open(ctx, at.url, pgstore.Options{Logger: log})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openStore opens the store, and makes it if it is not there and in a data folder,
// which this process holds.
func openStore(ctx context.Context, at where, log *slog.Logger) (storage, error) {
	started := time.Now()
	p := &patience{most: lockWait, tell: func(error) {}}
	s, err := retry(ctx, p, func() (storage, error) { return at.openOnce(ctx, log, started) })
	return s, needsWriting(err)
}

// openPassing takes the data folder and opens the store in it, which is there, as
// soon as no other command has it; nil if there is none.
func openPassing(ctx context.Context, io *streams, at where) (storage, error) {
	if there, err := at.exists(); !there {
		return nil, err
	}
	return takePassing(ctx, io, at)
}

// takePassing is openPassing that makes the store if it is not there.
func takePassing(ctx context.Context, io *streams, at where) (storage, error) {
	folder, err := retry(ctx, io.patience(lockWait), func() (*pebblestore.Folder, error) { return at.hold(passing) })
	if err != nil {
		return nil, err
	}
	return openHeld(ctx, at, folder)
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// belongs makes sure that a store is the pipeline's, if both are known.
func belongs(ctx context.Context, s store.Store, at where, pipeline string) error {
	p, err := s.Pipeline(ctx)
	if err != nil || p == nil {
		return err
	}
	return sameName(p.Name, at, pipeline)
}

func sameName(stored string, at where, pipeline string) error {
	if pipeline == "" || stored == pipeline {
		return nil
	}
	return fmt.Errorf("%s belongs to pipeline %s, not %s: choose %s", at, nameText(stored), nameText(pipeline), at.another())
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

// isDataFolder tells a data folder by its store, or, if that is in PostgreSQL, by
// the lock that a run leaves in it.
func isDataFolder(path string) bool {
	info, err := os.Stat(storeDir(path))
	return err == nil && info.IsDir() || pebblestore.WasHeld(path)
}

// place returns where the data is, and the name of the pipeline if it is known.
func (f *placeFlags) place() (at where, pipeline string, err error) {
	dataDir, pipeline, err := f.named()
	return where{dataDir, f.Store}, pipeline, err
}

// wanted is place, and a store alone is enough: its workers run one pipeline.
func (f *placeFlags) wanted() (at where, pipeline string, err error) {
	if f.File == nil && f.Data == "" && f.Store != "" {
		return where{url: f.Store}, "", nil
	}
	if f.File == nil && f.Data == "" {
		return where{}, "", &usageError{errors.New("which pipeline? Name its spec file, its data folder with --data, or the store of its workers with --store")}
	}
	return f.place()
}

func (f *placeFlags) named() (dataDir, pipeline string, err error) {
	switch {
	case f.noFile():
		return "", "", &usageError{fmt.Errorf("%s is no spec file, whose name ends in .yson, .yaml, .yml or .json, and no data folder", nameText(*f.File))}
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
		return f.Data, "", nil
	default:
		return "", "", &usageError{errors.New("which pipeline? Name its spec file, or its data folder with --data")}
	}
}

// open opens the store, or returns nil and the folder if there is none. That of a
// cluster is shared with its workers.
func (f *placeFlags) open(ctx context.Context, io *streams) (s storage, at where, err error) {
	at, pipeline, err := f.wanted()
	if err != nil {
		return nil, at, err
	}
	if r, err := at.reachWorkers(ctx, pipeline); r != nil || err != nil {
		if err != nil {
			return nil, at, err
		}
		return r.subject.(*manned).shared, at, nil
	}
	if at.dataDir == "" {
		return nil, at, errNobody
	}
	if s, err = openPassing(ctx, io, at); s == nil {
		return nil, at, err
	}
	if err := belongs(ctx, s, at, pipeline); err != nil {
		return nil, at, errors.Join(err, s.Close())
	}
	return s, at, nil
}

var errNoRun = errors.New("no pipeline has run")

func noRun(at where) error {
	if at.url != "" {
		return fmt.Errorf("%w in %s: run or submit one, or choose %s", errNoRun, at, at.another())
	}
	return fmt.Errorf("%w in %s: run one, or name its folder with --data", errNoRun, at)
}
