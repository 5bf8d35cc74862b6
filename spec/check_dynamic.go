package spec

import (
	"slices"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// checkDynamic checks that the dynamic spec speaks of what the static one has.
func (c *checker) checkDynamic() {
	p, d := &c.spec.Pipeline, &c.spec.Dynamic
	for _, id := range sorted(d.Computations) {
		comp, at := p.Computations[id], c.dynamicPlace(id)
		if comp == nil {
			c.add(at, "there is no computation %s: %s", id, yson.DidYouMean(id, p.ComputationIDs()))
			continue
		}
		c.checkDynamicComputation(at, comp, d.Computations[id])
	}
	for _, id := range p.ComputationIDs() {
		c.noteOnePass(p.Computations[id])
	}
}

func (c *checker) checkDynamicComputation(at place, comp *Computation, d *DynamicComputation) {
	c.known(at.key("key_visitor_streams"), comp, sorted(d.VisitStreams), comp.VisitStreamIDs(), "visit stream")
	c.known(at.key("source_streams"), comp, sorted(d.Sources), comp.SourceIDs(), "source stream")
	c.known(at.key("sinks"), comp, sorted(d.Sinks), comp.SinkIDs(), "sink")
	c.known(at.key("external_state_managers"), comp, sorted(d.ExternalManagers), sorted(comp.ExternalManagers), "external state manager")
	c.known(at.key("external_state_joiners"), comp, sorted(d.ExternalJoiners), sorted(comp.ExternalJoiners), "external state joiner")
	c.known(at.key("state_joiners"), comp, sorted(d.StateJoiners), sorted(comp.StateJoiners), "state joiner")
	if desired := d.DesiredPartitionCount; desired != nil && comp.Class.IsSource() {
		c.note(at, "desired_partition_count has no effect on %s: a source has as many partitions as its input", comp.Class)
	}
	if at.raw("processing_function_parameters").IsSet() && !comp.Class.RunsFunction() && !comp.Class.IsCompanion() && comp.Class != 0 {
		c.add(at.key("processing_function_parameters"), "%s runs no function: remove this", comp.Class)
	}
	if comp.Class.IsSource() && comp.Class.IsPassthrough() && at.raw("on_message_error").IsSet() {
		c.note(at.key("on_message_error"), "this has no effect on %s, which runs no function: to pass over rows that cannot be used, set on_malformed = skip in the parameters of the source", comp.Class)
	}
	c.checkSkip(at.key("skip_if_expression"), comp, d)
	for _, id := range sorted(d.VisitStreams) {
		if v := comp.VisitStreams[id]; v != nil {
			c.checkScanRows(at.keys("key_visitor_streams", id, "max_scan_rows_per_iteration"), v, int(d.VisitStreams[id].MaxScanRowsPerIteration))
		}
	}
	deadLetters := d.OnMessageError == "dead_letter" || d.OnTimerError == "dead_letter"
	switch {
	case deadLetters && d.DeadLetterStream == "":
		c.add(at, "dead_letter_stream is missing: name the output that takes what failed")
	case d.DeadLetterStream != "" && !slices.Contains(comp.Outputs, d.DeadLetterStream):
		c.add(at.key("dead_letter_stream"), "%s is no output of %s: %s", d.DeadLetterStream, comp.ID, yson.DidYouMean(d.DeadLetterStream, comp.Outputs))
	case d.DeadLetterStream != "":
		c.checkDeadLetters(at.key("dead_letter_stream"), comp, c.spec.Pipeline.Streams[d.DeadLetterStream])
	}
}

// checkSkip checks that the expression can be computed from every message that the
// computation reads.
func (c *checker) checkSkip(at place, comp *Computation, d *DynamicComputation) {
	if d.SkipIfExpression == "" {
		return
	}
	for _, id := range upstreamsOf(comp) {
		stream := c.spec.Pipeline.SchemaOf(comp, id)
		if stream == nil {
			continue
		}
		e, err := schema.CompileExpression(d.SkipIfExpression, stream)
		switch {
		case err != nil:
			c.add(at, "over the rows of %s: %v", id, err)
		case e.Kind() != schema.KindBoolean && e.Kind() != schema.KindNull:
			c.add(at, "over the rows of %s it is %s: it must be true or false, such as value = 0", id, e.Kind())
		default:
			continue
		}
		return
	}
}

// checkScanRows makes sure that one list can hold all rows of a key and show that
// they are all: as many rows as the cap are complete only before the last key, so
// a key that fills the cap is never read (KV-20, KV-21).
func (c *checker) checkScanRows(at place, v *VisitStream, limit int) {
	switch names := len(v.Names); {
	case limit <= 0: // refused by its range
	case limit == 1:
		c.add(at, "must be at least 2, got 1: every key has a row, and a list needs one more to show that a key is whole, or the scan stalls at the first key")
	case limit <= names:
		c.add(at, "must be at least %d, got %d: a key may have a row for each of the %d names of the stream, and a list needs one more to show that it is whole, or the scan stalls at such a key",
			names+1, limit, names)
	}
}

// known refuses names that the static spec of comp does not have.
func (c *checker) known(at place, comp *Computation, names, known []string, what string) {
	for _, name := range names {
		if !slices.Contains(known, name) {
			c.add(at.key(name), "%s has no %s %s: %s", comp.ID, what, name, yson.DidYouMean(name, known))
		}
	}
}

// noteOnePass warns of computations that retire after one pass (KV-38).
func (c *checker) noteOnePass(comp *Computation) {
	if len(comp.Inputs) > 0 || len(comp.Sources) > 0 {
		return
	}
	for _, id := range comp.VisitStreamIDs() {
		if v := c.spec.Dynamic.Computation(comp.ID).VisitStream(id); v.Finite {
			c.note(c.place(comp.ID).keys("key_visitor_streams", id),
				"with no inputs this stream completes after one whole pass, which takes its period, %s; for another pace set period, for periodic passes finite=%%false, in dynamic_spec.computations.%s.key_visitor_streams.%s", v.Period, comp.ID, id)
		}
	}
}
