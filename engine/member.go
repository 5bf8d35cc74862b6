package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/partition"
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
	// be wrong; all workers go by this one.
	Now() int64
}

// gossipEvery is how often a worker asks what others have committed, unless they
// tell it by themselves, and sizesEvery how much waits for their partitions.
const (
	gossipEvery = 50 * time.Millisecond
	sizesEvery  = time.Second
)

// mine tells whether the process runs a partition.
func (e *environment) mine(p *store.Partition) bool {
	return e.member == nil || p.Worker == e.member.Worker()
}

// leads tells whether the process may change the layout.
func (e *environment) leads() bool {
	if e.member == nil {
		return true
	}
	v, _ := e.member.View()
	return v.Lease.Holder == e.member.Worker()
}

// ErrSpecChanged tells that another static spec was submitted than the one that this
// process was prepared for: prepare again.
var ErrSpecChanged = errors.New("another static spec was submitted")

// Submit stores the pipeline, for workers to run: its spec, and its partitions. A
// pipeline that is there takes the new spec, if the data in it allows that. Errors
// are as those of Run; after one, nothing is changed.
func (p *Pipeline) Submit(ctx context.Context, s store.Store) error { return p.open(ctx, s) }

// enter makes the store this pipeline's. A worker finds it so, or does not run.
func (p *Pipeline) enter(ctx context.Context, s store.Store) error {
	if p.opts.Member == nil {
		return p.open(ctx, s)
	}
	stored, _, _, err := p.compare(ctx, s)
	switch {
	case err != nil:
		return err
	case stored == nil:
		return errors.New("no pipeline was submitted to the store: submit one with rondo submit")
	case stored.Static != p.opts.Spec.StaticText:
		return ErrSpecChanged
	}
	if err := p.plan.check(ctx, s); err != nil {
		return err
	}
	return p.plan.attach(ctx, s)
}

// WorkerGroup is the worker_group of a computation, or of the one whose sink it is.
func (p *Pipeline) WorkerGroup(computation string) string {
	n := p.plan.node(computation)
	if n == nil {
		return ""
	}
	return p.opts.Spec.Pipeline.Computations[n.owner].WorkerGroup
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
	for {
		v, changed := e.member.View()
		over, err := e.follow(ctx, p, parts, v, &known)
		if err != nil && ctx.Err() == nil {
			e.log.Warn("what has changed in the cluster cannot be read", "error", err)
		}
		if errors.Is(err, ErrSpecChanged) {
			return err
		}
		if over {
			e.halt.Load().end()
			e.exchange.wakeAll()
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.halt.Load().done:
			return nil
		case <-changed:
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
	if v.Unfinished == 0 && v.Layout > 0 {
		return true, nil
	}
	if v.Layout == known.Layout && v.Assignment == known.Assignment {
		return false, nil
	}
	now, err := e.store.Partitions(ctx)
	if err != nil {
		return false, err
	}
	known.Layout, known.Assignment = v.Layout, v.Assignment
	return !slices.EqualFunc(parts, now, func(a, b store.Partition) bool {
		return a.ID == b.ID && e.mine(&a) == e.mine(&b)
	}), nil
}

// gossip tells the jobs of this process what partitions of others have committed:
// their reports, which say what rows there are to read (D-10, D-16), and how full
// their inboxes are (D-18).
type gossip struct {
	env     *environment
	plan    *plan
	foreign map[store.PartitionID]bool
	seen    map[store.PartitionID]*store.Report
}

func (e *environment) newGossip(p *plan, parts []store.Partition) *gossip {
	g := &gossip{env: e, plan: p, foreign: map[store.PartitionID]bool{}, seen: map[store.PartitionID]*store.Report{}}
	for i := range parts {
		if !e.mine(&parts[i]) {
			g.foreign[parts[i].ID] = true
		}
	}
	return g
}

// run asks until the round ends. That the store does not answer stops nobody else.
func (g *gossip) run(ctx context.Context) error {
	var sized time.Duration
	told := &store.Hint{All: true}
	for len(g.foreign) > 0 {
		if err := g.hear(ctx, told); err != nil && ctx.Err() == nil {
			g.env.log.Warn("reports of other workers cannot be read", "error", err)
		}
		told = g.listen(ctx)
		if now := g.env.clock.mono(); now-sized >= sizesEvery {
			sized, told.All = now, true // a hint may be lost
			if err := g.measure(ctx); err != nil && ctx.Err() == nil {
				g.env.log.Warn("the inboxes of other workers cannot be read", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-g.env.halt.Load().done:
			return nil
		default:
		}
	}
	return nil
}

// listen waits until others have told something, or for a moment.
func (g *gossip) listen(ctx context.Context) *store.Hint {
	ctx, cancel := context.WithTimeout(ctx, gossipEvery)
	defer cancel()
	hinter, ok := g.env.store.(store.Hinter)
	if !ok {
		<-ctx.Done()
		return &store.Hint{All: true}
	}
	told, err := hinter.NextHint(ctx)
	if err != nil {
		<-ctx.Done() // the store may be closed
		return &store.Hint{}
	}
	return told
}

// hear passes on the reports that are new.
func (g *gossip) hear(ctx context.Context, told *store.Hint) error {
	reports, err := g.read(ctx, told)
	if err != nil {
		return fmt.Errorf("read reports: %w", err)
	}
	for i := range reports {
		r := &reports[i]
		if before := g.seen[r.Partition]; g.foreign[r.Partition] && (before == nil || !r.Equal(before)) {
			g.seen[r.Partition] = r
			g.pass(r, before)
		}
	}
	return nil
}

func (g *gossip) read(ctx context.Context, told *store.Hint) ([]store.Report, error) {
	if told.All {
		return g.env.store.Reports(ctx)
	}
	of := slices.DeleteFunc(told.Reporters, func(id store.PartitionID) bool { return !g.foreign[id] })
	if len(of) == 0 {
		return nil, nil
	}
	return g.env.store.(store.Hinter).ReportsOf(ctx, of)
}

func (g *gossip) pass(r, before *store.Report) {
	n := g.plan.node(r.Computation)
	if n == nil {
		return
	}
	for _, id := range n.consumers {
		if g.foreign[id] {
			continue
		}
		if before != nil && before.Generation == r.Generation && before.LastRow(id) == r.LastRow(id) {
			g.env.exchange.post(id, partition.Handover{Report: r})
		} else {
			g.env.exchange.missed(id, r)
		}
	}
}

func (g *gossip) measure(ctx context.Context) error {
	sizes, err := g.env.store.InboxSizes(ctx)
	if err != nil {
		return err
	}
	g.env.exchange.measured(sizes)
	return nil
}

// missed tells a partition's job of rows that it has to read from the store.
func (x *exchange) missed(id store.PartitionID, r *store.Report) {
	x.mu.Lock()
	b := x.boxes[id]
	if b != nil {
		b.rows.Store(true)
		b.lose(partition.Handover{Report: r})
	}
	x.mu.Unlock()
	if b != nil {
		b.wake()
	}
}

// measured sets how much waits for each partition, whoever produced it. What is
// committed meanwhile is seen by the next measurement.
func (x *exchange) measured(sizes []store.InboxSize) {
	waiting := map[store.PartitionID]store.InboxSize{}
	for _, s := range sizes {
		waiting[s.Target] = s
	}
	for _, id := range x.targets() {
		x.resize(id, func(s *inboxSize) {
			s.messages.Store(int64(waiting[id].Messages))
			s.bytes.Store(int64(waiting[id].Bytes))
		})
	}
}

func (x *exchange) targets() []store.PartitionID {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Collect(maps.Keys(x.sizes))
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
