package file

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// generation is one of the files that were at a path one after the other.
type generation struct {
	path     string
	info     fs.FileInfo
	rotation string // what its name has more than the path
}

// laterThan returns the generations of a path that came after the given one, in
// order: rotated files, and last the one that is at the path now.
func laterThan(path string, current fs.FileInfo) ([]generation, error) {
	now, err := os.Stat(path)
	if err == nil && os.SameFile(now, current) {
		return nil, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	rotated, err := rotatedFiles(path)
	if err != nil {
		return nil, err
	}
	from := generation{info: current}
	if i := slices.IndexFunc(rotated, func(g generation) bool { return os.SameFile(g.info, current) }); i >= 0 {
		from = rotated[i]
	}
	later := slices.DeleteFunc(rotated, func(g generation) bool {
		return compareGenerations(g, from) <= 0 || now != nil && os.SameFile(g.info, now)
	})
	slices.SortFunc(later, compareGenerations)
	if now != nil {
		later = append(later, generation{path: path, info: now})
	}
	return later, nil
}

// rotatedFiles lists the files that were moved away from a path, as their names
// say.
func rotatedFiles(path string) ([]generation, error) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []generation
	for _, e := range entries {
		more, ok := rotation(base, e.Name())
		if !ok {
			continue
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			found = append(found, generation{filepath.Join(dir, e.Name()), info, more})
		}
	}
	return found, nil
}

// rotation returns what a name has more than base: a number or a date, with a
// sign before it, at the end (app.log.1) or before the extension
// (app-2001-01-31.log). It reports false for a name that has more or less, such
// as one of a compressed file.
func rotation(base, name string) (string, bool) {
	ext := filepath.Ext(base)
	for _, end := range []string{"", ext} {
		start := strings.TrimSuffix(base, end)
		more, ok := strings.CutPrefix(name, start)
		if !ok {
			continue
		}
		if more, ok = strings.CutSuffix(more, end); ok && isRotation(more) {
			return more, true
		}
	}
	return "", false
}

// rotationSigns are what may stand before a number or inside a date.
const rotationSigns = ".-_"

func isRotation(more string) bool {
	const digits = "0123456789"
	return more != "" && strings.Contains(rotationSigns, more[:1]) && strings.ContainsAny(more, digits) &&
		strings.Trim(more, digits+rotationSigns+":TZ") == ""
}

// compareGenerations puts files in the order in which they were written last.
// Of two that are equally old, the one with the larger number is the older, as
// rotation counts; and the one with the smaller date.
func compareGenerations(a, b generation) int {
	if c := a.info.ModTime().Compare(b.info.ModTime()); c != 0 {
		return c
	}
	n, aIsNumber := a.number()
	m, bIsNumber := b.number()
	if aIsNumber && bIsNumber {
		return cmp.Compare(m, n)
	}
	return cmp.Compare(a.rotation, b.rotation)
}

// number returns the number in the name if it is too short for a date.
func (g generation) number() (int, bool) {
	digits := strings.TrimLeft(g.rotation, rotationSigns)
	n, err := strconv.Atoi(digits)
	return n, err == nil && len(digits) < 6
}
