package spec

import "github.com/rondo-flow/rondo/yson"

// checkClass applies the rules of the computation's class.
func (c *checker) checkClass(at place, comp *Computation) {
	if comp.Class == 0 {
		return
	}
	c.checkFunction(at, comp)
	switch {
	case comp.Class.IsSource():
		c.checkSourceClass(at, comp)
	case comp.Class.IsTransform():
		if len(comp.Inputs) == 0 && len(comp.VisitStreams) == 0 {
			c.add(at, "%s needs an input or a visit stream: fill input_stream_ids or key_visitor_streams", comp.Class)
		}
		c.refuseSources(at, comp)
	default:
		if len(comp.Inputs) == 0 {
			c.add(at, "%s needs an input: fill input_stream_ids", comp.Class)
		}
		c.refuseSources(at, comp)
	}
	if comp.Class.IsSwiftMap() {
		c.checkSwiftMap(at, comp)
	}
	if !comp.Class.HasKeyedState() {
		c.refuseKeyedStreams(at, comp)
	}
	if comp.Class.IsPassthrough() {
		c.checkPassthrough(at, comp)
	}
	if comp.ProcessingMode == atLeastOnce && comp.Class.IsTransform() {
		c.note(at, "processing_mode %s runs exactly once here, which promises more", comp.ProcessingMode)
	}
}

// checkPassthrough checks that what comes in can go out as it is.
func (c *checker) checkPassthrough(at place, comp *Computation) {
	if len(comp.Outputs) == 0 && !comp.Class.IsSource() { // told of sources by their own check
		c.add(at, "%s needs an output: fill output_stream_ids", comp.Class)
	}
	for _, output := range comp.Outputs {
		to := c.spec.Pipeline.Streams[output]
		for _, input := range comp.Dependencies[output] {
			from := c.spec.Pipeline.Streams[input]
			if comp.Class.IsSource() && comp.Sources[input] == nil {
				continue // refused as a whole
			}
			if to == nil || from == nil || to.Schema == nil || from.Schema == nil || to.Schema.Equal(from.Schema) {
				continue
			}
			c.add(at.key("output_stream_ids").item(output), "%s passes %s on as it is, but output %s has another schema: "+
				"give both one schema, or list the inputs that it takes in streams_dependency", comp.Class, input, output)
		}
	}
}

func (c *checker) checkFunction(at place, comp *Computation) {
	switch {
	case comp.Class.RunsFunction() && comp.ProcessingFunction == "":
		c.add(at, "processing_function is missing: name a registered function, or a built-in one")
	case !comp.Class.RunsFunction() && !comp.Class.IsCompanion() && comp.ProcessingFunction != "":
		c.add(at.key("processing_function"), "%s runs no function: remove this or choose another class", comp.Class)
	}
}

func (c *checker) checkSourceClass(at place, comp *Computation) {
	if len(comp.Sources) == 0 {
		c.add(at, "%s needs a source: fill source_streams", comp.Class)
	}
	if len(comp.Outputs) == 0 {
		c.add(at, "%s needs an output: fill output_stream_ids", comp.Class)
	}
	if len(comp.Inputs) > 0 {
		c.add(at.key("input_stream_ids"), "%s has no inputs: read them in a computation of its own", comp.Class)
	}
	if len(comp.ExternalManagers) > 0 {
		c.add(at.key("external_state_managers"), "%s has no keys and thus no external states: remove them", comp.Class)
	}
	if len(comp.Sources) > 1 {
		c.add(at.key("source_streams"), "%s reads one source stream: make a computation for each", comp.Class)
	}
	for _, id := range comp.SourceIDs() {
		c.checkSourceSchema(at, comp, id)
	}
	c.checkReadDelays(at, comp)
	if (comp.Class == ClassTransformSource || comp.Class == ClassSource) && comp.GroupBy.Len() > 0 {
		c.add(at.key("group_by_schema"), "%s has no keys: remove group_by_schema", comp.Class)
	}
}

