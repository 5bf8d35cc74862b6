package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// Checkpoint makes a copy of the store in dir, which must not exist, as it is at
// one moment: it has every commit that returned before, and each one whole. The
// store works on meanwhile. Files that never change are linked where dir lies in
// the same file system, so that the copy costs little room at first; what either
// writes later does not show in the other.
//
// The copy is a store of its own. Until Checkpoint has returned it is none: Open
// refuses what an interrupted one left.
func (s *Store) Checkpoint(ctx context.Context, dir string) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	on := s.opts.FS
	if _, err := on.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is there already: choose another folder for the copy", store.ErrUnavailable, dir)
	}
	if err := s.db.Checkpoint(dir, pebble.WithFlushedWAL()); err != nil {
		return fmt.Errorf("%w: cannot copy the store to %s: %w", store.ErrUnavailable, dir, err)
	}
	return markFormat(dir, on)
}
