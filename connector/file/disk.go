package file

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// disk is what the sink asks of the file system. It is narrow so that tests can
// write down, fail and cut short every call.
type disk interface {
	// Mkdir makes one folder.
	Mkdir(dir string) error
	// Open opens a file for one writer: while it is open, opening it again is
	// errLocked, for other processes too. What is no regular file is not opened,
	// but is errNotRegular.
	Open(path string) (handle, error)
	// Create makes a file that must not exist, and opens it as Open does.
	Create(path string) (handle, error)
	// Remove removes a file.
	Remove(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
}

// handle is an open file.
type handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	// Sync makes content and size durable.
	Sync() error
	// Stat returns the size and what identifies the file in its file system. It
	// is an error if the file is no longer found at the path it was opened by.
	Stat() (size int64, node string, err error)
}

var errLocked = errors.New("another sink or another process is writing to the file: a file has one sink, give this one another path")

// osDisk is the file system of the machine.
type osDisk struct{}

func (osDisk) Mkdir(dir string) error { return os.Mkdir(dir, 0o777) }

// Open looks first: opening a device can do something to it.
func (osDisk) Open(path string) (handle, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return openLocked(path, os.O_RDWR)
}

func (osDisk) Create(path string) (handle, error) {
	return openLocked(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (osDisk) Remove(path string) error { return os.Remove(path) }

func openLocked(path string, flag int) (handle, error) {
	f, err := os.OpenFile(path, flag, 0o666)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return osFile{f}, nil
}

func (osDisk) SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type osFile struct{ *os.File }

func (f osFile) Stat() (int64, string, error) {
	opened, err := f.File.Stat()
	if err != nil {
		return 0, "", err
	}
	if !opened.Mode().IsRegular() {
		return 0, "", errNotRegular
	}
	named, err := os.Stat(f.Name())
	if err != nil || !os.SameFile(opened, named) {
		return 0, "", fmt.Errorf("the file was moved, deleted or replaced while it was written: put it back")
	}
	return opened.Size(), nodeOf(opened), nil
}
