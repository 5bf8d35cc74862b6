package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
)

// NewSink is the factory of sinks; it touches no file. Its parameters are
// [SinkParameters].
func NewSink(setup connector.Setup) (connector.Sink, error) {
	var p SinkParameters
	p.SetDefaults()
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	if err := p.check(setup); err != nil {
		return nil, err
	}
	return &sink{name: p.Path, dir: setup.DataDir, parameters: p, disk: osDisk{}}, nil
}

// sink is one file that rows are appended to.
type sink struct {
	name       string // as in the spec
	dir        string // the data folder
	parameters SinkParameters
	disk       disk
}

// Target is the file's cleaned path.
func (s *sink) Target() string { return s.path() }

func (s *sink) path() string {
	if filepath.IsAbs(s.name) {
		return filepath.Clean(s.name)
	}
	return filepath.Join(s.dir, s.name)
}

// Open brings the file to the state of the position, D-26.
func (s *sink) Open(ctx context.Context, position []byte) (connector.Writer, []byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	w, err := s.open(position)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.path(), err)
	}
	return w, w.position(), nil
}

func (s *sink) open(position []byte) (*writer, error) {
	var m mark
	if position != nil {
		var err error
		if m, err = decodeMark(position); err != nil {
			return nil, err
		}
	}
	f, err := s.disk.Open(s.path())
	if errors.Is(err, fs.ErrNotExist) {
		if m.Position > 0 {
			return nil, s.gone(m)
		}
		f, err = s.create()
	}
	if err != nil {
		return nil, unusable(err)
	}
	w, err := s.adopt(f, m, position == nil)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

func (s *sink) gone(m mark) error {
	if m.Path != s.name {
		return connector.Malformed(fmt.Errorf("the file is not there: %d bytes were written to %s, move that file here, or start over with an empty data folder", m.Position, m.Path))
	}
	return connector.Malformed(fmt.Errorf("the file is gone: %d bytes were written to it, put it back, or start over with an empty data folder", m.Position))
}

// create makes the file and the folders above it.
func (s *sink) create() (handle, error) {
	dir := filepath.Dir(s.path())
	if err := s.makeFolder(dir); err != nil {
		return nil, err
	}
	return s.disk.Create(s.path())
}

func (s *sink) makeFolder(dir string) error {
	err := s.disk.Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err := s.makeFolder(filepath.Dir(dir)); err != nil {
			return err
		}
		err = s.disk.Mkdir(dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.disk.SyncDir(filepath.Dir(dir))
}

// adopt checks that the file is the mark's, cuts off what was written and not
// recorded, and returns the writer that goes on at the mark. Without content
// there is nothing to compare: then only an empty file is ours at the first
// time, and later only the very file that was created, known by its number in the
// file system. What it holds then is taken for our write that a crash kept from
// being recorded; that somebody else wrote into our empty file cannot be told.
func (s *sink) adopt(f handle, m mark, first bool) (*writer, error) {
	size, node, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case m.Position > 0:
		err = explainCheck(m.check(f, size), m, size)
	case size > 0 && (first || node == "" || node != m.Node):
		err = connector.Malformed(fmt.Errorf("there is a file of %d bytes which this sink has not written: move it away, or give the sink another path", size))
	default:
		err = s.syncFolders()
	}
	if err == nil && size > m.Position {
		err = f.Truncate(m.Position)
	}
	if err != nil {
		return nil, err
	}
	t, err := readTrail(f, m.Position)
	if err != nil {
		return nil, err
	}
	at := mark{Position: m.Position, Line: m.Line, Path: s.name, Node: node, Whole: m.Whole, Header: m.Header}
	return s.writer(f, at, t), nil
}

func (s *sink) writer(f handle, at mark, t trail) *writer {
	return &writer{file: f, at: at, trail: t, newEncoder: s.parameters.encoder, encoders: map[*schema.Schema]rowtext.Encoder{}}
}

func explainCheck(err error, m mark, size int64) error {
	switch {
	case errors.Is(err, errShort):
		return connector.Malformed(fmt.Errorf("%w: it has %d bytes, and %d were written to it: put the file back as it was, or start over with an empty data folder", err, size, m.Position))
	case errors.Is(err, errOther):
		return connector.Malformed(fmt.Errorf("%w, in the %d bytes that this sink wrote: put the file back as it was, or start over with an empty data folder", err, m.Position))
	default:
		return err
	}
}

// syncFolders makes the new file's name durable, and the names of the folders
// between it and the data folder: who made those may have died before their
// names were synced.
func (s *sink) syncFolders() error {
	for dir := filepath.Dir(s.path()); ; dir = filepath.Dir(dir) {
		if err := s.disk.SyncDir(dir); err != nil {
			return err
		}
		if rel, err := filepath.Rel(s.dir, dir); err != nil || rel == "." || !filepath.IsLocal(rel) {
			return nil
		}
	}
}
