package spec

import (
	"slices"

	"github.com/rondo-flow/rondo/yson"
)

// checkDependencies checks streams_dependency as given.
func (c *checker) checkDependencies(at place, comp *Computation) {
	where := at.key("streams_dependency")
	for _, child := range sorted(comp.Dependencies) {
		entry := where.key(child)
		switch isChild := slices.Contains(childrenOf(comp), child); {
		case !isChild && slices.Contains(upstreamsOf(comp), child):
			c.add(entry, "%s is an input or source, which has no parents here: remove the entry", child)
			continue
		case !isChild:
			c.add(entry, "%s is no output, timer or visit stream of %s: %s", child, comp.ID, yson.DidYouMean(child, childrenOf(comp)))
			continue
		}
		for _, parent := range comp.Dependencies[child] {
			c.checkParent(entry.item(parent), comp, child, parent)
		}
		c.noteOrphan(entry, comp, child)
	}
}

// childrenOf returns the streams that may have parents.
func childrenOf(comp *Computation) []string {
	return append(slices.Clone(comp.Outputs), append(comp.TimerStreamIDs(), comp.VisitStreamIDs()...)...)
}

func (c *checker) checkParent(at place, comp *Computation, child, parent string) {
	isTimer := comp.TimerStreams[child] != nil
	known := append(upstreamsOf(comp), childrenOf(comp)...)
	switch {
	case !slices.Contains(known, parent):
		c.add(at, "%s is no stream of %s: %s", parent, comp.ID, yson.DidYouMean(parent, known))
	case isTimer && slices.Contains(comp.Outputs, parent):
		c.add(at, "timer stream %s may not depend on output %s: list what the output depends on", child, parent)
	case isTimer && parent == child && !comp.AllowTimerSelfDependency:
		c.add(at, "timer stream %s depends on itself: remove it, or set allow_timer_self_dependency=%%true", child)
	}
}

// noteOrphan warns of an output that nothing may be emitted to (KV-41).
func (c *checker) noteOrphan(at place, comp *Computation, child string) {
	if !slices.Contains(comp.Outputs, child) || len(comp.Dependencies[child]) > 0 {
		return
	}
	parents := append(upstreamsOf(comp), comp.VisitStreamIDs()...)
	c.note(at, `output %s has no parents, so nothing can be emitted to it: set "streams_dependency" = {%q = %s}`, child, child, list(parents))
}
