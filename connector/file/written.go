package file

import (
	"errors"
	"fmt"
)

// Written returns the path of the file that a sink wrote whose position is
// stored. It is io/fs.ErrNotExist if there is none, and another error if what is
// there is another file, or is being written to.
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

// recognise tells whether a file is the one of the mark. Without recorded
// content it has to be the very file.
func recognise(f handle, m mark) error {
	size, node, err := f.Stat()
	switch {
	case err != nil:
		return err
	case m.Position == 0 && node != m.Node:
		err = errOther
	case m.Position > 0:
		err = m.check(f, size)
	}
	if errors.Is(err, errShort) || errors.Is(err, errOther) {
		return fmt.Errorf("it is not what the sink wrote: %w", err)
	}
	return err
}
