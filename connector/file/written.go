package file

import (
	"errors"
	"fmt"
	"io"
)

// Written returns the path of the file that a sink wrote whose position is
// stored. It is io/fs.ErrNotExist if there is none, and another error if what is
// there is another file, is being written to, or has anything but what is
// recorded: who wrote the rest, a crashed writer or somebody else, cannot be told.
// It reads the whole file.
func Written(dataDir string, position []byte) (path string, err error) {
	m, err := decodeMark(position)
	if err != nil {
		return "", err
	}
	s := &sink{name: m.Path, dir: dataDir, disk: osDisk{}}
	f, err := s.disk.Open(s.path())
	if err != nil {
		return s.path(), err
	}
	if err = errors.Join(recognise(f, m), f.Close()); err != nil {
		return s.path(), fmt.Errorf("%s: %w", s.path(), err)
	}
	return s.path(), nil
}

// recognise tells whether a file is the one of the mark, and nothing more. Without
// recorded content it has to be the very file.
func recognise(f handle, m mark) error {
	size, node, err := f.Stat()
	switch {
	case err != nil:
		return err
	case m.Position == 0 && node != m.Node:
		err = errOther
	case size > m.Position:
		return fmt.Errorf("it is not what the sink wrote: it has %d bytes, and %d are recorded", size, m.Position)
	case size < m.Position:
		err = errShort
	default:
		err = m.checkWhole(f)
	}
	if errors.Is(err, errShort) || errors.Is(err, errOther) {
		return fmt.Errorf("it is not what the sink wrote: %w", err)
	}
	return err
}

// checkWhole reads the file, which has the mark's size.
func (m mark) checkWhole(r io.ReaderAt) error {
	var is checksum
	for b := make([]byte, 1<<20); is.Length < m.Position; {
		b = b[:min(int64(len(b)), m.Position-is.Length)]
		if n, err := r.ReadAt(b, is.Length); n < len(b) {
			return fmt.Errorf("read what was written: %w", err)
		}
		is = is.and(b)
	}
	if is != m.Whole {
		return errOther
	}
	return nil
}
