package pebblestore

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
)

// freezer is a file system that stops at its first failed write. From then on
// it leaves the disk as it is and keeps what is written in memory, without an
// error: to Pebble all is well, so that it neither panics nor waits for ever,
// and can be closed. Whoever relies on a write asks failed after it; a write
// that went to memory returned after failed had begun to tell.
//
// A table file that was being written is the exception. It gets the error, so
// that Pebble writes the table again, wholly in memory. What cannot be removed
// is left to Pebble too: it tries again, and nothing is lost by it.
type freezer struct {
	vfs.FS
	dir    string
	log    *slog.Logger
	mem    *vfs.MemFS
	reason atomic.Pointer[error]
}

func newFreezer(base vfs.FS, dir string, log *slog.Logger) *freezer {
	return &freezer{FS: base, dir: dir, log: log, mem: vfs.NewMem()}
}

// failed returns why the disk is left as it is, nil while it is not. The error
// has a class.
func (f *freezer) failed() error {
	if err := f.reason.Load(); err != nil {
		return *err
	}
	return nil
}

// fail leaves the disk as it is from now on. The first reason stays.
func (f *freezer) fail(err error) {
	if f.reason.Load() != nil {
		return
	}
	// A folder in memory cannot fail, and must be there before it is used.
	_ = f.mem.MkdirAll(f.dir, 0o755)
	if f.reason.CompareAndSwap(nil, &err) {
		f.log.Error("the store stops", "folder", f.dir, "reason", err)
	}
}

func (f *freezer) failWrite(name string, err error) {
	f.fail(fmt.Errorf("%w: cannot write %s: %w; make room or mend the disk, then start again", store.ErrUnavailable, name, err))
}

// Create makes a file, in memory once the disk failed.
func (f *freezer) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.create(name, c, func() (vfs.File, error) { return f.FS.Create(name, c) })
}

// ReuseForWrite renames a file to write it anew. Once the disk failed the old
// one stays and the new one is in memory.
func (f *freezer) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return f.create(name, c, func() (vfs.File, error) { return f.FS.ReuseForWrite(old, name, c) })
}

func (f *freezer) create(name string, c vfs.DiskWriteCategory, create func() (vfs.File, error)) (vfs.File, error) {
	if f.failed() == nil {
		file, err := create()
		if err == nil {
			return &guardedFile{file, f, name}, nil
		}
		f.failWrite(name, err)
	}
	return f.mem.Create(name, c)
}

// OpenDir opens a folder to sync it.
func (f *freezer) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &guardedFile{file, f, name}, nil
}

// Open reads what was written last.
func (f *freezer) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if f.failed() != nil {
		if file, err := f.mem.Open(name, opts...); err == nil {
			return file, nil
		}
	}
	return f.FS.Open(name, opts...)
}

// Stat describes what was written last.
func (f *freezer) Stat(name string) (vfs.FileInfo, error) {
	if f.failed() != nil {
		if info, err := f.mem.Stat(name); err == nil {
			return info, nil
		}
	}
	return f.FS.Stat(name)
}

// Remove removes a file, on the disk only while it did not fail.
func (f *freezer) Remove(name string) error {
	if f.failed() == nil {
		return f.FS.Remove(name)
	}
	_ = f.mem.Remove(name) // it may be on the disk only
	return nil
}

// Rename renames a file, on the disk only while it did not fail.
func (f *freezer) Rename(old, name string) error {
	if f.failed() == nil {
		err := f.FS.Rename(old, name)
		if err == nil {
			return nil
		}
		f.failWrite(name, err)
	}
	_ = f.mem.Rename(old, name) // it may be on the disk only
	return nil
}

// Unwrap lets Pebble find the file system below.
func (f *freezer) Unwrap() vfs.FS { return f.FS }

// guardedFile is a file or folder on the disk.
type guardedFile struct {
	vfs.File
	fs   *freezer
	name string
}

// do makes one write, unless the disk failed.
func (g *guardedFile) do(write func() error) error {
	if g.fs.failed() == nil {
		err := write()
		if err == nil {
			return nil
		}
		g.fs.failWrite(g.name, err)
	}
	if strings.HasSuffix(g.name, ".sst") || strings.HasSuffix(g.name, ".blob") {
		return g.fs.failed()
	}
	return nil
}

func (g *guardedFile) Write(p []byte) (int, error) {
	err := g.do(func() error { _, err := g.File.Write(p); return err })
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (g *guardedFile) Sync() error { return g.do(g.File.Sync) }

func (g *guardedFile) SyncData() error { return g.do(g.File.SyncData) }

func (g *guardedFile) SyncTo(length int64) (full bool, err error) {
	err = g.do(func() (err error) { full, err = g.File.SyncTo(length); return err })
	return full, err
}

func (g *guardedFile) Preallocate(offset, length int64) error {
	if g.fs.failed() != nil {
		return nil
	}
	return g.File.Preallocate(offset, length)
}

// Close releases the file even when the disk failed.
func (g *guardedFile) Close() error {
	if err := g.File.Close(); err != nil && g.fs.failed() == nil {
		g.fs.failWrite(g.name, err)
	}
	return nil
}
