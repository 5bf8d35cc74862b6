package function

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/yson"
)

// rollupParameters are the processing_function_parameters of rollup.
type rollupParameters struct {
	Aggregates map[string]aggregateParameters `yson:"aggregates,required"` // what is kept of each key, by the column of the outputs that it fills
	OnVisit    visitParameters                `yson:"on_visit"`            // what a visit does; nothing if not given
}

// visitParameters say what rollup does on a visit: it evicts, or else emits.
type visitParameters struct {
	Emit  *string             `yson:"emit"`  // output stream for a snapshot of the key
	Evict *evictionParameters `yson:"evict"` // when a key is forgotten instead
}

// aggregateParameters describe one aggregate.
type aggregateParameters struct {
	Op     string  `yson:"op,required"` // count, sum, min, max, or last: the value with the largest event timestamp
	Column *string `yson:"column"`      // of the inputs; count needs none, and then counts messages
}

// evictionParameters say when a key is idle.
type evictionParameters struct {
	Idle time.Duration `yson:"idle,required"` // by event time: watermark of the inputs less the key's last message, strictly more than this
	Emit *string       `yson:"emit"`          // output stream for what is forgotten
}

// rollupSetup turns parameters into a rollup and collects all problems.
type rollupSetup struct {
	flow.Setup
	problems yson.Problems
	streams  []string // the input streams, sorted
	// slots says where the aggregate of an output column is kept; unusable for
	// one with a problem.
	slots  map[string]int
	result *rollup
}

const unusable = -1

// NewRollup is the factory of rollup. It reports every problem of the
// parameters, with its path.
func NewRollup(setup flow.Setup) (flow.Function, error) {
	s := &rollupSetup{Setup: setup, streams: slices.Sorted(maps.Keys(setup.Inputs)), slots: map[string]int{}, result: &rollup{}}
	var p rollupParameters
	if err := setup.Parameters.Decode(&p); err != nil && !errors.As(err, &s.problems) {
		return nil, err
	}
	s.graph()
	s.aggregates(p.Aggregates)
	s.outputs(p)
	s.problems.Sort()
	if err := s.problems.Err(); err != nil {
		return nil, err
	}
	return s.result, nil
}

// problem adds a problem at the end of a path of names below the parameters.
func (s *rollupSetup) problem(path []string, format string, args ...any) {
	node, at := s.Parameters.Node(), s.Parameters.Path()
	for _, name := range path {
		at = yson.Join(at, name)
		if deeper := node.Get(name); deeper != nil {
			node = deeper
		}
	}
	s.problems.Add(node, at, format, args...)
}

// graph checks what is around the function.
func (s *rollupSetup) graph() {
	if s.Key == nil {
		s.problem(nil, "rollup of computation %s needs a group_by_schema: it keeps its aggregates by key", s.Computation)
	}
	if len(s.streams) == 0 {
		s.problem(nil, "rollup of computation %s needs an input stream", s.Computation)
	}
}
