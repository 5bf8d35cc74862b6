package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Spec is a pipeline specification. It is not changed after [Parse].
type Spec struct {
	Name     string // of the pipeline: letters, digits and "_.-"
	Path     string // of the file, as given; sources' paths are relative to its folder
	Pipeline Pipeline
	Dynamic  Dynamic

	// Problems is everything that is wrong with it, in the order of the text. A
	// specification with problems cannot be run; what it says is what was understood
	// of it.
	Problems yson.Problems

	Notes   []string // warnings for the user, one line each
	Ignored []string // paths of fields that are accepted and have no effect

	// StaticText and DynamicText are the canonical YSON of the spec and
	// dynamic_spec as given: what is stored, and compared to see a change.
	StaticText, DynamicText string

	root place
}

// ProblemsAt returns an error as problems of the value at path, with its place in
// the file; what are problems already keep theirs.
func (s *Spec) ProblemsAt(path string, err error) yson.Problems {
	return problemsOf(s.root.keys(yson.Split(path)...), err)
}

// Sound reports whether nothing is wrong at or below path.
func (s *Spec) Sound(path string) bool {
	return !slices.ContainsFunc(s.Problems, func(p yson.Problem) bool {
		below, found := strings.CutPrefix(p.Path, path)
		return found && (below == "" || below[0] == '.' || below[0] == '[')
	})
}

// Pipeline is the static part: the graph.
type Pipeline struct {
	Streams      map[string]*Stream      `yson:"streams"`      // inputs and outputs of computations, and source streams whose rows are unlike the outputs, by id
	Computations map[string]*Computation `yson:"computations"` // at least one, by id; an id has no ":"
	Resources    map[string]*Resource    `yson:"resources"`    // by id

	_ struct{} `yson:"validate_binary_version|binary_version|validate_binary_checksum|binary_checksum,ignored"`
}

// Stream is a named flow of rows between computations.
type Stream struct {
	ID     string
	Schema *schema.Schema `yson:"schema,required"` // of its rows: at least one column, no sort_order, no expression

	_ struct{} `yson:"class_name|migration_function,ignored"`
}

// Resource is something functions need that workers load for them.
type Resource struct {
	ClassName            string                `yson:"resource_class_name,required"` // what it is
	Parameters           *yson.Node            `yson:"parameters"`                   // of the class
	Dependencies         map[string]*yson.Node `yson:"dependencies"`                 // resources that it needs, by id
	RequiredCapabilities map[string]int        `yson:"required_capabilities"`        // what a worker must have for it
	PreloadRequired      bool                  `yson:"preload_required"`             // loaded before work begins; excludes AlwaysOn
	AlwaysOn             bool                  `yson:"always_on"`                    // loaded on every worker; excludes PreloadRequired
}

// ComputationIDs returns the ids of the computations in order.
func (p *Pipeline) ComputationIDs() []string { return slices.Sorted(maps.Keys(p.Computations)) }

// StreamIDs returns the ids of the streams in order.
func (p *Pipeline) StreamIDs() []string { return slices.Sorted(maps.Keys(p.Streams)) }

// Producer returns the computation that writes the stream, nil if there is none.
func (p *Pipeline) Producer(stream string) *Computation {
	for _, id := range p.ComputationIDs() {
		if slices.Contains(p.Computations[id].Outputs, stream) {
			return p.Computations[id]
		}
	}
	return nil
}

// SchemaOf returns the schema of the rows of an input or source stream of a
// computation, nil if it is unknown.
func (p *Pipeline) SchemaOf(comp *Computation, stream string) *schema.Schema {
	s := p.Streams[stream]
	if s == nil && comp.Sources[stream] != nil && len(comp.Outputs) > 0 {
		s = p.Streams[comp.Outputs[0]]
	}
	if s == nil {
		return nil
	}
	return s.Schema
}

// isSource reports whether a computation reads a source stream of the name.
func (p *Pipeline) isSource(stream string) bool {
	for _, comp := range p.Computations {
		if comp.Sources[stream] != nil {
			return true
		}
	}
	return false
}

// Consumers returns the computations that read the stream, ordered by id.
func (p *Pipeline) Consumers(stream string) []*Computation {
	var all []*Computation
	for _, id := range p.ComputationIDs() {
		if slices.Contains(p.Computations[id].Inputs, stream) {
			all = append(all, p.Computations[id])
		}
	}
	return all
}
