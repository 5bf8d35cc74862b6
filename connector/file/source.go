package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Class is the name of both the source and the sink in specs.
const Class = "file"

// Register adds the source and the sink.
func Register(r *connector.Registry) error {
	return errors.Join(r.AddSource(Class, NewSource), r.AddSink(Class, NewSink))
}

type sourceParameters struct {
	Path        string    `yson:"path,required"`
	Format      string    `yson:"format" enum:"jsonl"`
	Finite      bool      `yson:"finite"`
	MaxRowBytes yson.Size `yson:"max_row_bytes" range:">0"`
}

// NewSource is the factory of sources; it does not look for the file.
func NewSource(setup connector.Setup) (connector.Source, error) {
	p := sourceParameters{Format: "jsonl", MaxRowBytes: 64 << 20}
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	var problems yson.Problems
	node, path := setup.Parameters.Node(), setup.Parameters.Path()
	if p.Path == "" {
		problems.Add(node.Get("path"), yson.Join(path, "path"), "the path is empty: name a file, relative to the folder of the spec file")
	}
	if !p.Finite {
		problems.Add(node.Get("finite"), yson.Join(path, "finite"), "a file is read once, from its beginning to its end: set finite = %%true")
	}
	for _, c := range setup.Schema.Columns() {
		if c.Expression != "" {
			problems.Add(node, path, "column %s of the stream has an expression: the file source reads columns, it computes none", c.Name)
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	s := &source{name: p.Path, dir: setup.SpecDir, schema: setup.Schema, maxRow: int(p.MaxRowBytes)}
	return s, nil
}

// source is one finite file.
type source struct {
	name   string // as in the spec
	dir    string // what name is relative to
	schema *schema.Schema
	maxRow int
}

func (s *source) path() string {
	if filepath.IsAbs(s.name) {
		return s.name
	}
	return filepath.Join(s.dir, s.name)
}

// Partitions returns the file's name as the spec gives it, so that the folder
// may be moved between two runs.
func (s *source) Partitions(context.Context) ([]string, error) {
	f, _, err := s.open()
	if err != nil {
		return nil, err
	}
	return []string{s.name}, f.Close()
}

// open opens the file and returns its size.
func (s *source) open() (*os.File, int64, error) {
	f, err := os.Open(s.path())
	if err != nil {
		return nil, 0, s.explain(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: only those can be read again after a restart", s.path())
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

func (s *source) explain(err error) error {
	if !errors.Is(err, fs.ErrNotExist) || filepath.IsAbs(s.name) {
		return err
	}
	return fmt.Errorf("there is no file %s: the path %q is relative to the folder of the spec file, %s: %w",
		s.path(), s.name, s.dir, fs.ErrNotExist)
}

// Open starts at the beginning, or goes on behind the last row of a batch.
func (s *source) Open(_ context.Context, partition string, offset []byte) (connector.Reader, error) {
	if partition != s.name {
		return nil, fmt.Errorf("partition %q is not the source's file %q", partition, s.name)
	}
	f, size, err := s.open()
	if err != nil {
		return nil, err
	}
	r := &reader{file: f, name: s.name, decoder: rowtext.NewJSONDecoder(s.schema), maxRow: s.maxRow, width: s.schema.Len()}
	if offset != nil {
		err = r.resume(offset, size)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", s.path(), err), f.Close())
	}
	return r, nil
}
