package external

import (
	"errors"
	"io"
	"os"
)

// disk is what tables ask of the file system. It is narrow so that tests can
// fail, cut and replace what is read.
type disk interface {
	// open opens a regular file for reading.
	open(path string) (file, error)
	// stamp tells which file is at a path now.
	stamp(path string) (stamp, error)
}

// file is an open file.
type file interface {
	io.ReaderAt
	io.Closer
	stamp() (stamp, error)
}

// stamp tells one content of a file from another without reading it (KV-55):
// size, times and place in the file system.
type stamp struct {
	size, modified int64
	node           string
}

var errNotRegular = errors.New("it is no regular file")

// osDisk is the file system of the machine.
type osDisk struct{}

func (osDisk) open(path string) (file, error) {
	if _, err := (osDisk{}).stamp(path); err != nil {
		return nil, err // before it is opened: that can do something to a device
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osDisk) stamp(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info)
}

type osFile struct{ *os.File }

func (f osFile) stamp() (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info)
}

func stampOf(info os.FileInfo) (stamp, error) {
	if !info.Mode().IsRegular() {
		return stamp{}, errNotRegular
	}
	return stamp{size: info.Size(), modified: info.ModTime().UnixNano(), node: nodeOf(info)}, nil
}
