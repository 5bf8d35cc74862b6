package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is where the paths of a source lead: a folder, and paths or patterns
// that are relative to it unless they are absolute.
type place struct {
	dir      string
	patterns []string
}

// of returns a path of the place as one of the file system.
func (p place) of(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(p.dir, path)
}

// key is the one spelling of a path, by which a partition is known: relative to the
// folder of the spec if it lies in there, and clean. A path that is spelled
// another way must not be taken for another file, which would be read once more.
func (p place) key(path string) string {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) {
		return path
	}
	dir, err := filepath.Abs(p.dir)
	if err != nil {
		return path
	}
	if inside, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return path
}

// whole is a pattern with the folder that it is relative to.
func (p place) whole(pattern string) string {
	if filepath.IsAbs(pattern) {
		return pattern
	}
	return filepath.Join(escape(p.dir), pattern)
}

// isPattern tells whether a path stands for those that match it.
func isPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// list returns the paths, those that match patterns among them, sorted and each
// once. It does not look at paths that are no patterns.
func (p place) list() ([]string, error) {
	var paths []string
	for _, pattern := range p.patterns {
		if !isPattern(pattern) {
			paths = append(paths, p.key(pattern))
			continue
		}
		found, err := p.match(pattern)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("no file matches %s%s: %w", pattern, p.relative(pattern), fs.ErrNotExist)
		}
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// match returns the regular files that match a pattern.
func (p place) match(pattern string) ([]string, error) {
	matches, err := filepath.Glob(p.whole(pattern))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	var paths []string
	for _, path := range matches {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if !filepath.IsAbs(pattern) {
			if path, err = filepath.Rel(p.dir, path); err != nil {
				return nil, err
			}
		}
		paths = append(paths, p.key(path))
	}
	return paths, nil
}

// escape makes a pattern that matches only the path.
func escape(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

// has tells whether list may return a path.
func (p place) has(path string) bool {
	return slices.ContainsFunc(p.patterns, func(pattern string) bool {
		if !isPattern(pattern) {
			return p.key(pattern) == path
		}
		dir, err := filepath.Abs(p.dir)
		if err != nil {
			return false
		}
		there := place{dir: dir}
		ok, err := filepath.Match(filepath.Clean(there.whole(pattern)), there.of(path))
		return err == nil && ok
	})
}

// relative says what a path is relative to, for errors.
func (p place) relative(path string) string {
	if filepath.IsAbs(path) {
		return ""
	}
	return ", which is relative to the folder of the spec file, " + p.dir
}

// explain says where a missing file was looked for.
func (p place) explain(path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(path) {
		return err
	}
	return fmt.Errorf("there is no file %s: the path %q is relative to the folder of the spec file, %s: %w",
		p.of(path), path, p.dir, fs.ErrNotExist)
}
