package spec

import (
	"time"

	"github.com/rondo-flow/rondo/yson"
)

// Dynamic is the part of a spec that may change while the pipeline runs.
type Dynamic struct {
	Computations map[string]*DynamicComputation `yson:"computations"`

	_ struct{} `yson:"target_state|resources|throttlers|job_manager|message_distributor|job_tracker|controller_connector|singletons|enable_mermaid_graph_describe|flow_view_cache_codec,ignored"`
}

// Computation returns the parameters of a computation, all defaults if it has
// no entry.
func (d *Dynamic) Computation(id string) *DynamicComputation {
	if c := d.Computations[id]; c != nil {
		return c
	}
	c := &DynamicComputation{}
	c.SetDefaults()
	return c
}

// DynamicComputation holds the parameters of one computation.
type DynamicComputation struct {
	// Node is the computation's dynamic spec as given, nil if absent.
	Node *yson.Node

	// BatchDuration and EmptyBatchBackoff bound how long an epoch waits for
	// input (D-19).
	BatchDuration     time.Duration `yson:"batch_duration"`
	EmptyBatchBackoff time.Duration `yson:"empty_batch_backoff"`

	// An epoch is cut by rows, bytes and time (D-20).
	MaxRowsPerBatch  int           `yson:"max_rows_per_batch" range:">0"`
	MaxBytesPerBatch yson.Size     `yson:"max_bytes_per_batch" range:">0"`
	MaxEpochDuration time.Duration `yson:"max_epoch_duration" range:">0"`

	// Limits of one partition's inbox (D-18).
	InboxRowLimit  yson.Size `yson:"inbox_row_limit" range:">0"`
	InboxByteLimit yson.Size `yson:"inbox_byte_limit" range:">0"`

	PartitionCounts

	Draining           bool       `yson:"draining"`
	FunctionParameters *yson.Node `yson:"processing_function_parameters"` // nil if not given
	Parameters         *yson.Node `yson:"parameters"`                     // of the class; nil if not given

	VisitStreams map[string]*DynamicVisitStream `yson:"key_visitor_streams"`
	Sources      map[string]*DynamicConnector   `yson:"source_streams"`
	Sinks        map[string]*DynamicConnector   `yson:"sinks"`

	// What becomes of messages and timers whose handler fails (D-24).
	OnMessageError   string `yson:"on_message_error" enum:"fail skip dead_letter"`
	OnTimerError     string `yson:"on_timer_error" enum:"fail skip dead_letter"`
	DeadLetterStream string `yson:"dead_letter_stream"`

	// Limits of one partition's timers.
	TimerCountLimit yson.Size `yson:"timer_store_count_limit" range:">0"`
	TimerByteLimit  yson.Size `yson:"timer_store_byte_size_limit" range:">0"`

	ExternalManagers map[string]*DynamicConnector `yson:"external_state_managers"`
	ExternalJoiners  map[string]*DynamicConnector `yson:"external_state_joiners"`
	StateJoiners     map[string]*yson.Node        `yson:"state_joiners"`

	SkipIfExpression string `yson:"skip_if_expression"`

	_ struct{} `yson:"lease_check_period|retryable_request|tracer|state_manager|input_store|timer_store|output_store|output_store_count_limit|output_store_byte_size_limit|blocked_time_window|input_rows_throttler_id|input_bytes_throttler_id|input_rows_throttler_class_id|input_bytes_throttler_class_id,ignored"`
}

// DynamicConnector holds the dynamic parameters of a source, sink, manager or
// joiner.
type DynamicConnector struct {
	Parameters *yson.Node `yson:"parameters"`

	_ struct{} `yson:"draining,ignored"` // the computation's counts
}

// PartitionCounts bound the number of partitions. They are accepted in a
// dynamic computation and in its parameters.
type PartitionCounts struct {
	DesiredPartitionCount *int `yson:"desired_partition_count" range:">=1,<=100000"` // nil = two per core of the live workers
	MinPartitionCount     int  `yson:"min_partition_count" range:">=1,<=100000"`
	MaxPartitionCount     int  `yson:"max_partition_count" range:">=1,<=100000"`
}

// SetDefaults implements [yson.Defaulter].
func (c *DynamicComputation) SetDefaults() {
	c.BatchDuration = time.Second
	c.EmptyBatchBackoff = 250 * time.Millisecond
	c.MaxRowsPerBatch = 1000
	c.MaxBytesPerBatch = 10e6
	c.MaxEpochDuration = 100 * time.Millisecond
	c.InboxRowLimit = 100_000
	c.InboxByteLimit = 64 << 20
	c.MinPartitionCount = defaultMinPartitions
	c.MaxPartitionCount = defaultMaxPartitions
	c.OnMessageError, c.OnTimerError = "fail", "fail"
	c.TimerCountLimit = 250_000
	c.TimerByteLimit = 100e6
}

const (
	defaultMinPartitions = 3
	defaultMaxPartitions = 20_000
)

// VisitStream returns the parameters of a visit stream, all defaults if it has
// no entry.
func (c *DynamicComputation) VisitStream(id string) *DynamicVisitStream {
	if s := c.VisitStreams[id]; s != nil {
		return s
	}
	s := &DynamicVisitStream{}
	s.SetDefaults()
	return s
}

// PartitionCount returns the number of partitions to have: desired, or two per
// core of the live workers within the bounds.
func (c *DynamicComputation) PartitionCount(cores int) int {
	if c.DesiredPartitionCount != nil {
		return *c.DesiredPartitionCount
	}
	return min(max(2*cores, c.MinPartitionCount), c.MaxPartitionCount)
}
