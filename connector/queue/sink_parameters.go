package queue

import (
	"errors"
	"maps"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// SinkParameters are the parameters of the sink "queue".
type SinkParameters struct {
	// Path is the name of the queue.
	Path Name `yson:"queue_path|path,required"`
	// Partitions is how many partitions the queue has. It is made with one if
	// this is not given; one that is there keeps what it has.
	Partitions *int `yson:"partitions|tablet_count" range:">=1,<=4096"`
	// Columns restricts what is written to some columns; all if not given.
	Columns []string `yson:"column_filter,set"`

	// PartitionBy names columns: rows with equal values go to the same partition,
	// each partition has an equal part of the range of their hash, farm_hash.
	PartitionBy []string `yson:"partition_by,set"`
	// HashExpression is an expression to be taken for the hash instead; HashPolicy
	// says what of it counts: range, which is as above, or modulo.
	HashExpression string `yson:"tablet_index_routing_hash_expression"`
	HashPolicy     string `yson:"tablet_index_routing_hash_policy|tablet_index_routing_hash_expression_policy" enum:"range modulo"`
	// IndexExpression is an expression that gives the number of the partition.
	IndexExpression string `yson:"tablet_index_expression"`

	_ struct{} `yson:"producer_path|write_flow_queue_meta|flow_queue_meta_column|require_sync_replica|at_most_once_strategy|update_partition_count_period,ignored"`
}

// SetDefaults implements [yson.Defaulter].
func (p *SinkParameters) SetDefaults() { p.HashPolicy = "range" }

// partitions is how many the queue must have, 0 for any number.
func (p *SinkParameters) partitions() int {
	if p.Partitions == nil {
		return 0
	}
	return *p.Partitions
}

// outlets makes what turns the messages of each stream into rows.
func (p *SinkParameters) outlets(setup connector.Setup) (map[string]*outlet, error) {
	var problems yson.Problems
	node, path := setup.Parameters.Node(), setup.Parameters.Path()
	ways := 0
	for _, way := range []string{"partition_by", "tablet_index_routing_hash_expression", "tablet_index_expression"} {
		if n := node.Get(way); n.IsSet() {
			if ways++; ways > 1 {
				problems.Add(n, yson.Join(path, way), "this is another way to choose the partition than the one given before: keep one")
			}
		}
	}
	out := map[string]*outlet{}
	for _, id := range slices.Sorted(maps.Keys(setup.Streams)) {
		o, err := p.outlet(setup.Streams[id])
		if err != nil {
			problems.Add(node, path, "stream %s: %v", id, err)
		}
		out[id] = o
	}
	return out, problems.Err()
}

func (p *SinkParameters) outlet(s *schema.Schema) (*outlet, error) {
	choose, err := p.chooser(s)
	o := &outlet{choose: choose}
	return o, errors.Join(err, o.project(s, p.Columns))
}
