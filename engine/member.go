package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// Membership is the place of a process among those that run a pipeline together.
type Membership interface {
	// Worker is the id under which partitions are assigned to the process.
	Worker() string
	// View returns what is known of the cluster, and a channel that is closed once
	// something else is.
	View() (*store.View, <-chan struct{})
	// Now is the time by the store's clock, unix nanoseconds. That of a machine may
	// be wrong; all workers go by this one. It does not go back.
	Now() int64
	// Lacks tells the others what this process cannot run.
	Lacks(what []Lack)
	// Stranded tells of which computations some of these partitions have no worker that
	// can run them, and why.
	Stranded(parts []store.Partition) map[string]string
	Talk
}

// mine tells whether the process runs a partition.
func (e *environment) mine(p *store.Partition) bool {
	return e.member == nil || p.Worker == e.member.Worker()
}

// leads tells whether the process may change the layout.
func (e *environment) leads() bool { return e.member == nil || e.term() > 0 }

// term is that of the lease, 0 for a process that does not hold it. Holder and term are
// of one view: with the term of somebody else's lease nothing would fence this process.
func (e *environment) term() uint64 {
	if e.member == nil {
		return 0
	}
	v, _ := e.member.View()
	if v.Lease.Holder != e.member.Worker() {
		return 0
	}
	return v.Lease.Term
}

// ErrSpecChanged tells that another static spec was submitted than the one that this
// process was prepared for: prepare again.
var ErrSpecChanged = errors.New("another static spec was submitted")

// Submit stores the pipeline, for workers to run: its spec, and its partitions. A
// pipeline that is there takes the new spec, if the data in it allows that. Errors
// are as those of Run; after one, nothing is changed.
func (p *Pipeline) Submit(ctx context.Context, s store.Store) error {
	if err := p.plan.shareable(); err != nil {
		return err
	}
	stored, err := s.Pipeline(ctx)
	if err != nil {
		return fmt.Errorf("read the stored pipeline: %w", err)
	}
	if stored != nil && stored.Target == store.ToDrain && stored.Static != p.opts.Spec.StaticText {
		return fmt.Errorf("%w: wait until it has stopped, and submit the changed spec then", errDraining)
	}
	return p.open(ctx, s)
}

// enter makes the store this pipeline's. A worker finds it so, or does not run.
func (p *Pipeline) enter(ctx context.Context, s store.Store) error {
	if p.opts.Member == nil {
		return p.open(ctx, s)
	}
	if err := p.plan.shareable(); err != nil {
		return err
	}
	stored, _, parts, err := p.compare(ctx, s)
	switch {
	case err != nil:
		return err
	case stored == nil:
		return errors.New("no pipeline was submitted to the store: submit one with rondo submit")
	case stored.Static != p.opts.Spec.StaticText:
		return ErrSpecChanged
	}
	p.plan.settle(parts)
	return p.plan.ready(ctx, s, p.log)
}

// WorkerGroup is the worker_group of a computation, or of the one whose sink it is.
func (p *Pipeline) WorkerGroup(computation string) string {
	n := p.plan.node(computation)
	if n == nil {
		return ""
	}
	return p.opts.Spec.Pipeline.Computations[n.owner].WorkerGroup
}

// WorkerGroups are the worker_groups that computations have, "" for those without.
func (p *Pipeline) WorkerGroups() []string {
	groups := map[string]bool{}
	for _, c := range p.opts.Spec.Pipeline.Computations {
		groups[c.WorkerGroup] = true
	}
	return slices.Sorted(maps.Keys(groups))
}

// moved tells after a round whether there is another one, since partitions of this
// process have come or gone.
func (e *environment) moved(ctx context.Context, parts []store.Partition) bool {
	return e.member != nil && ctx.Err() == nil && !e.pausing.Load() && !finished(parts)
}

// attend follows the cluster until the round ends, and ends it when partitions
// come or go, or nothing is left to do anywhere.
func (e *environment) attend(ctx context.Context, p *Pipeline, parts []store.Partition) error {
	var known store.View // all of which the round takes into account
	var o outage
	for {
		v, changed := e.member.View()
		over, err := e.follow(ctx, p, parts, v, &known)
		var again <-chan time.Time
		if ctx.Err() == nil && !errors.Is(err, ErrSpecChanged) {
			o.tell(e.log, "what has changed in the cluster cannot be read", err)
		}
		switch {
		case errors.Is(err, ErrSpecChanged):
			return err
		case err != nil && ctx.Err() == nil:
			again = time.After(sizesEvery)
		case over:
			e.halt.Load().end()
			e.exchange.wakeAll()
			return nil
		case e.mayLack():
			again = time.After(lacksEvery)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.halt.Load().done:
			return nil
		case <-changed:
		case <-again:
			e.tellLacks(ctx, p.plan, parts)
		}
	}
}

// follow takes news of the cluster in; over tells that they end the round.
func (e *environment) follow(ctx context.Context, p *Pipeline, parts []store.Partition, v, known *store.View) (over bool, err error) {
	if v.Pipeline != known.Pipeline {
		stored, _, err := p.read(ctx, e)
		if err != nil {
			return false, err
		}
		if stored.Static != p.opts.Spec.StaticText {
			return false, ErrSpecChanged
		}
		known.Pipeline = v.Pipeline
	}
	if v.Lease != known.Lease {
		known.Lease = v.Lease
		e.wishes.look() // who leads judges them
	}
	if e.heed() || v.Unfinished == 0 && v.Layout > 0 {
		return true, nil
	}
	if v.Layout == known.Layout && v.Assignment == known.Assignment {
		e.goBy(v)
		return false, nil
	}
	now, err := e.store.Partitions(ctx)
	if err != nil {
		return false, err
	}
	known.Layout, known.Assignment = v.Layout, v.Assignment
	same := slices.EqualFunc(parts, now, func(a, b store.Partition) bool {
		return a.ID == b.ID && e.mine(&a) == e.mine(&b)
	})
	if same {
		e.goBy(v)
	}
	return !same, nil
}

// errLayout tells a job that partitions were replaced, by another worker, since its
// round began: what it would send goes where nobody reads.
var errLayout = fmt.Errorf("%w: partitions around it were replaced since", store.ErrFenced)

// current tells whether the layout that the plan is wired to is still the one that
// a partition's routing and its producers' reports are of. A commit's fence knows
// only that the routing is the stored one (D-12), which a job read just now.
func (p *plan) current(part *store.Partition, reports []store.Report) error {
	for _, r := range part.Routing {
		if c := p.node(r.Computation); c != nil && c.layout != r.Layout {
			return errLayout
		}
	}
	for i := range reports {
		if c := p.node(reports[i].Computation); c != nil && reports[i].Layout > c.layout {
			return errLayout
		}
	}
	return nil
}

// finished tells that nothing is left to do anywhere.
func finished(parts []store.Partition) bool {
	return !slices.ContainsFunc(parts, func(p store.Partition) bool { return p.State != store.Completed })
}
