package engine

import (
	"sync"
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// idleOf says when partitions of the computation that writes a stream are idle, nil
// for never.
func idleOf(producer *spec.Computation) *partition.Idle {
	if producer == nil || producer.Watermark.Generator == nil || producer.Watermark.Generator.IdlePartitions == nil {
		return nil
	}
	g := producer.Watermark.Generator
	return &partition.Idle{After: g.IdlePartitions.Duration, MaxRatio: g.IdlePartitions.MaxRatio, Bound: g.OutOfOrdernessBound}
}

// alignments are the groups of sources that wait for each other
// (watermark_alignment), and the streams that sources wait for, shared by the jobs of a
// round.
type alignments struct {
	mu       sync.Mutex
	groups   map[string]*alignmentGroup
	blockers []*blocker
}

type alignmentGroup struct {
	partition.Alignment
	members []store.PartitionID
}

// newAlignments joins all source partitions that are not completed, also those that
// other workers run: one that never starts counts too. Of theirs, gossip tells when
// they are idle.
func newAlignments(p *plan, mine func(*store.Partition) bool, now time.Duration) *alignments {
	a := &alignments{groups: map[string]*alignmentGroup{}, blockers: newBlockers(p, mine, now)}
	for _, n := range p.nodes {
		if n.alignment == nil {
			continue
		}
		g := a.groups[n.alignment.GroupName]
		if g == nil {
			g = &alignmentGroup{}
			a.groups[n.alignment.GroupName] = g
		}
		g.members = append(g.members, n.join(&g.Alignment, n.alignment.DriftBound, mine, now)...)
	}
	return a
}

// join makes the partitions of a node members of an alignment, and returns them.
func (n *node) join(a *partition.Alignment, drift time.Duration, mine func(*store.Partition) bool, now time.Duration) (joined []store.PartitionID) {
	for i := range n.partitions {
		part := &n.partitions[i]
		if part.State == store.Completed {
			continue
		}
		idleAfter := n.idleAfter()
		if !mine(part) {
			idleAfter = 0
		}
		a.Join(now, part.ID, drift, idleAfter)
		joined = append(joined, part.ID)
	}
	return joined
}

// idleAfter is when a partition of the source is idle, 0 for never.
func (n *node) idleAfter() time.Duration {
	if n.generator == nil || n.generator.IdlePartitions == nil {
		return 0
	}
	return n.generator.IdlePartitions.Duration
}

// align tells the group how far the source has come, and the machine how far it may
// go.
func (j *job) align(now visit.Instant) {
	if j.node.alignment == nil {
		return
	}
	a, id := j.env.alignments.Load(), j.stored.Partition.ID
	wake := a.report(now.Mono, j.node, id, j.machine.Source())
	if limit := a.limit(now.Mono, j.node, id); limit != j.limit {
		j.limit = limit
		j.machine.Step(now, limit)
	}
	j.env.exchange.wake(wake)
}

// report notes how far a partition of a group has come, and returns whose limits may
// have changed.
func (a *alignments) report(now time.Duration, n *node, id store.PartitionID, p partition.Progress) []store.PartitionID {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g := a.groups[n.alignment.GroupName]; g.Report(now, id, p) {
		return g.members
	}
	return nil
}

func (a *alignments) limit(now time.Duration, n *node, id store.PartitionID) partition.Aligned {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.groups[n.alignment.GroupName].Limit(now, id)
}
