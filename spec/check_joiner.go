package spec

import (
	"slices"

	"github.com/rondo-flow/rondo/yson"
)

// checkJoiners checks the joiners of static tables, and those that look keys up.
func (c *checker) checkJoiners(at place, comp *Computation) {
	for _, name := range sorted(comp.ExternalJoiners) {
		j, where := comp.ExternalJoiners[name], at.keys("external_state_joiners", name)
		if !j.VisitorDriven() {
			c.checkLookup(where, comp, j)
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

// checkLookup checks which streams give a joiner the keys that it looks up. Visits
// give theirs as they are, which are no keys of a joiner's own.
func (c *checker) checkLookup(at place, comp *Computation, j *ExternalJoiner) {
	known := append(upstreamsOf(comp), append(comp.TimerStreamIDs(), comp.VisitStreamIDs()...)...)
	if j.JoinOn.KeyProviders != nil {
		for _, stream := range *j.JoinOn.KeyProviders {
			if !slices.Contains(known, stream) {
				c.add(at.keys("join_on", "key_provider_streams").item(stream), "%s is no stream that %s reads: %s", stream, comp.ID, yson.DidYouMean(stream, known))
			}
		}
	}
	if j.JoinOn.KeySchemaOverride == nil {
		return
	}
	for _, id := range comp.VisitStreamIDs() {
		if j.JoinOn.KeyProviders == nil || slices.Contains(*j.JoinOn.KeyProviders, id) {
			c.add(at.keys("join_on", "key_schema_override"), "visits of %s would look the key of group_by_schema up, which is another one: list the streams that provide keys in join_on.key_provider_streams, and leave %s out", id, id)
		}
	}
}
