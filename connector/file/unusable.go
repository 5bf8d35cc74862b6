package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rondo-flow/rondo/connector"
)

// errNotRegular is what is found where a sink's file should be.
var errNotRegular = errors.New("this is not a regular file, and only those can be cut back after a crash: move it away, or give the sink another path")

// unusable says what to do about a path at which there can be no file. Other
// errors may pass, and are returned as they are.
func unusable(err error) error {
	what := ""
	switch {
	case errors.Is(err, errNotRegular):
		return connector.Malformed(err)
	case errors.Is(err, syscall.ENOTDIR):
		what = "a part of the path is a file and not a folder"
	case errors.Is(err, syscall.ENAMETOOLONG):
		what = "the path is too long for this file system"
	case errors.Is(err, syscall.ELOOP):
		what = "the symbolic links on the path lead in a circle"
	case errors.Is(err, syscall.EINVAL):
		what = "the path is none for this file system"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist):
		what = "a symbolic link on the path leads to nothing"
	default:
		return err
	}
	return connector.Malformed(fmt.Errorf("%s: correct that, or give the sink another path: %w", what, err))
}

// storeName is the folder of the store in the data folder.
const storeName = "store"

// inStore tells whether a path leads into the store of a data folder, by its name
// or through symbolic links.
func inStore(dataDir, path string) bool {
	for _, follow := range []func(string) string{filepath.Clean, resolve} {
		rel, err := filepath.Rel(follow(filepath.Join(dataDir, storeName)), follow(path))
		if err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// resolve follows the symbolic links of a path, also those that lead to what does
// not exist yet.
func resolve(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	rest := ""
	for links := 0; links < 100; { // no file system follows as many
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(real, rest)
		}
		dir, name := filepath.Dir(path), filepath.Base(path)
		if dir == path {
			break
		}
		to, err := os.Readlink(path)
		switch {
		case err != nil:
			path, rest = dir, filepath.Join(name, rest)
			continue
		case filepath.IsAbs(to):
			path = to
		default:
			path = filepath.Join(dir, to)
		}
		links++
	}
	return filepath.Join(path, rest)
}
