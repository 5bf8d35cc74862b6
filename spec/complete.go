package spec

import (
	"slices"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// complete fills in what is implied: ids, classes, dependencies, upstreams.
func (c *checker) complete() {
	p := &c.spec.Pipeline
	for id, s := range p.Streams {
		s.ID = id
	}
	for id, comp := range p.Computations {
		c.completeComputation(id, comp)
	}
	for id, d := range c.spec.Dynamic.Computations {
		c.completeDynamic(c.dynamicPlace(id), d)
	}
}

func (c *checker) completeComputation(id string, comp *Computation) {
	at := c.place(id)
	comp.ID, comp.Node = id, at.node
	if comp.GroupBy == nil {
		comp.GroupBy = schema.Empty()
	}
	if comp.ClassName != "" || at.isEmptyText("computation_class_name") {
		var err error
		if comp.Class, err = ParseClass(comp.ClassName); err != nil {
			c.add(at.key("computation_class_name"), "%v", err)
		}
	}
	c.nameParts(comp)
	comp.Inputs, comp.Outputs = distinct(comp.Inputs), distinct(comp.Outputs)
	c.completeClassParameters(at, comp)
	completeDependencies(comp)
	for id, s := range comp.VisitStreams {
		if !at.keys("key_visitor_streams", id).raw("upstream_streams").IsSet() {
			s.Upstream = upstreamsOf(comp)
		}
	}
}

// distinct sorts ids; those listed twice are reported by the decoder.
func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// nameParts tells each part its id.
func (c *checker) nameParts(comp *Computation) {
	for id, s := range comp.VisitStreams {
		s.ID = id
	}
	for id, s := range comp.TimerStreams {
		s.ID = id
	}
	for id, s := range comp.Sources {
		s.ID = id
	}
	for id, s := range comp.Sinks {
		s.ID = id
		s.Inputs = distinct(s.Inputs)
	}
	for id, m := range comp.ExternalManagers {
		m.ID = id
	}
	for id, j := range comp.ExternalJoiners {
		j.ID = id
	}
	for id, j := range comp.StateJoiners {
		j.ID = id
	}
}

// completeClassParameters takes the class's own parameters from parameters too.
// Those of companions are the companion's business.
func (c *checker) completeClassParameters(at place, comp *Computation) {
	if comp.Class.IsCompanion() || comp.Class == 0 || !comp.Parameters.IsSet() {
		return
	}
	decoder := yson.Decoder{Elsewhere: misplaced}
	decoder.Decode(comp.Parameters, at.key("parameters").path, &comp.ClassParameters)
	c.problems = append(c.problems, decoder.Problems...)
	c.refuseTwice(at, "processing_mode", "allow_batching_with_relaxed_guarantees")
}

// refuseTwice reports what is given both at a place and in its parameters.
func (c *checker) refuseTwice(at place, names ...string) {
	parameters := at.key("parameters")
	for _, name := range names {
		if at.raw(name).IsSet() && parameters.raw(name).IsSet() {
			c.add(parameters.key(name), "given here and in %s: keep one", at.path)
		}
	}
}

// completeDependencies fills in the parents of outputs and timers that have no
// entry. Visit streams are never added (KV-40).
func completeDependencies(comp *Computation) {
	deps := make(map[string][]string, len(comp.Dependencies)+len(comp.Outputs)+len(comp.TimerStreams))
	for stream, parents := range comp.Dependencies {
		deps[stream] = slices.Sorted(slices.Values(parents))
	}
	upstreams := upstreamsOf(comp)
	for _, timer := range comp.TimerStreamIDs() {
		if _, listed := deps[timer]; !listed {
			deps[timer] = upstreams
		}
	}
	for _, output := range comp.Outputs {
		if _, listed := deps[output]; !listed {
			deps[output] = slices.Sorted(slices.Values(append(upstreamsOf(comp), comp.TimerStreamIDs()...)))
		}
	}
	comp.Dependencies = deps
}

// upstreamsOf returns all inputs and sources in order.
func upstreamsOf(comp *Computation) []string {
	return slices.Sorted(slices.Values(append(slices.Clone(comp.Inputs), comp.SourceIDs()...)))
}

// completeDynamic merges the partition counts in parameters, and resolves
// defaults that depend on other values.
func (c *checker) completeDynamic(at place, d *DynamicComputation) {
	d.Node = at.node
	c.completeCounts(at, d)
	for id, s := range d.VisitStreams {
		stream := at.keys("key_visitor_streams", id)
		if !stream.raw("background_fill_period").IsSet() {
			s.BackgroundFillPeriod = defaultFillPeriod(s.Period)
		}
	}
}

// dynamicParameters are the class parameters that are known; those of load
// balancing have no effect.
type dynamicParameters struct {
	PartitionCounts

	_ struct{} `yson:"sink_channel_multiplier|desired_average_partition_cpu_load|desired_average_partition_memory_used|desired_average_partition_bytes_per_second|desired_average_partition_timer_count|weight_multiplier|interrupting_weight_multiplier|max_read_window,ignored"`
}

// completeCounts takes the counts from the computation and its parameters. If
// only one bound is given and contradicts the other's default, that follows.
func (c *checker) completeCounts(at place, d *DynamicComputation) {
	parameters := at.key("parameters")
	if d.Parameters.IsSet() {
		inner := dynamicParameters{PartitionCounts: d.PartitionCounts}
		decoder := yson.Decoder{Elsewhere: misplaced}
		decoder.Decode(d.Parameters, parameters.path, &inner)
		c.problems = append(c.problems, decoder.Problems...)
		c.spec.Ignored = append(c.spec.Ignored, decoder.Ignored...)
		d.PartitionCounts = inner.PartitionCounts
		c.refuseTwice(at, "desired_partition_count", "min_partition_count", "max_partition_count", "auto_partition_count",
			"desired_average_partition_messages_per_second", "allowed_partition_count_deviation", "partition_count_double_delay", "partition_count_half_delay")
	}
	given := func(name string) bool { return at.raw(name).IsSet() || d.Parameters.Get(name).IsSet() }
	if d.MinPartitionCount <= d.MaxPartitionCount {
		return
	}
	switch minGiven, maxGiven := given("min_partition_count"), given("max_partition_count"); {
	case minGiven && maxGiven:
		c.add(at, "min_partition_count %d is above max_partition_count %d", d.MinPartitionCount, d.MaxPartitionCount)
	case minGiven:
		d.MaxPartitionCount = d.MinPartitionCount
	default:
		d.MinPartitionCount = d.MaxPartitionCount
	}
}
