package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
)

// Exists tells whether a folder on the disk is a store, without opening or
// changing anything. One whose making was cut short is none yet. One that is
// damaged is a store: Open says what is wrong with it.
func Exists(dir string) (bool, error) {
	names, err := vfs.Default.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: cannot read data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	return slices.Contains(names, formatFile) && databaseFile(names) != "", nil
}
