package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/spec"
)

// readSpec reads and checks a spec file on its own.
func readSpec(path string) (*spec.Spec, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &specError{path, err}
	}
	s, err := spec.Parse(path, text)
	if err != nil {
		return nil, &specError{path, err}
	}
	return s, nil
}

// prepare checks the spec against the functions and connectors there are, and
// that the data to read is there. Nothing is changed.
func prepare(ctx context.Context, s *spec.Spec, dataDir string, log *slog.Logger) (*engine.Pipeline, error) {
	o := engine.Options{
		Spec: s, Functions: &flow.Registry{}, Connectors: &connector.Registry{},
		SpecDir: filepath.Dir(s.Path), DataDir: dataDir, Log: log,
	}
	if err := errors.Join(function.Register(o.Functions), file.Register(o.Connectors)); err != nil {
		return nil, err
	}
	p, err := engine.Prepare(ctx, o)
	ofSpec := func(e error) bool { return !errors.Is(e, engine.ErrInput) }
	if err != nil && slices.ContainsFunc(parts(err), ofSpec) {
		return nil, &specError{s.Path, err}
	}
	return p, err
}
