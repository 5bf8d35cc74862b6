package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// layout is the partitions that the spec asks for.
func (p *plan) layout(cores int) []store.Partition {
	var out []store.Partition
	for _, n := range p.nodes {
		routing := n.routing(p)
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
func (n *node) routing(p *plan) []store.Route {
	var out []store.Route
	for _, c := range p.nodes {
		if slices.ContainsFunc(c.inputs, func(in inputPlan) bool { return in.producer == n.id }) {
			out = append(out, store.Route{Computation: c.id, Layout: 1})
		}
	}
	return out
}

// compare refuses a layout that is not the stored one: partitions cannot be
// changed while there is state to move.
func (p *plan) compare(stored, want []store.Partition) error {
	for _, n := range p.nodes {
		have, wanted := of(stored, n.id), of(want, n.id)
		if n.kind == store.RangePartition && n.dynamic.DesiredPartitionCount == nil && len(have) > 0 {
			continue // the count follows the machine, and stays what it was at the first start
		}
		if len(have) != len(wanted) && n.kind == store.RangePartition {
			return fmt.Errorf("computation %s has %d partitions in the store and desired_partition_count = %d: the count of a pipeline with state cannot be changed; set it back to %d, or start with an empty data folder",
				n.id, len(have), len(wanted), len(have))
		}
		same := slices.EqualFunc(have, wanted, func(a, b store.Partition) bool { return a.Name == b.Name && a.Kind == b.Kind })
		if !same {
			return fmt.Errorf("computation %s reads or writes something else than the store was made for (stored: %s; now: %s): start with an empty data folder",
				n.id, names(have), names(wanted))
		}
	}
	return nil
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
		n.partitions = of(ps, n.id)
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
	n.out, n.consumers = nil, nil
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
			n.consumers = append(n.consumers, r.targets...)
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
