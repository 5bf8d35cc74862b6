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
	"github.com/rondo-flow/rondo/schema"
)

// Class is the name of both the source and the sink in specs.
const Class = "file"

// Register adds the source and the sink.
func Register(r *connector.Registry) error {
	return errors.Join(r.AddSource(Class, NewSource), r.AddSink(Class, NewSink))
}

// NewSource is the factory of sources; it does not look for files. Its
// parameters are [SourceParameters].
func NewSource(setup connector.Setup) (connector.Source, error) {
	var p SourceParameters
	p.SetDefaults()
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	if err := p.check(setup); err != nil {
		return nil, err
	}
	return &source{place: place{setup.SpecDir, p.patterns()}, schema: setup.Schema, parameters: p}, nil
}

// source is the files of some paths, each a partition.
type source struct {
	place
	schema     *schema.Schema
	parameters SourceParameters
}

// Partitions returns the paths as the spec gives them, so that the folder may be
// moved between two runs. Finite files have to be there.
func (s *source) Partitions(context.Context) ([]string, error) {
	paths, err := s.list()
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, s.look(path))
	}
	return paths, errors.Join(errs...)
}

// Look tells whether a file is there. One that is followed may still appear.
func (s *source) Look(path string) (there bool, err error) {
	if !s.has(path) {
		return false, fmt.Errorf("the file %s is not here", s.of(path))
	}
	if err := s.look(path); err != nil {
		return false, err
	}
	_, err = os.Stat(s.of(path))
	return err == nil, nil
}

// look tells what is wrong with a path before anything is read.
func (s *source) look(path string) error {
	whole := s.of(path)
	file, _, err := openRegular(whole)
	if err == nil {
		return file.Close()
	}
	if s.parameters.Finite || !errors.Is(err, fs.ErrNotExist) {
		return s.explain(path, err)
	}
	if _, err := os.Stat(filepath.Dir(whole)); err != nil {
		return fmt.Errorf("there is no folder for the file %s to appear in: %w", whole, err)
	}
	return nil
}

// Open starts at the beginning, or goes on behind the last row of a batch.
func (s *source) Open(ctx context.Context, partition string, offset []byte) (connector.Reader, error) {
	if !s.has(partition) {
		return nil, fmt.Errorf("partition %q is not of the source's paths, %s", partition, strings.Join(s.patterns, ", "))
	}
	decoder, err := s.parameters.decoder(s.schema)
	if err != nil {
		return nil, err
	}
	r := &reader{
		text: text{decoder: decoder, maxRow: int(s.parameters.MaxRowBytes), watch: !s.parameters.Finite},
		name: partition, width: s.schema.Len(), skip: s.parameters.OnMalformed == "skip",
	}
	open := s.openFinite
	if !s.parameters.Finite {
		open = s.openFollowed
	}
	if err := open(ctx, r, offset); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (s *source) openFinite(ctx context.Context, r *reader, offset []byte) error {
	file, info, err := openRegular(s.of(r.name))
	if err != nil {
		return s.explain(r.name, err)
	}
	r.start(file)
	r.final = true
	if offset == nil {
		return nil
	}
	m, err := decodeMark(offset)
	if err == nil {
		err = explainChange(m.check(file, info.Size()), m, info.Size())
	}
	if err == nil {
		err = explainChange(r.startAt(ctx, file, m), m, info.Size())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name(), err)
	}
	return nil
}

// explainChange says what to do about a file that is not what was read.
func explainChange(err error, m mark, size int64) error {
	switch {
	case errors.Is(err, errShort):
		return connector.Malformed(fmt.Errorf("%w: it has %d bytes, and %d of it were read: put the file back as it was, or start over with an empty data folder", err, size, m.Position))
	case errors.Is(err, errOther):
		return connector.Malformed(fmt.Errorf("%w, in what was read already (up to line %d): put the file back as it was, or start over with an empty data folder", err, m.Line))
	default:
		return err
	}
}

func (s *source) openFollowed(ctx context.Context, r *reader, offset []byte) error {
	r.follow = &follower{path: s.of(r.name), name: r.name, interval: s.parameters.PollInterval}
	if offset == nil {
		_, err := r.follow.open(r, r.follow.path, nil)
		return err
	}
	m, err := decodeMark(offset)
	if err == nil {
		err = r.follow.resume(ctx, r, m)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.follow.path, err)
	}
	return nil
}
