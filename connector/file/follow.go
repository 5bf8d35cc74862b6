package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// follower leads a reader from one file at a path to the next.
//
// A file is finished when one that came after it has content: whoever writes has
// gone on by then. What was written before is read first, so it is looked at
// once more, and only then does a last line without an end count as a row.
type follower struct {
	path     string
	name     string // of the partition
	interval time.Duration
	node     string      // of the open file
	seen     fs.FileInfo // the open file when it was looked at last
}

// advance is called at the end of what there was. It reports whether there is
// more to read now, in the same file or in another.
func (f *follower) advance(r *reader) (bool, error) {
	if r.file == nil {
		return f.open(r, f.path, nil)
	}
	info, err := r.file.Stat()
	if err != nil {
		return false, err
	}
	if f.seen == nil || info.Size() != f.seen.Size() || !info.ModTime().Equal(f.seen.ModTime()) {
		f.seen = info
		same, err := r.same()
		if err != nil {
			return false, err
		}
		if !same {
			f.restart(r)
			return true, nil
		}
		if info.Size() > r.readEnd() {
			r.end = false
			return true, nil
		}
	}
	return f.next(r, info)
}

// next goes on to the file after the open one if that is finished.
func (f *follower) next(r *reader, info fs.FileInfo) (bool, error) {
	later, err := laterThan(f.path, info)
	if err != nil || !slices.ContainsFunc(later, func(g generation) bool { return g.info.Size() > 0 }) {
		return false, err
	}
	if !r.final {
		r.final, r.end = true, false
		return true, nil
	}
	return f.open(r, later[0].path, later[0].info)
}

// open goes to the beginning of the file at a path, which has to be the wanted
// one unless that is nil. It reports false if there is none.
func (f *follower) open(r *reader, path string, wanted fs.FileInfo) (bool, error) {
	file, info, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if wanted != nil && !os.SameFile(info, wanted) { // renamed meanwhile
		return false, file.Close()
	}
	err = r.Close()
	f.take(r, file, info, path)
	return true, err
}

// take makes the file the reader's, from its beginning.
func (f *follower) take(r *reader, file *os.File, info fs.FileInfo, path string) {
	r.start(file)
	r.final = false
	r.name = filepath.Join(filepath.Dir(f.name), filepath.Base(path))
	f.node, f.seen = inode(info), nil
}

// restart begins again in a file that was cut or rewritten.
func (f *follower) restart(r *reader) {
	r.gap = fmt.Sprintf("%s was cut or rewritten after %d bytes of it had been read: rows that were in it and not yet read are lost, reading goes on at its new beginning",
		r.name, r.readEnd())
	r.start(r.file)
	r.final, f.seen = false, nil
}

// resume opens the file of an offset and goes to its place. Where that is gone,
// reading goes on at the beginning of what came after it, with a gap.
func (f *follower) resume(ctx context.Context, r *reader, m mark) error {
	if m.Node == "" && m.Position == 0 {
		return nil // nothing was read: the file at the path comes first
	}
	path, err := f.locate(m)
	if err != nil {
		return err
	}
	file, info, err := openMarked(path, m)
	if err == nil {
		f.take(r, file, info, path)
		return r.startAt(ctx, file, m)
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errOther) && !errors.Is(err, errShort) {
		return err
	}
	r.gap = fmt.Sprintf("%s: the file that was read up to line %d is not there any more, or was cut or rewritten: rows that were in it and not yet read are lost, reading goes on at the beginning of what is there now",
		f.name, m.Line)
	_, err = f.open(r, path, nil)
	return err
}

// locate returns where the file of a mark is, or else what came after it. It is
// looked for by its number in the file system, under any name in its folder;
// what has the number and other content has it because the file was cut, or is
// a later one that was given the number of the deleted one. A file at the path
// itself may have another number: it may have been copied from elsewhere.
func (f *follower) locate(m mark) (string, error) {
	dir, base := filepath.Split(f.path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || m.Node == "" || inode(info) != m.Node {
			continue
		}
		path := filepath.Join(dir, e.Name())
		file, _, err := openMarked(path, m)
		if err == nil {
			return path, file.Close()
		}
		if _, rotated := rotation(base, e.Name()); rotated {
			return path, nil
		}
	}
	return f.path, nil
}

// openMarked opens a file that is the one of the mark, by what was read of it or,
// where nothing was, by its number.
func openMarked(path string, m mark) (*os.File, fs.FileInfo, error) {
	file, info, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	err = m.check(file, info.Size())
	if err == nil && m.Position == 0 && m.Node != inode(info) {
		err = errOther
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// openRegular opens a file that can be read again after a restart. Others are
// not even opened: a pipe would wait for its writer.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file: only those can be read again after a restart", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// inode is what identifies a file in its file system as long as it exists. The
// number of the file system itself may change when the machine starts again.
func inode(info fs.FileInfo) string {
	_, number, _ := strings.Cut(nodeOf(info), ":")
	return number
}
