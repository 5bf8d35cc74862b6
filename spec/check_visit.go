package spec

import (
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// checkVisitStreams checks the static parameters of visit streams.
func (c *checker) checkVisitStreams(at place, comp *Computation) {
	c.checkStateMaps(at, comp)
	c.checkJoiners(at, comp)
	for _, id := range comp.VisitStreamIDs() {
		s, where := comp.VisitStreams[id], at.keys("key_visitor_streams", id)
		for _, name := range s.Names {
			c.checkStateName(where.key("names").item(name), name)
		}
		for _, name := range s.ExternalNames {
			c.checkExternalName(where.key("external_names").item(name), comp, name)
		}
		for _, up := range s.Upstream {
			if known := upstreamsOf(comp); !slices.Contains(known, up) {
				c.add(where.key("upstream_streams").item(up), "%s is not an input or source stream of %s: %s", up, comp.ID, yson.DidYouMean(up, known))
			}
		}
	}
}

func (c *checker) checkStateName(at place, name string) {
	if !isStateName(name) {
		c.add(at, "%q is no state name: it begins with \"/\" and has something after each \"/\"", name)
	}
}

func isStateName(name string) bool {
	return len(name) > 1 && name[0] == '/' && !strings.HasSuffix(name, "/") && !strings.Contains(name, "//")
}

// checkExternalName accepts managers and joiners; joiners that are not driven
// by visitors are skipped by the scan, with a warning.
func (c *checker) checkExternalName(at place, comp *Computation, name string) {
	c.checkStateName(at, name)
	joiner := comp.ExternalJoiners[name]
	switch {
	case comp.ExternalManagers[name] != nil:
	case joiner == nil:
		known := append(sorted(comp.ExternalManagers), sorted(comp.ExternalJoiners)...)
		c.add(at, "%s is no external state manager or joiner of %s: %s", name, comp.ID, yson.DidYouMean(name, known))
	case !joiner.VisitorDriven():
		c.note(at, "the joiner %s looks keys up and does not list them: it is not scanned", name)
	}
}

// checkStateMaps checks the names of managers and joiners, each of which stands for
// one table.
func (c *checker) checkStateMaps(at place, comp *Computation) {
	fields := map[string]string{}
	for _, m := range []struct {
		field string
		names []string
	}{
		{"external_state_managers", sorted(comp.ExternalManagers)},
		{"external_state_joiners", sorted(comp.ExternalJoiners)},
		{"state_joiners", sorted(comp.StateJoiners)},
	} {
		for _, name := range m.names {
			c.checkStateName(at.keys(m.field, name), name)
			if first, twice := fields[name]; twice {
				c.add(at.keys(m.field, name), "%s is the name of an entry of %s too: give each table a name of its own", name, first)
			}
			fields[name] = m.field
		}
	}
}

// checkTimers checks that timers follow streams of their computation.
func (c *checker) checkTimers(at place, comp *Computation) {
	known := append(upstreamsOf(comp), append(comp.TimerStreamIDs(), comp.VisitStreamIDs()...)...)
	for _, id := range comp.TimerStreamIDs() {
		s, where := comp.TimerStreams[id], at.keys("timer_streams", id)
		if len(s.Streams) > 0 && len(s.Delays) > 0 {
			c.note(where.key("streams"), "this has no effect beside streams_with_delays, whose streams alone count: name each there, with a delay of 0s if it has none")
		}
		for _, stream := range s.Streams {
			if !slices.Contains(known, stream) {
				c.add(where.key("streams").item(stream), "%s is no stream that %s reads: %s", stream, comp.ID, yson.DidYouMean(stream, known))
			}
		}
		for _, stream := range sorted(s.Delays) {
			if !slices.Contains(known, stream) {
				c.add(where.keys("streams_with_delays", stream), "%s is no stream that %s reads: %s", stream, comp.ID, yson.DidYouMean(stream, known))
			}
		}
	}
}
