package engine

import "github.com/rondo-flow/rondo/spec"

// skipErrors is the policy that leaves failed inputs out.
const skipErrors = "skip"

// policy is what becomes of inputs whose handlers fail (D-24, KV-27).
type policy struct {
	message string
	skip    map[string]bool // the visit streams that leave failed visits out
}

func newPolicy(n *node, d *spec.DynamicComputation) policy {
	p := policy{message: d.OnMessageError, skip: map[string]bool{}}
	for _, v := range n.visitors {
		p.skip[v.stream] = d.VisitStream(v.stream).OnVisitError == skipErrors
	}
	return p
}
