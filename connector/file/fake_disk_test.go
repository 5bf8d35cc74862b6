package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// fakeDisk is a file system that knows what a power failure leaves: synced
// content, names in synced folders, and of the rest whatever it likes. It
// writes its calls down, and can die at any of them.
type fakeDisk struct {
	files map[string]*fakeFile // by path; a folder is a file with content nil
	log   []string
	nodes int
	// calls is how many more calls succeed, below 0 any number; torn is how many
	// bytes of a write at which the disk dies get through.
	calls, torn int
}

type fakeFile struct {
	disk            *fakeDisk
	path            string
	node            int
	folder          bool
	durable         bool // the name is
	locked          bool
	current, synced []byte
}

var errDied = errors.New("the machine died")

func newFakeDisk() *fakeDisk {
	d := &fakeDisk{files: map[string]*fakeFile{}, calls: -1}
	d.add("data", true).durable = true
	return d
}

func (d *fakeDisk) add(path string, folder bool) *fakeFile {
	d.nodes++
	f := &fakeFile{disk: d, path: path, node: d.nodes, folder: folder}
	d.files[path] = f
	return f
}

// call notes a call that changes something, and tells whether the disk dies.
func (d *fakeDisk) call(format string, args ...any) error {
	if d.calls == 0 {
		return errDied
	}
	d.calls--
	d.log = append(d.log, fmt.Sprintf(format, args...))
	return nil
}

func (d *fakeDisk) Mkdir(dir string) error {
	if _, exists := d.files[dir]; exists {
		return fs.ErrExist
	}
	if _, exists := d.files[filepath.Dir(dir)]; !exists {
		return fs.ErrNotExist
	}
	if err := d.call("mkdir %s", dir); err != nil {
		return err
	}
	d.add(dir, true)
	return nil
}

func (d *fakeDisk) Create(path string) (handle, error) {
	if _, exists := d.files[path]; exists {
		return nil, fs.ErrExist
	}
	if err := d.call("create %s", path); err != nil {
		return nil, err
	}
	d.add(path, false)
	return d.Open(path)
}

func (d *fakeDisk) Open(path string) (handle, error) {
	f, exists := d.files[path]
	switch {
	case d.calls == 0:
		return nil, errDied
	case !exists:
		return nil, fs.ErrNotExist
	case f.locked:
		return nil, errLocked
	}
	f.locked = true
	return f, nil
}

func (d *fakeDisk) Remove(path string) error {
	if err := d.call("remove %s", path); err != nil {
		return err
	}
	d.remove(path)
	return nil
}

func (d *fakeDisk) SyncDir(dir string) error {
	if err := d.call("sync folder %s", dir); err != nil {
		return err
	}
	for path, f := range d.files {
		f.durable = f.durable || filepath.Dir(path) == dir
	}
	return nil
}

func (f *fakeFile) ReadAt(b []byte, at int64) (int, error) {
	if f.disk.calls == 0 {
		return 0, errDied
	}
	if n := copy(b, f.current[min(at, int64(len(f.current))):]); n < len(b) {
		return n, io.EOF
	}
	return len(b), nil
}

func (f *fakeFile) WriteAt(b []byte, at int64) (int, error) {
	err := f.disk.call("write %d bytes at %d", len(b), at)
	if err != nil {
		b = b[:min(f.disk.torn, len(b))]
	}
	f.current = append(append([]byte(nil), f.current[:at]...), b...)
	return len(b), err
}

func (f *fakeFile) Truncate(size int64) error {
	if err := f.disk.call("cut to %d bytes", size); err != nil {
		return err
	}
	f.current = append([]byte(nil), f.current[:size]...)
	return nil
}

func (f *fakeFile) Sync() error {
	if err := f.disk.call("sync"); err != nil {
		return err
	}
	f.synced = f.current
	return nil
}

func (f *fakeFile) Stat() (int64, string, error) {
	if f.disk.calls == 0 {
		return 0, "", errDied
	}
	return int64(len(f.current)), fmt.Sprint("node ", f.node), nil
}

func (f *fakeFile) Close() error {
	f.locked = false
	return nil
}

// kill is the end of the process: what it wrote is there.
func (d *fakeDisk) kill() {
	d.calls = -1
	for _, f := range d.files {
		f.locked = false
	}
}

// powerFailure loses what pick decides of all that was not synced. pick(n)
// returns a number from 0 to n.
func (d *fakeDisk) powerFailure(pick func(n int) int) {
	d.kill()
	for _, path := range d.paths() {
		f, exists := d.files[path]
		if exists && !f.durable && pick(1) == 1 {
			d.remove(path)
			continue
		}
		if exists && !f.folder {
			f.current = f.afterFailure(pick)
			f.synced, f.durable = f.current, true
		}
	}
}

func (d *fakeDisk) remove(path string) {
	for p := range d.files {
		if p == path || strings.HasPrefix(p, path+"/") {
			delete(d.files, p)
		}
	}
}

// afterFailure returns the synced content if the file was cut since, and else
// that and a part of what was appended, the rest of which may be zeros.
func (f *fakeFile) afterFailure(pick func(n int) int) []byte {
	old, now := len(f.synced), len(f.current)
	if now <= old {
		return [][]byte{f.synced, f.current}[pick(1)]
	}
	size := old + pick(now-old)
	whole := old + pick(size-old)
	return append(append([]byte(nil), f.current[:whole]...), make([]byte, size-whole)...)
}

// paths returns all paths, folders before what is in them.
func (d *fakeDisk) paths() []string { return slices.Sorted(maps.Keys(d.files)) }
