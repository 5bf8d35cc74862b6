package pebblestore

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
)

// Folder is a folder that this process holds.
type Folder struct {
	dir  string
	lock *pebble.Lock
}

// HoldFolder makes this process the only one that holds dir, which is made if it
// is not there, until Release. The system gives it back when the process dies. A
// store holds its own folder; this is for the folder around a store, wherever that
// is: whatever else a pipeline keeps has no other guard. It fails with [HeldError]
// while somebody else holds it.
func HoldFolder(dir string, started time.Time, passing bool) (*Folder, error) {
	dir, err := Options{FS: vfs.Default}.folder(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: cannot make data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	o := thisProcess(started)
	o.Passing = passing
	lock, err := lockFolder(dir, vfs.Default, o)
	if err != nil {
		return nil, err
	}
	return &Folder{dir, lock}, nil
}

// Release lets the folder go. It is called once.
func (f *Folder) Release() error {
	if err := unlockFolder(f.dir, vfs.Default, f.lock); err != nil {
		return fmt.Errorf("%w: let data folder %s go: %w", store.ErrUnavailable, f.dir, err)
	}
	return nil
}

// WasHeld tells whether somebody holds a folder, or has held it.
func WasHeld(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, lockFile))
	return err == nil && info.Mode().IsRegular()
}

// lockFile is what the lock of a folder is called by pebble.LockDirectory.
const lockFile = "LOCK"
