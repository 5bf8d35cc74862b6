package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rondo-flow/rondo/connector"
)

// part is the file of one writer of a sink that writes in parts.
type part struct {
	sink *sink // whose path is the part's
}

// PartPath is where a sink with a path writes a part: next to it, under a name that
// a pattern finds and that sorts as the parts follow each other.
func PartPath(path, part string) string {
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + ".part-" + part + extension
}

// OpenPart begins a part, D-26: its file is made by the first write.
func (s *sink) OpenPart(ctx context.Context, name string, former []byte) (connector.Writer, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	folder, err := filepath.Abs(s.dir)
	if err != nil {
		return nil, nil, err
	}
	host, _ := os.Hostname() // a machine without a name has folders too
	at := mark{Part: name, Path: PartPath(s.name, name), Host: host, Folder: folder}
	if former != nil {
		m, err := decodeMark(former)
		if err != nil {
			return nil, nil, err
		}
		if m.Part != "" && m.Host == at.Host && m.Folder == at.Folder {
			s.at(m.Path).cutBack(m)
		}
	}
	w := s.writer(nil, at, trail{})
	w.part = &part{s.at(at.Path)}
	return w, w.position(), nil
}

// Part tells which part a position is of.
func (s *sink) Part(position []byte) (name string, written bool, err error) {
	m, err := decodeMark(position)
	return m.Part, m.Position > 0, err
}

// at is the sink with another path.
func (s *sink) at(path string) *sink {
	other := *s
	other.name = path
	return &other
}

// create makes the file, which must not be there: no other part has the name.
func (p *part) create() (handle, error) {
	f, err := p.sink.create()
	if errors.Is(err, fs.ErrExist) {
		return nil, connector.Malformed(fmt.Errorf("there is a file that this sink has not written: move it away: %w", err))
	}
	if err != nil {
		return nil, err
	}
	if err := p.sink.syncFolders(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// cut takes away what no position was given out for. That it fails harms nobody:
// readers go by what is recorded.
func (p *part) cut(f handle, size int64) {
	if size > 0 {
		_ = f.Truncate(size)
	} else {
		_ = p.sink.disk.Remove(p.sink.path())
	}
}

// cutBack takes away what a former writer of this folder wrote and did not record,
// if it writes no more and the file is the one of the mark.
func (s *sink) cutBack(m mark) {
	f, err := s.disk.Open(s.path())
	if err != nil {
		return
	}
	defer f.Close()
	size, _, err := f.Stat()
	if err == nil && (size > m.Position || m.Position == 0) && m.check(f, size) == nil {
		(&part{s}).cut(f, m.Position)
	}
}
