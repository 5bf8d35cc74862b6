package spec

import (
	"maps"
	"slices"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Computation is one node of the graph.
type Computation struct {
	ID    string
	Class Class

	// Node is the computation's static spec as given, for companions.
	Node *yson.Node

	ClassName          string     `yson:"computation_class_name,required"` // as given
	ProcessingFunction string     `yson:"processing_function"`             // registered name of the user's function
	FunctionParameters *yson.Node `yson:"processing_function_parameters"`  // nil if not given
	Parameters         *yson.Node `yson:"parameters"`                      // of the class; nil if not given

	// GroupBy is the schema of the keys, with no columns if not given. Its first
	// column is a uint64 hash where the computation has inputs or visits (KV-4).
	GroupBy *schema.Schema `yson:"group_by_schema"`

	Inputs  []string `yson:"input_stream_ids,set"`  // sorted after Parse
	Outputs []string `yson:"output_stream_ids,set"` // sorted after Parse

	// Dependencies maps each output and timer stream, and each visit stream that
	// has an entry, to its parents: those listed, else all inputs, sources and,
	// for outputs, timers. Visit streams are parents only where listed (KV-40).
	Dependencies map[string][]string `yson:"streams_dependency,set"`

	VisitStreams map[string]*VisitStream `yson:"key_visitor_streams"`
	TimerStreams map[string]*TimerStream `yson:"timer_streams"`
	Sources      map[string]*Source      `yson:"source_streams"`
	Sinks        map[string]*Sink        `yson:"sinks"`
	Watermark    Watermark               `yson:"watermark_strategy"`

	ExternalManagers map[string]*ExternalManager `yson:"external_state_managers"`
	ExternalJoiners  map[string]*ExternalJoiner  `yson:"external_state_joiners"`
	StateJoiners     map[string]*StateJoiner     `yson:"state_joiners"`

	RequiredResources        map[string]*RequiredResource `yson:"required_resource_ids"`
	AllowTimerSelfDependency bool                         `yson:"allow_timer_self_dependency"`
	NonUintKey               bool                         `yson:"experimental_enable_non_uint_key"`

	ClassParameters

	_ struct{} `yson:"heavy_hitters|pivot_finder|input_ordering|distribution_ordering|worker_group|use_compact_input_messages,ignored"`
}

// SetDefaults implements [yson.Defaulter].
func (c *Computation) SetDefaults() {
	c.Watermark.Assigner.SetDefaults()
	c.ProcessingMode = "exactly_once"
}

// ClassParameters are the parameters of the classes themselves. They are
// accepted in the computation and in its parameters.
type ClassParameters struct {
	// ProcessingMode at_least_once_consistent gets exactly_once too.
	ProcessingMode string `yson:"processing_mode" enum:"exactly_once at_least_once_consistent"`
	AllowBatching  bool   `yson:"allow_batching_with_relaxed_guarantees"`
}

// RequiredResource says who needs a resource.
type RequiredResource struct {
	Alias      string `yson:"alias"`
	Worker     bool   `yson:"worker"`
	Controller bool   `yson:"controller"`
}

// SetDefaults implements [yson.Defaulter].
func (r *RequiredResource) SetDefaults() { r.Worker, r.Controller = true, true }

// VisitStream is a key-visitor stream (key-visitor rules, section 1).
type VisitStream struct {
	ID string

	// Names are the internal states that supply keys, ExternalNames the external
	// tables. Both empty means all internal states (KV-1).
	Names         []string `yson:"names,set"`
	ExternalNames []string `yson:"external_names,set"`

	// Upstream are the streams whose completion starts the final pass: those
	// given, else all inputs and sources. Empty waits for nothing.
	Upstream []string `yson:"upstream_streams,set"`

	BucketCount int `yson:"bucket_count" range:">=1,<=65536"`
}

// SetDefaults implements [yson.Defaulter].
func (s *VisitStream) SetDefaults() { s.BucketCount = 8 }

// ScansInternal reports whether internal states supply keys (KV-1).
func (s *VisitStream) ScansInternal() bool { return len(s.Names) > 0 || len(s.ExternalNames) == 0 }

// Source is a source stream of a source computation.
type Source struct {
	ID         string
	ClassName  string     `yson:"source_class_name,required"`
	Parameters *yson.Node `yson:"parameters"` // nil if not given
}

// Sink writes outputs of its computation to the outside.
type Sink struct {
	ID         string
	ClassName  string     `yson:"sink_class_name,required"`
	Inputs     []string   `yson:"input_stream_ids,set"` // sorted after Parse
	Parameters *yson.Node `yson:"parameters"`           // nil if not given
}

// VisitStreamIDs returns the ids of the visit streams in order.
func (c *Computation) VisitStreamIDs() []string { return slices.Sorted(maps.Keys(c.VisitStreams)) }

// TimerStreamIDs returns the ids of the timer streams in order.
func (c *Computation) TimerStreamIDs() []string { return slices.Sorted(maps.Keys(c.TimerStreams)) }

// SourceIDs returns the ids of the source streams in order.
func (c *Computation) SourceIDs() []string { return slices.Sorted(maps.Keys(c.Sources)) }

// SinkIDs returns the ids of the sinks in order.
func (c *Computation) SinkIDs() []string { return slices.Sorted(maps.Keys(c.Sinks)) }
