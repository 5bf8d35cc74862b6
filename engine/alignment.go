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

// newAlignments joins all source partitions that are not completed: one that never
// starts counts too.
func newAlignments(p *plan, now time.Duration) *alignments {
	a := &alignments{groups: map[string]*alignmentGroup{}, blockers: newBlockers(p, now)}
	for _, n := range p.nodes {
		if n.alignment == nil {
			continue
		}
		g := a.groups[n.alignment.GroupName]
		if g == nil {
			g = &alignmentGroup{}
			a.groups[n.alignment.GroupName] = g
		}
		for _, part := range n.partitions {
			if part.State != store.Completed {
				g.Join(now, part.ID, n.alignment.DriftBound, n.idleAfter())
				g.members = append(g.members, part.ID)
			}
		}
	}
	return a
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
	a.mu.Lock()
	g := a.groups[j.node.alignment.GroupName]
	moved := g.Report(now.Mono, id, j.machine.SourceWatermark(), j.machine.SourceEnded())
	limit := g.Limit(now.Mono, id)
	a.mu.Unlock()
	if limit != j.limit {
		j.limit = limit
		j.machine.Step(now, limit)
	}
	if moved {
		j.env.exchange.wake(g.members)
	}
}
