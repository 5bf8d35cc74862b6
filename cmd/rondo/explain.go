package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

type explainCommand struct {
	specArg
	dataFlag
	Output string `enum:"text,graph,yson" default:"text" placeholder:"FORM" help:"Print all as text (default), the graph alone, or the effective spec alone as yson, which is a spec itself."`
}

// Help is shown below the usage.
func (explainCommand) Help() string {
	return `First comes the graph: each computation with what it reads, keeps, visits and writes, sources first. Then the effective spec, in which every parameter has its value, given or default.

A data folder may hold another dynamic spec than the file, set after the file was loaded; explain says which one is in force, and shows that one. A function that this binary does not have is marked: it belongs to a program that uses Rondo as a library, and only that program can check the function and run the spec. Nothing is changed.

Examples:
  rondo explain examples/flights/pipeline.yson
  rondo explain pipeline.yaml --set computations.users.max_rows_per_batch=200 --output yson`
}

// Run prints what a spec means.
func (c *explainCommand) Run(io *streams) error {
	s, err := c.parse()
	if err != nil {
		return err
	}
	e := explanation{at: c.at(s.Name), dataDir: c.folder(s.Name)}
	if err := e.find(io, s); err != nil {
		return err
	}
	return e.print(io.out, c.Output)
}

// explanation is what explain prints.
type explanation struct {
	*engine.InForce
	at      where
	dataDir string
	// held says who keeps the store from being looked at; running tells that the
	// pipeline itself was asked.
	held    error
	running bool
	// strangers are the functions that this binary does not have.
	strangers []string
}

// find asks the pipeline what is in force, if it has run.
func (e *explanation) find(io *streams, s *spec.Spec) (err error) {
	ctx := context.Background()
	o, err := options(s, e.dataDir, discard())
	if err != nil {
		return err
	}
	if e.strangers, err = addStrangers(o.Functions, s); err != nil {
		return err
	}
	p, err := prepareWith(ctx, o)
	if err != nil {
		return err
	}
	err = e.at.with(ctx, io, s.Name, func(ctx context.Context, r *reached) error {
		rests, ok := r.subject.(*resting)
		if !ok {
			return e.ask(ctx, r, s)
		}
		e.InForce, err = p.InForce(ctx, rests.store)
		return err
	})
	if errors.Is(err, store.ErrLocked) {
		e.held = err
	}
	if e.held != nil || errors.Is(err, errNoRun) {
		e.InForce, err = p.InForce(ctx, nil)
	}
	return err
}

// ask asks a running pipeline what it goes by.
func (e *explanation) ask(ctx context.Context, r *reached, s *spec.Spec) error {
	in, err := r.Spec(ctx)
	if err != nil {
		return err
	}
	status, err := r.Status(ctx)
	if err != nil {
		return err
	}
	e.InForce = &engine.InForce{Version: in.Version, Partitions: map[string]int{}}
	if e.Spec, err = spec.Stored(in.Name, s.Path, in.Static, in.Dynamic); err != nil {
		return err
	}
	e.running = true
	for _, p := range status.Partitions {
		e.Partitions[p.Computation]++
	}
	return nil
}

func (e *explanation) print(out io.Writer, form string) error {
	text := ""
	if form != "yson" {
		text = e.head() + graphText(e.Spec, e.Partitions, e.strangers)
	}
	if form == "text" {
		text += "\neffective spec\n"
	}
	if form != "graph" {
		text += string(yson.EncodePretty(e.Spec.Effective()))
	}
	_, err := io.WriteString(out, text)
	return err
}

func (e *explanation) head() string {
	return fmt.Sprintf("pipeline %s\n  file          %s\n  data folder   %s\n  dynamic spec  %s\n",
		e.Spec.Name, e.Spec.Path, e.dataDir, e.origin())
}

// origin says which dynamic spec is in force.
func (e *explanation) origin() string {
	switch {
	case e.running:
		return fmt.Sprintf("that of the running pipeline, version %d", e.Version)
	case e.held != nil:
		return fmt.Sprintf("the file's is shown; which one is in force is not known: %v", e.held)
	case e.Origin == engine.NewFile:
		return "the file's; the data folder has none yet"
	case e.Origin == engine.SameFile:
		return fmt.Sprintf("the file's, stored in version %d", e.Version)
	case e.Origin == engine.ChangedFile:
		return fmt.Sprintf("the file's, which has changed since it was loaded: the next run stores it as version %d", e.Version+1)
	default:
		return fmt.Sprintf("the stored one, version %d, which was set after the file's was loaded; change the file's to replace it", e.Version)
	}
}
