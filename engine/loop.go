package engine

import (
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// waitsFor notes what an output has to wait for that a consumer reads (D-18).
//
// Computations may feed each other: streams have no cycle, but computations have loops.
// Were each to wait until the next has room, all could wait for ever once their inboxes
// are full. So what comes into a loop waits until there is room in all of it, as timers
// and visits in it do, and messages in it go on: they only become what they lead to.
func (n *node) waitsFor(p *plan, consumer *node, s *outStream) {
	targets := consumer.partitions
	loop := p.loop(consumer)
	if len(loop) > 0 {
		targets = nil
		for _, c := range loop {
			targets = append(targets, c.partitions...)
		}
	}
	if slices.Contains(loop, n) {
		s.loop = merged(s.loop, ids(targets))
	} else {
		s.ahead = merged(s.ahead, ids(targets))
	}
}

// loop are the computations that lead to a node and that it leads to, itself among them;
// none if it does not lead to itself.
func (p *plan) loop(n *node) []*node {
	after := p.after(n)
	if !slices.Contains(after, n) {
		return nil
	}
	return slices.DeleteFunc(after, func(c *node) bool { return !slices.Contains(p.after(c), n) })
}

// after are the nodes that a node leads to.
func (p *plan) after(n *node) (out []*node) {
	for todo := []*node{n}; len(todo) > 0; {
		from := todo[0]
		todo = todo[1:]
		for _, c := range p.nodes {
			reads := slices.ContainsFunc(c.inputs, func(in inputPlan) bool { return in.producer == from.id })
			if reads && !slices.Contains(out, c) {
				out, todo = append(out, c), append(todo, c)
			}
		}
	}
	return out
}

func merged(a, b []store.PartitionID) []store.PartitionID {
	a = append(a, b...)
	slices.Sort(a)
	return slices.Compact(a)
}
