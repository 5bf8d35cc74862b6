package spec

import (
	"slices"
	"strings"
)

// graph holds the parents→children edges of all streams of a pipeline. Streams
// of one computation alone are named computation/stream.
type graph struct {
	children map[string][]string
	writer   map[string]*Computation // of a stream that has parents
}

func graphOf(p *Pipeline) *graph {
	g := &graph{children: map[string][]string{}, writer: map[string]*Computation{}}
	for _, id := range p.ComputationIDs() {
		comp := p.Computations[id]
		g.addDelays(comp)
		for _, child := range sorted(comp.Dependencies) {
			if !slices.Contains(childrenOf(comp), child) {
				continue // judged by checkDependencies
			}
			to := globalName(comp, child)
			g.writer[to] = comp
			for _, parent := range comp.Dependencies[child] {
				selfTimer := parent == child && comp.TimerStreams[child] != nil
				if !selfTimer { // so is this
					from := globalName(comp, parent)
					g.children[from] = append(g.children[from], to)
				}
			}
		}
	}
	return g
}

// addDelays adds the streams that a source waits for.
func (g *graph) addDelays(comp *Computation) {
	if comp.Watermark.Alignment == nil {
		return
	}
	for _, blocker := range sorted(comp.Watermark.Alignment.ReadDelays) {
		for _, source := range comp.SourceIDs() {
			to := globalName(comp, source)
			g.writer[to] = comp
			g.children[blocker] = append(g.children[blocker], to)
		}
	}
}

// waitsFor tells that a stream is a source of the computation that stays behind a
// stream.
func (comp *Computation) waitsFor(stream, blocker string) bool {
	a := comp.Watermark.Alignment
	if a == nil || comp.Sources[stream] == nil {
		return false
	}
	_, waits := a.ReadDelays[blocker]
	return waits
}

// Locate finds a stream by its name in the whole pipeline: that of an output, or
// computation/stream for the timers, visits and source of one. It returns the
// computation that moves the stream and its name there, nil if there is none.
func (p *Pipeline) Locate(name string) (*Computation, string) {
	if producer := p.Producer(name); producer != nil {
		return producer, name
	}
	for _, id := range p.ComputationIDs() {
		comp := p.Computations[id]
		for _, stream := range localStreams(comp) {
			if globalName(comp, stream) == name {
				return comp, stream
			}
		}
	}
	return nil, ""
}

// Located returns the names that Locate finds, in order.
func (p *Pipeline) Located() (names []string) {
	for _, id := range p.ComputationIDs() {
		comp := p.Computations[id]
		names = append(names, comp.Outputs...)
		for _, stream := range localStreams(comp) {
			names = append(names, globalName(comp, stream))
		}
	}
	slices.Sort(names)
	return names
}

func localStreams(comp *Computation) []string {
	return slices.Concat(comp.SourceIDs(), comp.TimerStreamIDs(), comp.VisitStreamIDs())
}

// globalName tells the local streams of computations apart.
func globalName(comp *Computation, stream string) string {
	if slices.Contains(comp.Inputs, stream) || slices.Contains(comp.Outputs, stream) {
		return stream
	}
	return comp.ID + "/" + stream
}

// reachable returns all streams that from leads to, without from itself unless
// it lies on a cycle.
func (g *graph) reachable(from string) map[string]bool {
	seen := map[string]bool{}
	queue := []string{from}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, child := range g.children[next] {
			if !seen[child] {
				seen[child] = true
				queue = append(queue, child)
			}
		}
	}
	return seen
}

// pathTo returns a shortest path from → … → to, nil if there is none.
func (g *graph) pathTo(from, to string) []string {
	before := map[string]string{}
	queue := []string{from}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, child := range g.children[next] {
			if _, seen := before[child]; seen {
				continue
			}
			before[child] = next
			if child == to {
				return trace(before, from, to)
			}
			queue = append(queue, child)
		}
	}
	return nil
}

func trace(before map[string]string, from, to string) []string {
	path := []string{to}
	for at := before[to]; at != from; at = before[at] {
		path = append(path, at)
	}
	path = append(path, from)
	slices.Reverse(path)
	return path
}

// checkCycles reports each cycle of streams once, with the dependency that
// would break it, and the visitors that wait for their own output (KV-44).
func (c *checker) checkCycles() {
	g := graphOf(&c.spec.Pipeline)
	reported := map[string]bool{}
	for _, stream := range sorted(g.children) {
		if reported[stream] {
			continue
		}
		if cycle := g.pathTo(stream, stream); cycle != nil {
			for _, member := range cycle {
				reported[member] = true
			}
			c.reportCycle(g, cycle)
		}
	}
	for _, id := range c.spec.Pipeline.ComputationIDs() {
		c.noteSelfFollowers(g, c.spec.Pipeline.Computations[id])
	}
}

func (c *checker) reportCycle(g *graph, cycle []string) {
	text := strings.Join(cycle, " -> ")
	for i, stream := range cycle[1:] {
		comp := g.writer[stream]
		local := strings.TrimPrefix(stream, comp.ID+"/")
		if comp.waitsFor(local, cycle[i]) {
			c.add(c.place(comp.ID).keys("watermark_strategy", "watermark_alignment", "read_delays", cycle[i]),
				"the source waits for what comes of it: %s. Leave this out", text)
			return
		}
		if parents := c.independentParents(g, comp, stream); len(parents) > 0 {
			c.add(c.place(comp.ID).keys("streams_dependency", local),
				`streams depend on themselves in a cycle: %s. List what %s really depends on, for example "streams_dependency" = {%q = %s}`,
				text, local, local, list(parents))
			return
		}
	}
	comp := g.writer[cycle[0]]
	c.add(c.place(comp.ID), "streams depend on themselves in a cycle: %s. Leave one of them out, or list its parents in streams_dependency", text)
}

// independentParents returns the inputs, sources and visit streams of comp that
// stream could depend on without a cycle.
func (c *checker) independentParents(g *graph, comp *Computation, stream string) []string {
	below := g.reachable(stream)
	var parents []string
	for _, parent := range append(upstreamsOf(comp), comp.VisitStreamIDs()...) {
		if name := globalName(comp, parent); !below[name] && name != stream {
			parents = append(parents, parent)
		}
	}
	return parents
}

// noteSelfFollowers warns of visitors whose final pass never starts because an
// upstream depends on what the visitor emits.
func (c *checker) noteSelfFollowers(g *graph, comp *Computation) {
	for _, id := range comp.VisitStreamIDs() {
		finite := c.spec.Dynamic.Computation(comp.ID).VisitStream(id).Finite
		below := g.reachable(globalName(comp, id))
		var own, others []string
		for _, up := range comp.VisitStreams[id].Upstream {
			if below[globalName(comp, up)] {
				own = append(own, up)
			} else {
				others = append(others, up)
			}
		}
		if finite && len(own) > 0 {
			c.note(c.place(comp.ID).keys("key_visitor_streams", id), "will never complete, because it waits for %s, which depends on its own output; set upstream_streams = %s",
				strings.Join(own, ", "), list(others))
		}
	}
}
