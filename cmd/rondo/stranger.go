package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

// stranger stands for a function that this binary does not have. It takes
// whatever the spec gives it, and is never called: what it would say to its
// parameters is not known.
type stranger struct{}

func newStranger(flow.Setup) (flow.Function, error) { return stranger{}, nil }

// OnMessage makes it a function of computations with inputs.
func (stranger) OnMessage(context.Context, flow.Runtime, flow.Message, flow.OutputCollector) error {
	return nil
}

// OnVisit makes it a function of computations with visits.
func (stranger) OnVisit(context.Context, flow.Runtime, flow.Visit, flow.OutputCollector) error {
	return nil
}

// OnTimer makes it a function of computations with timers.
func (stranger) OnTimer(context.Context, flow.Runtime, flow.Timer, flow.OutputCollector) error {
	return nil
}

// Reconfigure makes it one that has dynamic parameters.
func (stranger) Reconfigure(flow.Parameters) error { return nil }

// addStrangers registers the functions that a spec names and nobody has. They are
// the programs' that run the spec as a library.
func addStrangers(functions *flow.Registry, s *spec.Spec) (names []string, err error) {
	for _, id := range s.Pipeline.ComputationIDs() {
		name := s.Pipeline.Computations[id].ProcessingFunction
		if _, known := functions.Lookup(name); known || name == "" {
			continue
		}
		if err := functions.Register(name, newStranger); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// strangeProblems say of each computation whose function is a stranger that it could
// not be tried; known are the names that it may be a misspelling of.
func strangeProblems(s *spec.Spec, strangers, known []string) (all yson.Problems) {
	for _, id := range s.Pipeline.ComputationIDs() {
		name := s.Pipeline.Computations[id].ProcessingFunction
		if !slices.Contains(strangers, name) {
			continue
		}
		// as the engine says it
		err := fmt.Errorf("no function %s: %s", strconv.Quote(name), yson.DidYouMean(name, known))
		if yson.Suggest(name, known) == "" {
			err = fmt.Errorf("%w; if it is one of a program of your own, that program checks it when it runs, and all else is checked here", err)
		}
		all = append(all, s.ProblemsAt(yson.Join("spec.computations", id, "processing_function"), err)...)
	}
	return all
}

// together adds problems to those of err, in the order of the file.
func together(err error, more yson.Problems) error {
	all, others := slices.Clone(more), []error(nil)
	for _, e := range parts(err) {
		if found, ok := e.(yson.Problems); ok {
			all = append(all, found...)
		} else {
			others = append(others, e)
		}
	}
	all.Sort()
	return errors.Join(append([]error{all.Err()}, others...)...)
}