// checkReadDelays checks that what a source waits for exists.
func (c *checker) checkReadDelays(at place, comp *Computation) {
	if comp.Watermark.Alignment == nil {
		return
	}
	where := at.keys("watermark_strategy", "watermark_alignment", "read_delays")
	for _, id := range sorted(comp.Watermark.Alignment.ReadDelays) {
		owner, _ := c.spec.Pipeline.Locate(id)
		if owner == nil {
			c.add(where.key(id), "there is no stream %s: name an output of a computation, or computation/stream for its timers, visits or source: %s", id, yson.DidYouMean(id, c.spec.Pipeline.Located()))
			continue
		}
		c.checkMutualWait(where.key(id), comp, id, owner)
	}
}

// checkMutualWait refuses that a source stays further behind another one than that may
// be ahead of it.
func (c *checker) checkMutualWait(at place, comp *Computation, stream string, owner *Computation) {
	a, b := comp.Watermark.Alignment, owner.Watermark.Alignment
	if owner == comp || b == nil || a.GroupName != b.GroupName {
		return
	}
	behind := a.ReadDelays[stream]
	if g := comp.Watermark.Generator; g != nil && !g.UseSourceWatermark {
		behind += g.OutOfOrdernessBound
	}
	if behind > b.DriftBound {
		c.add(at, "%s and %s would wait for each other: watermarks of %s stay %s behind %s, and %s may be ahead of its group %s by %s only. Raise its drift_bound, or give it another group_name",
			comp.ID, owner.ID, comp.ID, behind, stream, owner.ID, b.GroupName, b.DriftBound)
	}
}

// checkSourceSchema checks that it is known what the rows of a source are.
func (c *checker) checkSourceSchema(at place, comp *Computation, source string) {
	streams := c.spec.Pipeline.Streams
	if streams[source] != nil || comp.Class.IsCompanion() {
		return
	}
	for _, output := range comp.Outputs {
		first, s := streams[comp.Outputs[0]], streams[output]
		if first != nil && s != nil && first.Schema != nil && s.Schema != nil && !s.Schema.Equal(first.Schema) {
			c.add(at.keys("source_streams", source), "the outputs of %s have different schemas, so those of the rows it reads are unknown: declare spec.streams.%s", comp.ID, source)
			return
		}
	}
}

// refuseSources reports what only source classes have.
func (c *checker) refuseSources(at place, comp *Computation) {
	if len(comp.Sources) > 0 {
		c.add(at.key("source_streams"), "%s has no sources: read them in a source or source_passthrough computation", comp.Class)
	}
	w, where := &comp.Watermark, at.key("watermark_strategy")
	if w.Generator != nil {
		c.add(where.key("watermark_generator"), "this belongs to computations with sources, not to %s", comp.Class)
	}
	if w.Alignment != nil {
		c.add(where.key("watermark_alignment"), "this belongs to computations with sources, not to %s", comp.Class)
	}
}

// checkSwiftMap checks what follows from outputs that are not stored: they may
// stem from messages only (KV-42), and go to other computations only.
func (c *checker) checkSwiftMap(at place, comp *Computation) {
	if len(comp.Sinks) > 0 {
		c.add(at.key("sinks"), "%s has no sinks: use transform, or a passthrough after it", comp.Class)
	}
	for _, output := range comp.Outputs {
		for _, parent := range comp.Dependencies[output] {
			what := ""
			switch {
			case comp.VisitStreams[parent] != nil:
				what = "visit"
			case comp.TimerStreams[parent] != nil:
				what = "timer"
			default:
				continue
			}
			c.add(at.keys("streams_dependency", output).item(parent),
				"%s may not emit from visits and timers, but output %s depends on the %s stream %s: use transform, or list the inputs alone: "+
					`"streams_dependency" = {%q = %s} (timer streams are parents where nothing is listed)`,
				comp.Class, output, what, parent, output, list(comp.Inputs))
		}
	}
}

// refuseKeyedStreams reports visit and timer streams of classes without keyed
// state (KV-43).
func (c *checker) refuseKeyedStreams(at place, comp *Computation) {
	for _, id := range comp.VisitStreamIDs() {
		c.add(at.keys("key_visitor_streams", id), "%s keeps no state by key, so there is nothing to visit: use transform", comp.Class)
	}
	for _, id := range comp.TimerStreamIDs() {
		c.add(at.keys("timer_streams", id), "%s keeps no state by key, so it has no timers: use transform", comp.Class)
	}
}
