package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// orders are what a running pipeline goes by and may be told anew: the dynamic
// spec in force, the run-now commands and the target, as stored. They are never
// changed, only replaced; a job takes new ones at its next epoch bound.
type orders struct {
	version uint64
	spec    *spec.Spec
	runs    []store.Run
	target  store.Target // of workers
}

// newOrders reads the stored pipeline; path is that of the spec's file.
func newOrders(stored *store.Pipeline, path string) (*orders, error) {
	s, err := spec.Stored(stored.Name, path, stored.Static, stored.Dynamic)
	if err != nil {
		return nil, fmt.Errorf("the stored spec: %w", err)
	}
	return &orders{version: stored.Version, spec: s, runs: stored.Runs, target: stored.Target}, nil
}

// of returns the dynamic parameters of a node.
func (o *orders) of(n *node) *spec.DynamicComputation { return o.spec.Dynamic.Computation(n.owner) }

// run returns the run-now command of a visit stream, the zero one if there is
// none.
func (o *orders) run(n *node, stream string) visit.Run {
	i := slices.IndexFunc(o.runs, func(r store.Run) bool { return r.Computation == n.id && r.Stream == stream })
	if i < 0 {
		return visit.Run{}
	}
	return visit.Run{ID: o.runs[i].ID, Period: time.Duration(o.runs[i].Period)}
}

// check refuses what the spec allows and a machine would not take (KV-50); before
// are the orders in force.
func (o *orders) check(p *plan, before *orders) error {
	for _, n := range p.nodes {
		if !sameFunction(before.of(n), o.of(n)) {
			if err := n.checkReconfigure(o.of(n)); err != nil {
				return err
			}
		}
		if err := n.checkLookups(o.of(n)); err != nil {
			return err
		}
		for i := range n.joiners {
			if _, err := external.ParseDynamic(n.joinerParameters(n.joiners[i].name, o.of(n))); err != nil {
				return err
			}
		}
		for i := range n.visitors {
			v := &n.visitors[i]
			if err := n.visitParams(o.of(n), v, 1).Validate(); err != nil {
				return fmt.Errorf("dynamic_spec.computations.%s.key_visitor_streams.%s: %w", n.id, v.stream, err)
			}
		}
	}
	return nil
}

// obey puts orders in force, unless later ones are, and wakes everybody who
// waits. Whoever is in an epoch hears of them after it.
func (e *environment) obey(o *orders, p *plan) {
	for {
		now := e.orders.Load()
		if now.version >= o.version {
			return
		}
		if e.orders.CompareAndSwap(now, o) {
			break
		}
	}
	e.enforce(p)
	e.wishes.want(p, o)
	e.wishes.look()
	select {
	case e.ordered <- struct{}{}:
	default:
	}
	e.exchange.wakeAll()
}

// enforce gives inboxes and joiners what the orders in force say, and returns those.
// Orders and partitions may change meanwhile: whoever changes one of them comes here
// afterwards.
func (e *environment) enforce(p *plan) *orders {
	for {
		o := e.orders.Load()
		o.setJoiners(p)
		for _, b := range e.allBoards() {
			d := o.of(p.node(b.part.Computation))
			e.exchange.limit(b.part.ID, int64(d.InboxRowLimit), int64(d.InboxByteLimit))
		}
		if e.orders.Load() == o {
			return o
		}
	}
}

// takeOrders tells the machine of orders that are new to the job.
func (j *job) takeOrders(now visit.Instant) error {
	o := j.env.orders.Load()
	if o == j.orders {
		return nil
	}
	j.orders = o
	j.machine.Step(now, partition.Reconfigured{Params: j.node.params(o.of(j.node))})
	if p, ok := j.proc.(follower); ok {
		if err := p.follow(o); err != nil {
			return err
		}
	}
	j.order(now)
	return nil
}

// order tells the machine of the run-now commands. They are levels: one that was
// obeyed changes nothing, one that came too early is told again (KV-49).
func (j *job) order(now visit.Instant) {
	for i := range j.node.visitors {
		if r := j.orders.run(j.node, j.node.visitors[i].stream); r.ID > 0 {
			j.machine.Step(now, partition.RunNow{Visitor: i, Run: r})
		}
	}
}

// orderAgain repeats the commands that a visit stream has not obeyed, as one
// does that was still in the pass of the command before.
func (j *job) orderAgain(now visit.Instant, s *partition.Status) {
	for i := range s.Visitors {
		v := &s.Visitors[i]
		if r := j.orders.run(j.node, v.Stream); r.ID > v.Run.ID {
			j.machine.Step(now, partition.RunNow{Visitor: i, Run: r})
		}
	}
}
