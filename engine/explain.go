package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// Origin says where the dynamic spec in force comes from.
type Origin uint8

// The origins of a dynamic spec.
const (
	// NewFile is the file's, and the store has none yet.
	NewFile Origin = iota + 1
	// SameFile is the file's, as it was loaded before.
	SameFile
	// ChangedFile is the file's, which differs from the one that was loaded last:
	// the next run stores it.
	ChangedFile
	// SetLater is the stored one, set after the file's was loaded.
	SetLater
)

// InForce is what a run would go by.
type InForce struct {
	// Spec has the file's static part and the dynamic part that is in force.
	Spec   *spec.Spec
	Origin Origin
	// Version is the stored one, 0 if there is none.
	Version uint64
	// Partitions counts them by computation: those that the store has, or else
	// those that the first run would make; 0 for a source whose data lies in the
	// store, before the first run.
	Partitions map[string]int
}

// InForce tells what Run would go by on a store, and changes nothing; nil is a
// store that has nothing. Errors are those that Run would meet before it begins.
func (p *Pipeline) InForce(ctx context.Context, s store.Store) (*InForce, error) {
	out := &InForce{Spec: p.opts.Spec, Origin: NewFile}
	if s == nil {
		return p.count(out, nil)
	}
	stored, next, parts, err := p.compare(ctx, s)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		out.Version, out.Origin = stored.Version, origin(stored, next)
	}
	if out.Origin == SetLater {
		if out.Spec, err = spec.Stored(next.Name, p.opts.Spec.Path, next.Static, next.Dynamic); err != nil {
			return nil, fmt.Errorf("the stored dynamic spec: %w", err)
		}
	}
	return p.count(out, parts)
}

func origin(stored, next *store.Pipeline) Origin {
	switch {
	case next.Loaded != stored.Loaded:
		return ChangedFile
	case next.Dynamic != next.Loaded:
		return SetLater
	default:
		return SameFile
	}
}

// count fills in the numbers of partitions.
func (p *Pipeline) count(out *InForce, stored []store.Partition) (*InForce, error) {
	missing, err := p.plan.known().missing(stored, p.plan.layout(p.opts.Cores, stored))
	if err != nil {
		return nil, err
	}
	out.Partitions = map[string]int{}
	for _, part := range append(slices.Clone(stored), missing...) {
		out.Partitions[part.Computation]++
	}
	for _, n := range p.plan.nodes {
		completed := slices.ContainsFunc(of(stored, n.id), func(part store.Partition) bool { return part.State == store.Completed })
		if count, differs := n.wished(n.dynamic, out.Partitions[n.id]); differs && !completed {
			out.Partitions[n.id] = count // the start replaces them
		}
	}
	return out, nil
}

// known is the plan without sources that are asked for their partitions only
// when a run begins, since their data lies in the store.
func (p *plan) known() *plan {
	return &plan{nodes: slices.DeleteFunc(slices.Clone(p.nodes), func(n *node) bool {
		_, later := n.source.(connector.InStore)
		return later
	})}
}
