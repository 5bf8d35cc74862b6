package queue

import (
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/yson"
)

// SourceParameters are the parameters of the source "queue".
type SourceParameters struct {
	// Path is the name of the queue.
	Path Name `yson:"queue_path|path,required"`
	// Consumer is the name under which it is told how far the queue is read. The
	// default is the computation and the source stream, "computation/stream".
	Consumer Name `yson:"consumer_path|consumer"`
	// PartitionFilter restricts what is read to the partitions in the given
	// half-open ranges: pairs of the first one and the one after the last.
	PartitionFilter [][]int `yson:"partition_filter"`
	// Finite sources end at the end that each partition has when its reading
	// begins; others wait for more.
	Finite bool `yson:"finite"`
	// PollInterval is the longest time that the end of a queue is left alone.
	PollInterval time.Duration `yson:"poll_interval" range:">=1ms,<=1h"`
	// OnMalformed is what a row does that cannot be read, or whose key or event
	// time cannot be computed: fail stops the pipeline, skip passes over the row
	// and counts it as "malformed".
	OnMalformed string `yson:"on_malformed" enum:"fail skip"`
	// MaxRowBytes bounds a row.
	MaxRowBytes yson.Size `yson:"max_row_bytes" range:">0,<=2Gi"`

	_ struct{} `yson:"try_parse_flow_queue_meta|flow_queue_meta_column|ignore_malformed_flow_queue_meta|update_partition_count_period|update_partition_count_retry_min_backoff|update_info_period|byte_size_alpha|unavailable_threshold|unavailable_time_half_decay_period|pull_queue_timeout,ignored"`
}

// SetDefaults implements [yson.Defaulter].
func (p *SourceParameters) SetDefaults() {
	p.OnMalformed, p.PollInterval, p.MaxRowBytes = "fail", 250*time.Millisecond, 64<<20
}

// check returns what is wrong with the parameters of a source, and fills in the
// consumer.
func (p *SourceParameters) check(setup connector.Setup) error {
	var problems yson.Problems
	node, path := setup.Parameters.Node(), setup.Parameters.Path()
	filter := node.Get("partition_filter")
	for i, r := range p.PartitionFilter {
		if len(r) != 2 || r[0] < 0 || r[0] >= r[1] {
			problems.Add(filter.List[i], yson.Index(yson.Join(path, "partition_filter"), i), "want [first; one after the last] of a range of partitions, got %v", r)
		}
	}
	for _, c := range setup.Schema.Columns() {
		if c.Expression != "" {
			problems.Add(node, path, "column %s of the stream has an expression: the queue source reads columns, it computes none", c.Name)
		}
	}
	if p.Consumer == "" {
		p.Consumer = Name(setup.Computation + "/" + setup.Name)
	}
	return problems.Err()
}

// wants tells whether the filter lets a partition through.
func (p *SourceParameters) wants(partition int) bool {
	for _, r := range p.PartitionFilter {
		if r[0] <= partition && partition < r[1] {
			return true
		}
	}
	return p.PartitionFilter == nil
}
