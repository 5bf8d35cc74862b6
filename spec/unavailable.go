package spec

// checkAvailable refuses what is read and checked but does not run yet. It is
// the one list of such things: a feature that arrives removes its line.
func (c *checker) checkAvailable() {
	p := &c.spec.Pipeline
	for _, id := range p.ComputationIDs() {
		c.checkComputationAvailable(c.place(id), p.Computations[id])
	}
	for _, id := range sorted(c.spec.Dynamic.Computations) {
		c.checkDynamicAvailable(c.dynamicPlace(id), c.spec.Dynamic.Computations[id])
	}
}

func (c *checker) checkComputationAvailable(at place, comp *Computation) {
	watermark := at.key("watermark_strategy")
	c.unavailable(watermark.key("watermark_generator"), comp.Watermark.Generator.IsSet())
	c.unavailable(watermark.key("watermark_alignment"), comp.Watermark.Alignment.IsSet())
	c.unavailable(watermark.key("watermark_percentile"), comp.Watermark.Percentile.IsSet())
	c.unavailable(at.key("external_state_managers"), len(comp.ExternalManagers) > 0)
	c.unavailable(at.key("external_state_joiners"), len(comp.ExternalJoiners) > 0)
	c.unavailable(at.key("state_joiners"), len(comp.StateJoiners) > 0)
	c.unavailable(at.key("required_resource_ids"), len(comp.RequiredResources) > 0)
	if comp.Class.IsCompanion() {
		c.add(at.key("computation_class_name"), "the class %s is not available in this version", comp.Class)
	}
}

func (c *checker) checkDynamicAvailable(at place, d *DynamicComputation) {
	c.unavailable(at.key("skip_if_expression"), d.SkipIfExpression != "")
	c.noDeadLetters(at.key("on_message_error"), d.OnMessageError)
	c.noDeadLetters(at.key("on_timer_error"), d.OnTimerError)
	for _, id := range sorted(d.VisitStreams) {
		if d.VisitStreams[id].OnVisitError == "skip" {
			c.add(at.keys("key_visitor_streams", id, "on_visit_error"), "skip is not available in this version: use fail")
		}
	}
}

func (c *checker) noDeadLetters(at place, value string) {
	if value == "dead_letter" {
		c.add(at, "dead_letter is not available in this version: use fail or skip")
	}
}

func (c *checker) unavailable(at place, used bool) {
	if used {
		c.add(at, "this is not available in this version: remove it")
	}
}
