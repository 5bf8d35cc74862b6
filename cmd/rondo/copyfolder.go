package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// unfinished is what the name of a copy ends with until it is whole.
const unfinished = ".unfinished"

// copyFolder copies a data folder into dir, which must not exist: the store as it
// is at one moment, of the files of sinks what they had at that moment, and what is
// kept of tables that are joined. So a pipeline that starts on the copy goes on
// exactly there. It returns the files of sinks that lie outside the folder, which the
// copy does not have. Others may use the store meanwhile.
func copyFolder(ctx context.Context, kept storage, dataDir, dir string) (left []string, err error) {
	if h, ok := kept.(*held); ok {
		kept = h.storage
	}
	s, ok := kept.(*pebblestore.Store)
	if !ok {
		return nil, errors.New("the state is in PostgreSQL: copy its schema with pg_dump, and the data folder once the pipeline rests")
	}
	if _, err := os.Lstat(dir); err == nil {
		return nil, fmt.Errorf("%s is there already: choose another folder for the copy", dir)
	}
	for _, live := range []string{dataDir, storeDir(dataDir)} {
		if inside, err := within(dir, live); err != nil {
			return nil, err
		} else if inside {
			return nil, fmt.Errorf("%s lies in the data folder %s, which is to be copied: choose a folder outside of it", dir, live)
		}
	}
	making := filepath.Clean(dir) + unfinished
	if err := os.MkdirAll(filepath.Dir(making), 0o777); err != nil {
		return nil, err
	}
	if err := os.Mkdir(making, 0o777); errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is there: another backup is being made, or one was cut short; if none is, remove that folder", making)
	} else if err != nil {
		return nil, err
	}
	if left, err = fillCopy(ctx, s, dataDir, making); err == nil {
		err = publish(making, dir)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(making))
	}
	return left, nil
}

// within tells whether a path, which need not be there, lies in a folder, whatever
// the links on the way.
func within(path, folder string) (bool, error) {
	path, err := realPath(path)
	if err != nil {
		return false, err
	}
	if folder, err = realPath(folder); err != nil {
		return false, err
	}
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel), nil // no relative path: another volume
}

// realPath resolves the links in a path as far as it is there.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for rest := ""; ; {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if up := filepath.Dir(path); up == path || !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		path, rest = filepath.Dir(path), filepath.Join(filepath.Base(path), rest)
	}
}

func fillCopy(ctx context.Context, s *pebblestore.Store, dataDir, making string) (left []string, err error) {
	if err := external.CopyRecords(dataDir, making); err != nil { // before the state
		return nil, err
	}
	if err := s.Checkpoint(ctx, storeDir(making)); err != nil {
		return nil, err
	}
	// The copy says how much of each file belongs to it.
	c, err := pebblestore.Open(storeDir(making), pebblestore.Options{CacheBytes: 8 << 20, MemTableBytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	parts, err := c.Partitions(ctx)
	for _, part := range parts {
		if err != nil || part.Kind != store.SinkPartition {
			continue
		}
		var outside string
		if outside, err = copySink(ctx, c, part, dataDir, making); outside != "" {
			left = append(left, outside)
		}
	}
	return left, errors.Join(err, c.Close())
}

// copySink copies the file of a sink, or returns it if it lies outside.
func copySink(ctx context.Context, s store.Store, part store.Partition, dataDir, making string) (outside string, err error) {
	job, err := s.RaiseGeneration(ctx, part.ID)
	if err != nil || job.Position == nil {
		return "", err
	}
	path, err := file.CopyWritten(ctx, dataDir, job.Position, making)
	if errors.Is(err, file.ErrOutside) {
		return path, nil
	}
	if err != nil {
		return "", fmt.Errorf("sink %s: %w", part.Name, err)
	}
	return "", nil
}

// publish gives the whole copy its name, durably.
func publish(making, dir string) error {
	if err := syncDir(making); err != nil {
		return err
	}
	if err := os.Rename(making, dir); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
