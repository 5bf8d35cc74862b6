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
	delayPlan
	readers []store.PartitionID
}

// delayPlan is a stream that a source stays behind: its name in the pipeline, who moves
// it, its name there, and by how much. Reports have its name in the pipeline.
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
func newBlockers(p *plan, mine func(*store.Partition) bool, now time.Duration) (out []*blocker) {
	for _, n := range p.nodes {
		for _, d := range n.delays {
			i := slices.IndexFunc(out, func(b *blocker) bool { return b.name == d.name })
			if i < 0 {
				i = len(out)
				out = append(out, &blocker{delayPlan: d})
				p.node(d.computation).join(&out[i].Alignment, 0, mine, now)
			}
			out[i].readers = append(out[i].readers, ids(n.partitions)...)
		}
	}
	return out
}

// tellBlockers adds to each computation the streams of its own that sources stay
// behind, to be told to other workers.
func (p *plan) tellBlockers() {
	for _, n := range p.nodes {
		for _, d := range n.delays {
			owner := p.node(d.computation)
			told := func(o partition.Output) bool { return o.Stream == d.stream || o.Stream == d.name }
			if !slices.ContainsFunc(owner.outputs, told) && !slices.ContainsFunc(owner.told, told) {
				owner.told = append(owner.told, partition.Output{Stream: d.name, Parents: []string{d.stream}})
			}
		}
	}
}

// hold tells how far the streams of the job have come, for sources that wait for them,
// and the machine how far it may take rows itself.
func (j *job) hold(now visit.Instant) {
	a := j.env.alignments.Load()
	j.env.exchange.wake(a.move(now.Mono, j.node, j.stored.Partition.ID, func(d *delayPlan) partition.Progress { return j.progress(d, now) }))
	if len(j.node.delays) == 0 {
		return
	}
	if limit := a.behind(j.node.delays, now.Mono); limit != j.delay {
		j.delay = limit
		j.machine.Step(now, limit)
	}
}

// progress is how far a stream of the job has come.
func (j *job) progress(d *delayPlan, now visit.Instant) partition.Progress {
	state, watermark := j.machine.StreamTime(d.stream, now)
	p := j.machine.Source()
	p.Watermark, p.Ended = watermark, state == store.Finished
	return p
}

// move notes how far a partition's streams have come, and returns the sources that may
// go on.
func (a *alignments) move(now time.Duration, n *node, id store.PartitionID, progress func(*delayPlan) partition.Progress) (readers []store.PartitionID) {
	for _, b := range a.blockers {
		if b.computation != n.id {
			continue
		}
		p := progress(&b.delayPlan)
		a.mu.Lock()
		if b.Report(now, id, p) {
			readers = append(readers, b.readers...)
		}
		a.mu.Unlock()
	}
	return readers
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
