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

// gossipEvery is how often a worker asks what others have committed, unless they
// tell it by themselves, and sizesEvery how much waits for their partitions.
const (
	gossipEvery = 50 * time.Millisecond
	sizesEvery  = time.Second
)

// gossip tells the jobs of this process what partitions of others have committed:
// their reports, which say what rows there are to read (D-10, D-16), and how full
// their inboxes are (D-18).
type gossip struct {
	env     *environment
	plan    *plan
	foreign map[store.PartitionID]*stranger
	// owners are those of partitions as of an assignment.
	owners     map[store.PartitionID]owner
	assignment uint64

	deafToSizes, deafToReports outage
}

func (e *environment) newGossip(p *plan, parts []store.Partition) *gossip {
	g := &gossip{env: e, plan: p, foreign: map[store.PartitionID]*stranger{}}
	for i := range parts {
		if n := p.node(parts[i].Computation); n != nil && !e.mine(&parts[i]) {
			g.foreign[parts[i].ID] = &stranger{node: n, heard: e.clock.mono()}
		}
	}
	return g
}

// run asks until the round ends. That the store does not answer stops nobody else.
func (g *gossip) run(ctx context.Context) error {
	if len(g.foreign) == 0 {
		return nil
	}
	asked := -sizesEvery
	for told := (&store.Hint{}); ; told = g.listen(ctx) {
		if now := g.env.clock.mono(); now-asked >= sizesEvery {
			asked, told.All = now, true // a hint may be lost
			g.warn(ctx, &g.deafToSizes, "the inboxes of other workers cannot be read", g.measure(ctx))
		}
		if err := g.hear(ctx, told); err != nil || told.All { // else it may not have asked
			g.warn(ctx, &g.deafToReports, "what other workers have done cannot be read", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-g.env.halt.Load().done:
			return nil
		default:
		}
	}
}

func (g *gossip) warn(ctx context.Context, o *outage, what string, err error) {
	if ctx.Err() == nil {
		o.tell(g.env.log, what, err)
	}
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

// hear passes on the reports that are new, and what workers have told before all
// reports are read.
func (g *gossip) hear(ctx context.Context, told *store.Hint) error {
	var t *tidings
	var held []store.PartitionID
	var deaf error
	if told.All && g.plan.talks() {
		t, held, deaf = g.ask(ctx)
	}
	reports, err := g.read(ctx, told)
	if err != nil {
		return errors.Join(deaf, fmt.Errorf("read reports: %w", err))
	}
	for i := range reports {
		r := &reports[i]
		if f := g.foreign[r.Partition]; f != nil && (f.report == nil || !r.Equal(f.report)) {
			before := f.report
			f.report, f.heard = r, g.env.clock.mono()
			g.pass(f.node, r, before)
			g.align(r.Partition, f)
		}
	}
	if t != nil {
		g.believe(t, held)
	}
	return deaf
}

func (g *gossip) read(ctx context.Context, told *store.Hint) ([]store.Report, error) {
	if told.All {
		return g.env.store.Reports(ctx)
	}
	of := slices.DeleteFunc(told.Reporters, func(id store.PartitionID) bool { return g.foreign[id] == nil })
	if len(of) == 0 {
		return nil, nil
	}
	return g.env.store.(store.Hinter).ReportsOf(ctx, of)
}

func (g *gossip) pass(n *node, r, before *store.Report) {
	for _, id := range n.consumers {
		if g.foreign[id] != nil {
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
