package spec

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
	if comp.Class == ClassTransformSource && comp.GroupBy.Len() > 0 {
		c.add(at.key("group_by_schema"), "%s has no keys: remove group_by_schema", comp.Class)
	}
}

// refuseSources reports what only source classes have.
func (c *checker) refuseSources(at place, comp *Computation) {
	if len(comp.Sources) > 0 {
		c.add(at.key("source_streams"), "%s has no sources: read them in a source or source_passthrough computation", comp.Class)
	}
	w, where := &comp.Watermark, at.key("watermark_strategy")
	if w.Generator.IsSet() {
		c.add(where.key("watermark_generator"), "this belongs to computations with sources, not to %s", comp.Class)
	}
	if w.Alignment.IsSet() {
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
