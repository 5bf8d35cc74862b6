package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/datagen"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

// specArg names a spec file and what differs from it.
type specArg struct {
	File string   `arg:"" help:"The spec file of the pipeline."`
	Set  []string `sep:"none" placeholder:"PATH=VALUE" help:"Set a dynamic parameter in place of the file's, such as computations.routes.key_visitor_streams.sweep.period=5s. May be repeated."`
}

// read reads and checks the spec on its own.
func (a *specArg) read() (*spec.Spec, error) {
	s, err := a.parse()
	if err == nil && len(s.Problems) > 0 {
		return nil, &specError{a.File, s.Problems}
	}
	return s, err
}

// parse reads the spec with the problems that it has, for prepare to tell with
// those it finds itself.
func (a *specArg) parse() (*spec.Spec, error) {
	if a.File == "" {
		return nil, &usageError{errors.New("the name of the spec file is empty")}
	}
	text, err := os.ReadFile(a.File)
	if unread, ok := errors.AsType[*fs.PathError](err); ok {
		err = unread.Err // the path is said anyway
	}
	if err != nil {
		return nil, &specError{a.File, err}
	}
	format, err := yson.FormatOf(a.File)
	if err != nil {
		return nil, &specError{a.File, err}
	}
	root, err := yson.Parse(text, format)
	if err != nil {
		return nil, &specError{a.File, err}
	}
	for _, assignment := range a.Set {
		if err := spec.Set(root, assignment); err != nil {
			return nil, &usageError{fmt.Errorf("--set %s: %w", assignment, err)}
		}
	}
	s, _ := spec.FromNode(a.File, root)
	return s, nil
}

// dataFlag names the folder of a pipeline's data.
type dataFlag struct {
	Data  string `placeholder:"DIR" help:"Folder for the state and the files that sinks write. Default: rondo-data/NAME, with the pipeline's name."`
	Store string `placeholder:"URL" env:"RONDO_STORE" help:"Keep the state in PostgreSQL instead: postgres://USER@HOST/DATABASE, made by rondo migrate up."`
}

// at returns where the pipeline's data lies.
func (d *dataFlag) at(pipeline string) where { return where{dataDir: d.folder(pipeline), url: d.Store} }

func (d *dataFlag) folder(pipeline string) string {
	return cmp.Or(d.Data, filepath.Join("rondo-data", pipeline))
}

// options are what this binary has to run a spec with.
func options(s *spec.Spec, dataDir string, log *slog.Logger) (engine.Options, error) {
	o := engine.Options{
		Spec: s, Functions: &flow.Registry{}, Connectors: &connector.Registry{},
		SpecDir: filepath.Dir(s.Path), DataDir: dataDir, Log: log,
	}
	return o, errors.Join(function.Register(o.Functions), file.Register(o.Connectors), queue.Register(o.Connectors), datagen.Register(o.Connectors))
}

// prepareWith checks the spec against the functions and connectors there are, and
// that the data to read is there. All problems are told, those of the spec on its
// own too. Nothing is changed.
func prepareWith(ctx context.Context, o engine.Options) (*engine.Pipeline, error) {
	p, err := engine.Prepare(ctx, o)
	ofSpec := func(e error) bool { return !errors.Is(e, engine.ErrInput) }
	if err != nil && slices.ContainsFunc(parts(err), ofSpec) {
		return nil, &specError{o.Spec.Path, err}
	}
	return p, err
}
