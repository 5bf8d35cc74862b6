package spec

import (
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// checkComputation applies the rules that concern one computation.
func (c *checker) checkComputation(comp *Computation) {
	at := c.place(comp.ID)
	if comp.ID == "" || strings.Contains(comp.ID, ":") {
		c.add(at, "the id of a computation is not empty and has no \":\"")
	}
	c.checkRoles(at, comp)
	c.checkClass(at, comp)
	c.checkGroupBy(at, comp)
	c.checkSources(at, comp)
	c.checkSinks(at, comp)
	c.checkVisitStreams(at, comp)
	c.checkTimers(at, comp)
	c.checkDependencies(at, comp)
	c.checkAssigner(at, comp)
	c.noteIneffective(at.key("watermark_strategy"))
	c.checkOrdering(at.key("input_ordering"), comp)
	for _, id := range sorted(comp.RequiredResources) {
		if c.spec.Pipeline.Resources[id] == nil {
			c.add(at.keys("required_resource_ids", id), "there is no resource %s: %s", id, yson.DidYouMean(id, sorted(c.spec.Pipeline.Resources)))
		}
	}
}

// role is one way in which a computation uses stream ids.
type role struct {
	field    string
	what     string
	ids      []string
	declared bool // in spec.streams; else it must not be there
	source   bool
}

func rolesOf(comp *Computation) []role {
	return []role{
		{field: "input_stream_ids", what: "input", ids: comp.Inputs, declared: true},
		{field: "output_stream_ids", what: "output", ids: comp.Outputs, declared: true},
		{field: "source_streams", what: "source stream", ids: comp.SourceIDs(), source: true},
		{field: "timer_streams", what: "timer stream", ids: comp.TimerStreamIDs()},
		{field: "key_visitor_streams", what: "visit stream", ids: comp.VisitStreamIDs()},
	}
}

// checkRoles checks that an id has one role in the computation, and that
// inputs and outputs, and they alone, are declared in spec.streams. A
// computation may read its own output: then the graph tells whether it can
// (KV-44).
func (c *checker) checkRoles(at place, comp *Computation) {
	streams := c.spec.Pipeline.Streams
	used := map[string]role{}
	for _, r := range rolesOf(comp) {
		for _, id := range r.ids {
			where := at.key(r.field).item(id)
			if !r.declared {
				where = at.keys(r.field, id)
			}
			first, twice := used[id]
			if twice && first.field != r.field && !(first.declared && r.declared) {
				c.add(where, "%s names a stream of %s and one of %s: rename one", id, first.field, r.field)
				continue
			}
			used[id] = r
			switch _, declared := streams[id]; {
			case id == "":
				c.add(where, "a stream needs a name")
			case r.declared && !declared:
				c.add(where, "stream %s is not declared in spec.streams: %s", id, yson.DidYouMean(id, sorted(streams)))
			case !r.declared && !r.source && declared:
				c.add(where, "%s is declared in spec.streams, which holds inputs and outputs only: rename the %s", id, r.what)
			}
		}
	}
}

// checkGroupBy checks the keys, and that each input has what they need.
func (c *checker) checkGroupBy(at place, comp *Computation) {
	keyed := len(comp.Inputs) > 0 || len(comp.VisitStreams) > 0
	where := at.key("group_by_schema")
	if comp.NonUintKey {
		c.add(at.key("experimental_enable_non_uint_key"), "keys must begin with a uint64 hash: remove this")
	}
	if comp.GroupBy.Len() == 0 {
		raw := at.raw("group_by_schema")
		faulty := raw.IsSet() && (raw.Kind != yson.KindList || len(raw.List) > 0) // and reported
		if keyed && !faulty && !comp.Class.IsSource() {
			c.add(at, "group_by_schema is missing: its first column is a uint64 hash, such as "+
				"{name=hash; type=uint64; required=%%true; expression=\"farm_hash(...)\"}")
		}
		return
	}
	if err := schema.CheckGroupBy(comp.GroupBy); err != nil {
		c.addError(where, err)
		return
	}
	for _, id := range comp.Inputs {
		stream := c.spec.Pipeline.Streams[id]
		if stream == nil || stream.Schema == nil {
			continue
		}
		if _, err := schema.NewGrouper(comp.GroupBy, stream.Schema); err != nil {
			for _, p := range problemsOf(where, err) {
				p.Message = "input " + id + ": " + p.Message
				c.problems = append(c.problems, p)
			}
		}
	}
}

func (c *checker) checkSources(at place, comp *Computation) {
	for _, id := range comp.SourceIDs() {
		c.checkConnectorName(at.keys("source_streams", id), "source_class_name")
	}
}

func (c *checker) checkConnectorName(at place, field string) {
	if at.isEmptyText(field) {
		c.add(at.key(field), "this is empty: name a connector, such as file")
	}
}

func (c *checker) checkSinks(at place, comp *Computation) {
	for _, id := range comp.SinkIDs() {
		sink, where := comp.Sinks[id], at.keys("sinks", id)
		c.checkConnectorName(where, "sink_class_name")
		if len(sink.Inputs) == 0 {
			c.add(where, "input_stream_ids is missing: list the outputs of %s that this sink writes", comp.ID)
		}
		for _, stream := range sink.Inputs {
			if !slices.Contains(comp.Outputs, stream) {
				c.add(where.key("input_stream_ids").item(stream), "%s is no output of %s: %s", stream, comp.ID, yson.DidYouMean(stream, comp.Outputs))
			}
		}
	}
}

// checkAssigner checks the column that event timestamps come from.
func (c *checker) checkAssigner(at place, comp *Computation) {
	a := &comp.Watermark.Assigner
	where := at.keys("watermark_strategy", "event_timestamp_assigner")
	kinds := []schema.Kind{schema.KindString}
	switch {
	case a.Format == FormatSeconds || a.Format == FormatMilliseconds:
		kinds = []schema.Kind{schema.KindInt64, schema.KindUint64}
	case a.Format != FormatISO8601 && !a.IsLayout():
		c.add(where.key("format"), "unknown format %q: use seconds, milli_seconds, iso8601, or a Go layout that shows the year as 2006", a.Format)
		return
	}
	if a.Column == "" {
		return
	}
	for _, id := range comp.Outputs {
		stream := c.spec.Pipeline.Streams[id]
		if stream == nil || stream.Schema == nil {
			continue
		}
		i, ok := stream.Schema.Index(a.Column)
		if !ok {
			c.add(where.key("column"), "output %s has no column %s: %s", id, a.Column, yson.DidYouMean(a.Column, stream.Schema.Names()))
			continue
		}
		if t := stream.Schema.Columns()[i].Type; !slices.Contains(kinds, t.Kind()) {
			c.add(where.key("column"), "column %s of output %s is %s, which the format %s does not read: %s", a.Column, id, t, a.Format, formatFor(t))
		}
	}
}

// formatFor says how times can be read from a column of some type.
func formatFor(t schema.Type) string {
	switch t.Kind() {
	case schema.KindInt64, schema.KindUint64:
		return "use seconds or milli_seconds"
	case schema.KindString:
		return "use iso8601, or a Go layout such as 2006-01-02 15:04"
	default:
		return "name a column of integers or text"
	}
}

// noteIneffective warns of settings of watermarks that are accepted and change nothing,
// though watermarks depend on settings of this kind where they come from.
func (c *checker) noteIneffective(where place) {
	note := func(at place, field string) {
		if at.raw(field).IsSet() {
			c.note(at.key(field), "this has no effect: every row counts in full, and idle_partitions is what passes over partitions that bring nothing")
		}
	}
	note(where, "watermark_percentile")
	if where.raw("watermark_generator").IsSet() {
		note(where.key("watermark_generator"), "late_data_partitions")
		note(where.key("watermark_generator"), "unavailable_partition_groups")
	}
}

// checkOrdering checks that input_ordering speaks of inputs.
func (c *checker) checkOrdering(at place, comp *Computation) {
	if comp.Ordering == nil {
		return
	}
	if comp.Class.IsSource() {
		c.add(at, "%s has no inputs to be ordered: remove this", comp.Class)
		return
	}
	for _, id := range sorted(comp.Ordering.StreamDelays) {
		if !slices.Contains(comp.Inputs, id) {
			c.add(at.keys("stream_delays", id), "%s is no input of %s: %s", id, comp.ID, yson.DidYouMean(id, comp.Inputs))
		}
	}
}
