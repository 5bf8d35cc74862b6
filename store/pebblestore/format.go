package pebblestore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
)

const (
	formatFile = "rondo.format"
	// formatVersion is the version of the folder's layout, keys and values. It
	// grows when an older Rondo could no longer read what this one writes.
	formatVersion = 2
	// firstManifest is the only file that Pebble makes before the marker that
	// says which manifest counts. It names no rows yet.
	firstManifest = "MANIFEST-000001"
)

// checkOurs refuses a folder that holds something but not our mark: Pebble would
// take the files of others for leftovers, and remove them. It changes nothing,
// so it comes before the lock. Only files of ours from before the mark may be
// there, as a crash in the first start leaves them.
func checkOurs(dir string, on vfs.FS) error {
	names, err := on.List(dir)
	if err != nil {
		return fmt.Errorf("%w: cannot read data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	slices.Sort(names)
	i := slices.IndexFunc(names, func(name string) bool { return !precedesMark(name) })
	if i < 0 {
		return nil
	}
	// Looked for after the list: whoever makes the folder right now marks it
	// before anything else is there to be listed.
	if _, err := on.Stat(on.PathJoin(dir, formatFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil // checkFormat reads it, and tells what is wrong with it
	}
	return corrupt("data folder %s holds %s but no %s: it is not a store, or has lost that file; "+
		"choose an empty folder, or put the file back; nothing was changed", dir, names[i], formatFile)
}

func precedesMark(name string) bool {
	switch name {
	case "LOCK", ownerFile, ownerFile + ".new", formatFile + ".new":
		return true
	}
	return false
}

// checkFormat refuses a folder that a newer Rondo wrote or that has lost its
// database, and marks a new one. The folder is locked, and the database has not
// been opened yet.
func checkFormat(dir string, on vfs.FS) error {
	text, err := readFile(on, dir, formatFile)
	if errors.Is(err, fs.ErrNotExist) {
		return markFormat(dir, on)
	}
	if err != nil {
		return fmt.Errorf("%w: cannot read %s in data folder %s: %w", store.ErrUnavailable, formatFile, dir, err)
	}
	var version int
	if _, err := fmt.Sscanf(string(text), "rondo store %d\n", &version); err != nil || version < 1 {
		return corrupt("%s in data folder %s says %q", formatFile, dir, text)
	}
	if version > formatVersion {
		return fmt.Errorf("%w: data folder %s has format %d, this Rondo reads up to %d; use the Rondo that wrote it", store.ErrNewerFormat, dir, version, formatVersion)
	}
	if err := checkDatabase(dir, on); err != nil || version == formatVersion {
		return err
	}
	return markFormat(dir, on) // everything of former formats is read as it is
}

func markFormat(dir string, on vfs.FS) error {
	if err := writeFile(on, dir, formatFile, fmt.Appendf(nil, "rondo store %d\n", formatVersion)); err != nil {
		return fmt.Errorf("%w: cannot write in data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	return nil
}

// checkDatabase refuses a marked folder in which Pebble finds no database though
// there was one: it would begin a new one, and remove what is left of the old.
func checkDatabase(dir string, on vfs.FS) error {
	names, err := on.List(dir)
	if err != nil {
		return fmt.Errorf("%w: cannot read data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	left := databaseFile(names)
	if left == "" {
		return nil
	}
	desc, err := pebble.Peek(dir, on)
	if err != nil {
		return corrupt("the database in data folder %s cannot be found: %v; put its files back from a copy", dir, err)
	}
	if !desc.Exists {
		return corrupt("data folder %s holds %s, but the file marker.manifest.* that says which manifest counts is missing; "+
			"put it back, or the whole folder from a copy; nothing was changed", dir, left)
	}
	return nil
}

// databaseFile returns a file that is there only once a database was made, or "".
func databaseFile(names []string) string {
	slices.Sort(names)
	i := slices.IndexFunc(names, func(name string) bool {
		switch path.Ext(name) {
		case ".log", ".sst", ".blob":
			return true
		}
		prefix := func(p string) bool { return strings.HasPrefix(name, p) }
		return prefix("marker.") || prefix("OPTIONS-") || prefix("MANIFEST-") && name != firstManifest
	})
	if i < 0 {
		return ""
	}
	return names[i]
}
