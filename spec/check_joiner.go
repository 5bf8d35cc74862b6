package spec

import "slices"

// checkJoiners checks the joiners of static tables, and refuses others.
func (c *checker) checkJoiners(at place, comp *Computation) {
	for _, name := range sorted(comp.ExternalJoiners) {
		j, where := comp.ExternalJoiners[name], at.keys("external_state_joiners", name)
		if !j.VisitorDriven() {
			continue
		}
		if j.JoinOn.KeySchemaOverride != nil {
			c.add(where.keys("join_on", "key_schema_override"), "a static table is joined by the key of group_by_schema: remove this")
		}
		if streams := scanning(comp, name); len(streams) > 1 {
			c.add(at.keys("key_visitor_streams", streams[1], "external_names"), "%s is scanned by %s too: a static table is scanned by one visit stream, so leave it out of one", name, streams[0])
		}
	}
}

// scanning returns the visit streams that scan an external state (KV-2).
func scanning(comp *Computation, name string) (streams []string) {
	for _, id := range comp.VisitStreamIDs() {
		if slices.Contains(comp.VisitStreams[id].ExternalNames, name) {
			streams = append(streams, id)
		}
	}
	return streams
}
