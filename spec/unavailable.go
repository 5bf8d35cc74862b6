package spec

// checkAvailable refuses what is read and checked but does not run yet. It is
// the one list of such things: a feature that arrives removes its line.
func (c *checker) checkAvailable() {
	p := &c.spec.Pipeline
	c.unavailable(c.root.keys("spec", "resources"), len(p.Resources) > 0)
	for _, id := range p.ComputationIDs() {
		c.checkComputationAvailable(c.place(id), p.Computations[id])
	}
	for _, id := range sorted(c.spec.Dynamic.Computations) {
		c.checkDynamicAvailable(c.dynamicPlace(id), c.spec.Dynamic.Computations[id])
	}
}

func (c *checker) checkComputationAvailable(at place, comp *Computation) {
	watermark, source := at.key("watermark_strategy"), comp.Class.IsSource()
	c.unavailable(watermark.key("watermark_generator"), source && comp.Watermark.Generator.IsSet())
	c.unavailable(watermark.key("watermark_alignment"), source && comp.Watermark.Alignment.IsSet())
	c.unavailable(watermark.key("watermark_percentile"), comp.Watermark.Percentile.IsSet())
	c.unavailable(at.key("timer_streams"), comp.Class.HasKeyedState() && len(comp.TimerStreams) > 0)
	c.unavailable(at.key("external_state_managers"), !source && len(comp.ExternalManagers) > 0)
	c.unavailable(at.key("external_state_joiners"), len(comp.ExternalJoiners) > 0)
	c.unavailable(at.key("state_joiners"), len(comp.StateJoiners) > 0)
	c.unavailable(at.key("required_resource_ids"), len(comp.RequiredResources) > 0)
}

func (c *checker) checkDynamicAvailable(at place, d *DynamicComputation) {
	c.unavailable(at.key("draining"), d.Draining)
	c.unavailable(at.key("skip_if_expression"), d.SkipIfExpression != "")
	c.unavailable(at.key("processing_function_parameters"), d.FunctionParameters.IsSet())
	c.failOnly(at.key("on_message_error"), d.OnMessageError)
	c.failOnly(at.key("on_timer_error"), d.OnTimerError)
	for _, id := range sorted(d.VisitStreams) {
		c.failOnly(at.keys("key_visitor_streams", id, "on_visit_error"), d.VisitStreams[id].OnVisitError)
	}
	for _, id := range sorted(d.Sources) {
		c.unavailable(at.keys("source_streams", id, "parameters"), d.Sources[id].Parameters.IsSet())
	}
	for _, id := range sorted(d.Sinks) {
		c.unavailable(at.keys("sinks", id, "parameters"), d.Sinks[id].Parameters.IsSet())
	}
}

// failOnly allows the policy fail of those that the field's tag lists.
func (c *checker) failOnly(at place, policy string) {
	if policy == "skip" || policy == "dead_letter" {
		c.add(at, "%s is not available in this version: use fail", policy)
	}
}

func (c *checker) unavailable(at place, used bool) {
	if used {
		c.add(at, "this is not available in this version: remove it")
	}
}
