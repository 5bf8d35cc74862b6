package main

import (
	"context"
	"slices"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
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
