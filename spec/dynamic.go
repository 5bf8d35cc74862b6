package spec

import (
	"time"

	"github.com/rondo-flow/rondo/yson"
)

// Dynamic is the part of a spec that may change while the pipeline runs.
type Dynamic struct {
	Computations map[string]*DynamicComputation `yson:"computations"` // by id; one without an entry has all defaults

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

	BatchDuration     time.Duration `yson:"batch_duration"`      // how long an epoch that is not full waits for more input (D-19)
	EmptyBatchBackoff time.Duration `yson:"empty_batch_backoff"` // how long one waits that has no input (D-19)

	MaxRowsPerBatch  int           `yson:"max_rows_per_batch" range:">0"`  // cuts the epoch (D-20)
	MaxBytesPerBatch yson.Size     `yson:"max_bytes_per_batch" range:">0"` // cuts the epoch, of input and of output each (D-20)
	MaxEpochDuration time.Duration `yson:"max_epoch_duration" range:">0"`  // cuts the epoch between two inputs (D-20)

	InboxRowLimit  yson.Size `yson:"inbox_row_limit" range:">0"`  // rows of one partition's inbox from which on its producers wait (D-18)
	InboxByteLimit yson.Size `yson:"inbox_byte_limit" range:">0"` // the same in bytes (D-18)

	PartitionCounts

	Draining           bool       `yson:"draining"`                       // no more input, timers and visits are taken
	FunctionParameters *yson.Node `yson:"processing_function_parameters"` // those that may change while it runs; the function must take them (Reconfigure)
	Parameters         *yson.Node `yson:"parameters"`                     // of the class: the partition counts may stand here too

	VisitStreams map[string]*DynamicVisitStream `yson:"key_visitor_streams"` // by stream; one without an entry has all defaults
	Sources      map[string]*DynamicConnector   `yson:"source_streams"`      // by source stream
	Sinks        map[string]*DynamicConnector   `yson:"sinks"`               // by sink

	OnMessageError string `yson:"on_message_error" enum:"fail skip dead_letter"` // what becomes of a message whose handler fails (D-24)
	OnTimerError   string `yson:"on_timer_error" enum:"fail skip dead_letter"`   // what becomes of a timer whose handler fails (D-24)

	// DeadLetterStream is the output that takes what failed under dead_letter. It
	// depends on every input. Its string column reason, which it must have, says what
	// went wrong, and stream_id and message_id, if it has them, name the message or timer;
	// every other column has the name and type of a column of an input and takes its
	// value, from the key if a timer failed.
	DeadLetterStream string `yson:"dead_letter_stream"`

	ExternalManagers map[string]*DynamicConnector `yson:"external_state_managers"` // by state name
	ExternalJoiners  map[string]*DynamicConnector `yson:"external_state_joiners"`  // by state name
	StateJoiners     map[string]*yson.Node        `yson:"state_joiners"`           // by state name

	SkipIfExpression string `yson:"skip_if_expression"` // messages for whose row it is true are taken and not processed; they are counted as skipped_by_expression

	_ struct{} `yson:"lease_check_period|retryable_request|tracer|state_manager|input_store|timer_store|timer_store_count_limit|timer_store_byte_size_limit|output_store|output_store_count_limit|output_store_byte_size_limit|blocked_time_window|input_rows_throttler_id|input_bytes_throttler_id|input_rows_throttler_class_id|input_bytes_throttler_class_id,ignored"`
}

// DynamicConnector holds the dynamic parameters of a source, sink, manager or
// joiner.
type DynamicConnector struct {
	Parameters *yson.Node `yson:"parameters"` // of the connector

	_ struct{} `yson:"draining,ignored"` // the computation's counts
}

// PartitionCounts decide the number of partitions. They are accepted in a
// dynamic computation and in its parameters.
type PartitionCounts struct {
	// DesiredPartitionCount is exact; unset means two per core of the live
	// workers, within the bounds.
	DesiredPartitionCount *int `yson:"desired_partition_count" range:">=1,<=100000"`

	MinPartitionCount int `yson:"min_partition_count" range:">=1,<=100000"` // at most MaxPartitionCount, which follows if it is not given
	MaxPartitionCount int `yson:"max_partition_count" range:">=1,<=100000"` // at least MinPartitionCount, which follows if it is not given

	// AutoPartitionCount lets the number follow the load, within the bounds, while
	// DesiredPartitionCount is unset.
	AutoPartitionCount bool `yson:"auto_partition_count"`

	// DesiredMessages is how many messages and timers a second one partition is to
	// handle.
	DesiredMessages float64 `yson:"desired_average_partition_messages_per_second" range:">0"`

	AllowedDeviation float64       `yson:"allowed_partition_count_deviation" range:">=1.01,<=100"` // by less than this factor the number does not follow
	DoubleDelay      time.Duration `yson:"partition_count_double_delay" range:">0"`                // how long a number stays before it doubles; less for more, at least half of it
	HalfDelay        time.Duration `yson:"partition_count_half_delay" range:">0"`                  // how long a number stays before it halves; at least half of it
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
	c.DesiredMessages = 10_000
	c.AllowedDeviation = 1.1
	c.DoubleDelay, c.HalfDelay = 20*time.Minute, 200*time.Minute
	c.OnMessageError, c.OnTimerError = "fail", "fail"
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
