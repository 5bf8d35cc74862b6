package spec

import (
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Computation is one node of the graph.
//
// After [Parse] its lists are sorted, and what is implied is filled in.
type Computation struct {
	ID    string
	Class Class

	// Node is the computation's static spec as given, for companions.
	Node *yson.Node

	ClassName          string     `yson:"computation_class_name,required"` // the kind of the computation, by either name
	ProcessingFunction string     `yson:"processing_function"`             // registered name of the function: one of yours, or a built-in one
	FunctionParameters *yson.Node `yson:"processing_function_parameters"`  // what the function makes of it
	Parameters         *yson.Node `yson:"parameters"`                      // of the class: those it has may stand here too; companions get all

	// GroupBy is the schema of the keys. Its first column is a uint64 hash where
	// the computation has inputs or visits (KV-4). Columns of float, double and any
	// cannot be part of a key.
	GroupBy *schema.Schema `yson:"group_by_schema"`

	Inputs  []string `yson:"input_stream_ids,set"`  // streams it reads
	Outputs []string `yson:"output_stream_ids,set"` // streams it writes

	// Dependencies maps each output and timer stream, and each visit stream that
	// has an entry, to its parents: those listed, else all inputs, sources and,
	// for outputs, timers. Visit streams are parents only where listed (KV-40).
	Dependencies map[string][]string `yson:"streams_dependency,set"`

	VisitStreams map[string]*VisitStream `yson:"key_visitor_streams"` // walks over all keys of the state
	TimerStreams map[string]*TimerStream `yson:"timer_streams"`       // timers that the function sets
	Sources      map[string]*Source      `yson:"source_streams"`      // what comes from the outside; source classes only
	Sinks        map[string]*Sink        `yson:"sinks"`               // what goes to the outside
	Watermark    Watermark               `yson:"watermark_strategy"`  // event times

	Ordering *InputOrdering `yson:"input_ordering"` // which batch of its inputs comes next; unset takes the producers in turn

	ExternalManagers map[string]*ExternalManager `yson:"external_state_managers"` // tables that it owns as state, by state name
	ExternalJoiners  map[string]*ExternalJoiner  `yson:"external_state_joiners"`  // tables that it reads by key, by state name
	StateJoiners     map[string]*StateJoiner     `yson:"state_joiners"`           // states of other computations that it reads, by state name

	RequiredResources        map[string]*RequiredResource `yson:"required_resource_ids"`            // what its function needs of spec.resources
	WorkerGroup              string                       `yson:"worker_group"`                     // which workers of a cluster run it: those started with --group
	AllowTimerSelfDependency bool                         `yson:"allow_timer_self_dependency"`      // a timer stream may be its own parent
	NonUintKey               bool                         `yson:"experimental_enable_non_uint_key"` // refused: keys begin with a uint64 hash

	ClassParameters

	_ struct{} `yson:"heavy_hitters|pivot_finder|distribution_ordering|use_compact_input_messages,ignored"`
}

// SetDefaults implements [yson.Defaulter].
func (c *Computation) SetDefaults() {
	c.Watermark.Assigner.SetDefaults()
	c.ProcessingMode = exactlyOnce
}

// The processing modes: both run exactly once.
const (
	exactlyOnce = "exactly_once"
	atLeastOnce = "at_least_once_consistent"
)

// ClassParameters are the parameters of the classes themselves. They are
// accepted in the computation and in its parameters.
type ClassParameters struct {
	// ProcessingMode is exactly_once in fact: the weaker word gets it too.
	ProcessingMode string `yson:"processing_mode" enum:"exactly_once at_least_once_consistent"`

	// AllowBatching lets a message that swift_map emits have several parents.
	AllowBatching bool `yson:"allow_batching_with_relaxed_guarantees"`
}

// InputOrdering merges the batches that wait in a partition's inbox by time: the
// earliest head of all producers comes next. Inside a batch, and among the batches of
// one producer, the order stays that of production (D-8), and nothing waits for what
// is not there yet.
type InputOrdering struct {
	// TimeType is what counts: the earliest event time of a batch's messages, or
	// the system time of the epoch that made it.
	TimeType string `yson:"time_type" enum:"event_time system_time"`
	// StreamDelays are added to the times of inputs; of a batch with messages of
	// several inputs the least counts.
	StreamDelays map[string]time.Duration `yson:"stream_delays"`
}

// SetDefaults implements [yson.Defaulter].
func (o *InputOrdering) SetDefaults() { o.TimeType = TimeEvent }

// RequiredResource says who needs a resource.
type RequiredResource struct {
	Alias      string `yson:"alias"`      // the name under which the function asks for it
	Worker     bool   `yson:"worker"`     // workers load it
	Controller bool   `yson:"controller"` // the controller loads it
}

// SetDefaults implements [yson.Defaulter].
func (r *RequiredResource) SetDefaults() { r.Worker, r.Controller = true, true }

// VisitStream is a key-visitor stream: a walk over all keys of the computation's
// state, which gives each of them a visit.
type VisitStream struct {
	ID string

	// Names are the internal states that supply keys; all of them if neither this
	// nor ExternalNames is given (KV-1).
	Names []string `yson:"names,set"`

	// ExternalNames are the managers and visitor-driven joiners whose tables
	// supply keys (KV-1).
	ExternalNames []string `yson:"external_names,set"`

	// Upstream are the inputs and sources whose completion starts the final pass:
	// those given, else all. An empty list waits for nothing (KV-33).
	Upstream []string `yson:"upstream_streams,set"`

	BucketCount int `yson:"bucket_count" range:">=1,<=4096"` // pieces of a partition's range, read in turn (KV-6)
}

// SetDefaults implements [yson.Defaulter].
func (s *VisitStream) SetDefaults() { s.BucketCount = 8 }

// ScansInternal reports whether internal states supply keys (KV-1).
func (s *VisitStream) ScansInternal() bool { return len(s.Names) > 0 || len(s.ExternalNames) == 0 }

// Source is a source stream of a source computation. Its rows have the schema that
// spec.streams gives to its id; where that has no such id, the schema of the
// computation's outputs, which then is one.
type Source struct {
	ID         string
	ClassName  string     `yson:"source_class_name,required"` // the connector
	Parameters *yson.Node `yson:"parameters"`                 // of the connector
}

// Sink writes outputs of its computation to the outside.
type Sink struct {
	ID         string
	ClassName  string     `yson:"sink_class_name,required"` // the connector
	Inputs     []string   `yson:"input_stream_ids,set"`     // outputs of the computation that it writes, at least one
	Parameters *yson.Node `yson:"parameters"`               // of the connector
}

// VisitStreamIDs returns the ids of the visit streams in order.
func (c *Computation) VisitStreamIDs() []string { return slices.Sorted(maps.Keys(c.VisitStreams)) }

// TimerStreamIDs returns the ids of the timer streams in order.
func (c *Computation) TimerStreamIDs() []string { return slices.Sorted(maps.Keys(c.TimerStreams)) }

// SourceIDs returns the ids of the source streams in order.
func (c *Computation) SourceIDs() []string { return slices.Sorted(maps.Keys(c.Sources)) }

// SinkIDs returns the ids of the sinks in order.
func (c *Computation) SinkIDs() []string { return slices.Sorted(maps.Keys(c.Sinks)) }
