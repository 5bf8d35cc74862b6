package engine

import (
	"context"
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// scales follow the load of computations while this process leads. They belong to the
// goroutine of the round that follows it.
type scales struct {
	of     map[*node]*partition.Scale
	totals map[store.PartitionID]uint64 // at the last look
	at     time.Duration
}

// slowestLook is how often the load is looked at, unless partition counts change
// faster.
const slowestLook = 10 * time.Second

// followLoad asks for the numbers of partitions that the load wants, until the round
// ends. A new leader begins anew, and so changes nothing for a while.
func (e *environment) followLoad(ctx context.Context, p *Pipeline) {
	var o outage
	for {
		var look <-chan time.Time
		if every, follows := e.lookEvery(p.plan); follows {
			look = time.After(every)
		}
		select {
		case <-ctx.Done():
			return
		case <-e.ordered:
			continue
		case <-look:
		}
		if !e.leads() || e.state() != Running {
			e.scales = scales{}
			continue
		}
		if err := e.lookAtLoad(ctx, p.plan); ctx.Err() == nil {
			o.tell(e.log, "the load cannot be read, the numbers of partitions stay", err)
		}
	}
}

// follows tells that the number of a node's partitions follows its load.
func (n *node) follows(d *spec.DynamicComputation) bool {
	return n.kind == store.RangePartition && d.AutoPartitionCount && d.DesiredPartitionCount == nil
}

func (e *environment) lookEvery(p *plan) (every time.Duration, follows bool) {
	o := e.orders.Load()
	every = slowestLook
	for _, n := range p.nodes {
		if d := o.of(n); n.follows(d) {
			every, follows = min(every, max(min(d.DoubleDelay, d.HalfDelay)/20, publishEvery)), true
		}
	}
	return every, follows
}

func (e *environment) lookAtLoad(ctx context.Context, p *plan) error {
	totals, err := e.store.Totals(ctx)
	if err != nil {
		return err
	}
	before, o := e.scales, e.orders.Load()
	e.scales = scales{of: map[*node]*partition.Scale{}, totals: map[store.PartitionID]uint64{}, at: e.clock.mono()}
	for _, t := range totals {
		e.scales.totals[t.Partition] = t.Totals.Messages + t.Totals.Timers
	}
	for _, n := range p.nodes {
		d := o.of(n)
		if !n.follows(d) {
			continue
		}
		s := before.of[n]
		if s == nil {
			s = &partition.Scale{}
		}
		e.scales.of[n] = s
		want := s.Follow(e.scales.load(n, &before), scalingOf(d))
		if want != len(n.partitions) {
			e.log.Info("the load asks for another number of partitions", "computation", n.id, "now", len(n.partitions), "then", want)
			e.wishes.add(&wish{node: n, count: want})
		}
	}
	return nil
}

func scalingOf(d *spec.DynamicComputation) partition.Scaling {
	return partition.Scaling{
		Min: d.MinPartitionCount, Max: d.MaxPartitionCount, Each: d.DesiredMessages,
		Deviation: d.AllowedDeviation, Double: d.DoubleDelay, Half: d.HalfDelay,
	}
}

// load is what a node has done since the look before. Partitions that are new have
// taken over the counts of others, and count from the next look on.
func (s *scales) load(n *node, before *scales) partition.Load {
	l := partition.Load{Now: s.at, Count: len(n.partitions), Steady: true}
	var done uint64
	for i := range n.partitions {
		part := &n.partitions[i]
		l.Steady = l.Steady && part.State != store.Completed
		if was, known := before.totals[part.ID]; known {
			done += max(s.totals[part.ID], was) - was
		}
	}
	if passed := s.at - before.at; before.at != 0 && passed > 0 {
		l.Rate = float64(done) / passed.Seconds()
	}
	return l
}
