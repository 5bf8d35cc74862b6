package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

type tableAcceptCommand struct {
	File        string `arg:"" help:"The spec file of the pipeline."`
	Computation string `arg:"" help:"The computation that joins the table."`
	Joiner      string `arg:"" help:"The name of the joiner, such as /source."`
	dataFlag
}

// Help is shown below the usage.
func (tableAcceptCommand) Help() string {
	return `A table that lost more of its rows than max_shrink_ratio since the last completed pass is not believed: what it does not have counts as unknown, and nothing is removed for it. This command says that the version which is there now is right. A running pipeline sees it at its next read.

Example:
  rondo table accept examples/airports/pipeline.yson airports /source`
}

// Run accepts the version that is there now.
func (c *tableAcceptCommand) Run(io *streams) error {
	s, err := (&specArg{File: c.File}).read()
	if err != nil {
		return err
	}
	j, err := c.joiner(s)
	if err != nil {
		return err
	}
	defer j.Close()
	i, err := j.Accept(context.Background())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.err, "rondo: accepted %s: %s\n", j.Path(), i)
	return err
}

// joiner makes the joiner as the pipeline has it.
func (c *tableAcceptCommand) joiner(s *spec.Spec) (*external.Joiner, error) {
	comp := s.Pipeline.Computations[c.Computation]
	if comp == nil {
		return nil, &usageError{fmt.Errorf("there is no computation %s: %s", c.Computation, yson.DidYouMean(c.Computation, s.Pipeline.ComputationIDs()))}
	}
	j := comp.ExternalJoiners[c.Joiner]
	if j == nil {
		known := slices.Sorted(maps.Keys(comp.ExternalJoiners))
		if len(known) == 0 {
			return nil, &usageError{errors.New("the computation joins no table")}
		}
		return nil, &usageError{fmt.Errorf("computation %s has no joiner %s: %s", c.Computation, c.Joiner, yson.DidYouMean(c.Joiner, known))}
	}
	began := time.Now()
	return external.New(external.Options{
		Computation: comp.ID, Name: j.ID, GroupBy: comp.GroupBy,
		Parameters: flow.NewParameters(j.Parameters, "parameters"),
		SpecDir:    filepath.Dir(s.Path), DataDir: c.folder(s.Name),
		Now: func() time.Duration { return time.Since(began) }, Log: discard(),
	})
}
