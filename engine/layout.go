package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// layout is the partitions that the spec asks for; stored are those there are.
func (p *plan) layout(cores int, stored []store.Partition) []store.Partition {
	var out []store.Partition
	for _, n := range p.nodes {
		routing := n.routing(p, stored)
		for _, part := range n.wanted(cores) {
			part.Computation, part.Kind, part.Layout, part.State, part.Routing = n.id, n.kind, 1, store.Executing, routing
			out = append(out, part)
		}
	}
	return out
}

func (n *node) wanted(cores int) []store.Partition {
	switch n.kind {
	case store.SourcePartition:
		var out []store.Partition
		for _, key := range n.sourceKeys {
			out = append(out, store.Partition{Name: n.sourceStream + "/" + key})
		}
		return out
	case store.SinkPartition:
		return []store.Partition{{Name: n.id}}
	default:
		var out []store.Partition
		for _, r := range visit.Split(visit.FullRange(), n.dynamic.PartitionCount(cores)) {
			out = append(out, store.Partition{Lower: r.Lower.Key.Hash, Upper: r.Upper.Key.Hash, Open: r.Upper.End})
		}
		return out
	}
}

// routing is the layout version of everything the node writes to.
func (n *node) routing(p *plan, stored []store.Partition) []store.Route {
	var out []store.Route
	for _, c := range p.nodes {
		if !slices.ContainsFunc(c.inputs, func(in inputPlan) bool { return in.producer == n.id }) {
			continue
		}
		r := store.Route{Computation: c.id, Layout: 1}
		for _, part := range of(stored, c.id) {
			r.Layout = part.Layout
		}
		out = append(out, r)
	}
	return out
}

// missing returns the partitions that the store does not have yet: all of them on
// the first start, later those of new partitions of sources.
func (p *plan) missing(stored, want []store.Partition) ([]store.Partition, error) {
	if len(stored) == 0 {
		return want, nil
	}
	var out []store.Partition
	for _, n := range p.nodes {
		have, wanted := of(stored, n.id), of(want, n.id)
		if n.kind != store.SourcePartition {
			continue
		}
		more, err := p.moreSources(n, have, wanted, stored)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// moreSources returns what a source has to read that it had not before, such as
// new files. What is gone must have been read to its end, and what is new must
// find its consumers still running.
func (p *plan) moreSources(n *node, have, wanted, stored []store.Partition) ([]store.Partition, error) {
	if gone := without(have, wanted); slices.ContainsFunc(gone, func(part store.Partition) bool { return part.State != store.Completed }) {
		return nil, fmt.Errorf("computation %s no longer finds %s, which it has not read to the end: put it back, or start with an empty data folder", n.id, names(gone))
	}
	more := without(wanted, have)
	if len(more) == 0 {
		return nil, nil
	}
	for _, c := range p.nodes {
		reads := slices.ContainsFunc(c.inputs, func(in inputPlan) bool { return in.producer == n.id })
		if reads && slices.ContainsFunc(of(stored, c.id), func(part store.Partition) bool { return part.State == store.Completed }) {
			return nil, fmt.Errorf("computation %s finds %s to read, but computation %s is completed: start with an empty data folder", n.id, names(more), c.id)
		}
	}
	return more, nil
}

// without returns the partitions whose names others do not have.
func without(ps, others []store.Partition) []store.Partition {
	return slices.DeleteFunc(slices.Clone(ps), func(p store.Partition) bool {
		return slices.ContainsFunc(others, func(o store.Partition) bool { return o.Name == p.Name })
	})
}

func of(ps []store.Partition, computation string) []store.Partition {
	var out []store.Partition
	for _, p := range ps {
		if p.Computation == computation {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b store.Partition) int {
		return cmp.Or(cmp.Compare(a.Lower, b.Lower), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func names(ps []store.Partition) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.Name)
	}
	return out
}

// wire connects the nodes by the partitions that there are.
func (p *plan) wire(ps []store.Partition) error {
	for _, n := range p.nodes {
		n.partitions, n.layout = of(ps, n.id), 0
		for _, part := range n.partitions {
			n.layout = max(n.layout, part.Layout)
		}
	}
	for _, n := range p.nodes {
		n.producers = nil
		for _, in := range n.inputs {
			n.producers = append(n.producers, ids(p.node(in.producer).partitions))
		}
		if err := n.wireOutputs(p); err != nil {
			return err
		}
	}
	return nil
}

func ids(ps []store.Partition) []store.PartitionID {
	out := make([]store.PartitionID, len(ps))
	for i := range ps {
		out[i] = ps[i].ID
	}
	return out
}

func (n *node) wireOutputs(p *plan) error {
	n.out, n.consumers, n.heeded = nil, nil, false
	for i, o := range n.outputs {
		s := outStream{id: o.Stream, schema: n.schemas[i], assign: n.assigners[i]}
		for _, sink := range n.storeSinks {
			if slices.Contains(sink.streams, o.Stream) {
				s.sinks = append(s.sinks, sink.sink)
			}
		}
		for _, c := range p.nodes {
			if !slices.ContainsFunc(c.inputs, func(in inputPlan) bool { return in.stream == o.Stream }) {
				continue
			}
			r, err := c.route(n.schemas[i])
			if err != nil {
				return fmt.Errorf("stream %s into computation %s: %w", o.Stream, c.id, err)
			}
			s.routes = append(s.routes, r)
			n.waitsFor(p, c, &s)
			n.consumers = append(n.consumers, r.targets...)
			n.heeded = n.heeded || c.systemTimed()
		}
		n.out = append(n.out, s)
	}
	slices.Sort(n.consumers)
	n.consumers = slices.Compact(n.consumers)
	return nil
}

func (n *node) route(input *schema.Schema) (route, error) {
	r := route{node: n.id}
	for _, part := range n.partitions {
		r.targets = append(r.targets, part.ID)
		r.from = append(r.from, part.Lower)
	}
	if n.key == nil {
		return r, nil
	}
	var err error
	r.grouper, err = schema.NewGrouper(n.key, input)
	return r, err
}
