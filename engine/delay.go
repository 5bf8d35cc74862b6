package engine

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// blocker is a stream that sources stay behind (read_delays): how far the partitions
// that move it have come, by the rules of alignment, and who waits.
type blocker struct {
	partition.Alignment
	name, computation, stream string
	readers                   []store.PartitionID
}

// delayPlan is a stream that a source stays behind: its name in the pipeline, who moves
// it, its name there, and by how much.
type delayPlan struct {
	name, computation, stream string
	delay                     time.Duration
}

func delaysOf(p *spec.Pipeline, c *spec.Computation) (plans []delayPlan) {
	if c.Watermark.Alignment == nil {
		return nil
	}
	delays := c.Watermark.Alignment.ReadDelays
	for _, name := range slices.Sorted(maps.Keys(delays)) {
		if owner, stream := p.Locate(name); owner != nil { // or it is refused by the spec
			plans = append(plans, delayPlan{name, owner.ID, stream, delays[name]})
		}
	}
	return plans
}

// newBlockers joins the partitions that move the streams, as newAlignments does.
func newBlockers(p *plan, now time.Duration) (out []*blocker) {
	for _, n := range p.nodes {
		for _, d := range n.delays {
			i := slices.IndexFunc(out, func(b *blocker) bool { return b.name == d.name })
			if i < 0 {
				i = len(out)
				out = append(out, newBlocker(p.node(d.computation), d, now))
			}
			out[i].readers = append(out[i].readers, ids(n.partitions)...)
		}
	}
	return out
}

func newBlocker(n *node, d delayPlan, now time.Duration) *blocker {
	b := &blocker{name: d.name, computation: d.computation, stream: d.stream}
	for _, part := range n.partitions {
		if part.State != store.Completed {
			b.Join(now, part.ID, 0, n.idleAfter())
		}
	}
	return b
}

// hold tells how far the streams of the job have come, for sources that wait for them,
// and the machine how far it may take rows itself.
func (j *job) hold(now visit.Instant) {
	a, id := j.env.alignments.Load(), j.stored.Partition.ID
	for _, b := range a.blockers {
		if b.computation != j.node.id {
			continue
		}
		state, watermark := j.machine.StreamTime(b.stream, now)
		a.mu.Lock()
		moved := b.Report(now.Mono, id, watermark, state == store.Finished)
		a.mu.Unlock()
		if moved {
			j.env.exchange.wake(b.readers)
		}
	}
	if len(j.node.delays) == 0 {
		return
	}
	if limit := a.behind(j.node.delays, now.Mono); limit != j.delay {
		j.delay = limit
		j.machine.Step(now, limit)
	}
}

// behind is the least limit that the streams set.
func (a *alignments) behind(delays []delayPlan, now time.Duration) partition.Delayed {
	a.mu.Lock()
	defer a.mu.Unlock()
	least := partition.Delayed{Limit: math.MaxInt64}
	for _, d := range delays {
		b := a.blockers[slices.IndexFunc(a.blockers, func(b *blocker) bool { return b.name == d.name })]
		limit := b.Behind(now, d.delay)
		least.Limit = min(least.Limit, limit.Limit)
		if limit.Until > 0 && (least.Until == 0 || limit.Until < least.Until) {
			least.Until = limit.Until
		}
	}
	return least
}
