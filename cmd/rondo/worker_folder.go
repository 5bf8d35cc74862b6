package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// mostWorkers bounds how many folders a worker looks at to find a free one.
const mostWorkers = 1000

// holdFolder takes the worker's data folder, so that no other process writes into
// the files there: the one that it was told, or the first of rondo-data/NAME that no
// other worker of this machine has. So one that starts again finds its files.
func (c *workerCommand) holdFolder(ctx context.Context, io *streams, pipeline string) (dir string, f *pebblestore.Folder, err error) {
	if c.Data != "" {
		f, err = retry(ctx, io.patience(lockWait), func() (*pebblestore.Folder, error) {
			return where{dataDir: c.Data}.hold(keeping)
		})
		return c.Data, f, needsWriting(err)
	}
	for i := range mostWorkers {
		dir = filepath.Join("rondo-data", pipeline, fmt.Sprint("worker-", i+1))
		f, err = pebblestore.HoldFolder(dir, time.Now(), keeping)
		if !errors.Is(err, store.ErrLocked) {
			break
		}
	}
	return dir, f, needsWriting(err)
}
