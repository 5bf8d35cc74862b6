package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// runVisit handles one visit, unless its key has gone since it was listed
// (KV-28).
func (p *functionProcessor) runVisit(ctx context.Context, visitor int, v *visit.Visit, o *visit.Outcome) error {
	plan := &p.node.visitors[visitor]
	state, shared := p.visited(v)
	present, err := state.visible(p.node, plan, v)
	if err != nil {
		return err
	}
	if !present {
		o.Gone++
		return nil
	}
	if p.call.onVisit != nil {
		input := p.input(plan, v, flow.NewKey(p.node.key, v.Key.Bytes))
		p.busy.begin(p.clock.mono(), input.Key)
		if err := p.handleVisit(ctx, plan, state, &input); err != nil {
			return p.leftOutVisit(plan, err, o)
		}
	}
	o.Delivered++
	if !shared && len(state.cells) > 0 {
		p.adopt(state)
	}
	return nil
}

// handleVisit calls the function. With the policy skip, a call that fails is
// undone (KV-27).
func (p *functionProcessor) handleVisit(ctx context.Context, plan *visitorPlan, state *keyState, v *flow.Visit) error {
	call := func() error {
		p.rt.begin()
		p.rt.input(state, &v.Meta)
		return p.rt.end(p.call.onVisit.OnVisit(ctx, &p.rt, *v, &p.rt))
	}
	var err error
	if p.one[0] = state; p.skips(plan) {
		err = p.attempt(p.one[:], call)
	} else {
		err = call()
	}
	if err != nil {
		err = p.busy.wrap(fmt.Errorf("visit by %s in pass %d: %w", plan.stream, v.Pass, err))
	}
	return err
}

func (p *functionProcessor) skips(plan *visitorPlan) bool { return p.policy.skip[plan.stream] }

// leftOutVisit counts a failed visit, or fails the epoch, as the policy says.
func (p *functionProcessor) leftOutVisit(plan *visitorPlan, err error, o *visit.Outcome) error {
	if !p.skips(plan) {
		return err
	}
	o.Failed++
	p.failed.add("/key_visitor/"+plan.stream+"/failed_visits", err)
	return nil
}

// visited returns the state of a visited key: the one that the epoch shares, or
// the spare one over the rows that came with the visit.
func (p *functionProcessor) visited(v *visit.Visit) (state *keyState, shared bool) {
	if state, ok := p.table.byKey[v.Key.Bytes]; ok {
		return state, true
	}
	p.spare.reset(v.Key.Bytes, nil)
	for _, part := range v.Parts {
		if k, ok := part.Rows.(*store.ListedKey); ok { // of internal states
			p.spare.stored = k.Rows
		}
	}
	return p.spare, false
}

// adopt lets the epoch share the spare state.
func (p *functionProcessor) adopt(state *keyState) {
	p.table.adopt(state)
	p.spare = p.table.spare()
}

func (p *functionProcessor) input(plan *visitorPlan, v *visit.Visit, key flow.Key) flow.Visit {
	return flow.Visit{
		Meta: flow.Meta{
			ID: flow.MessageID{
				Generation: uint64(p.router.generation), Epoch: v.List,
				Stream: plan.index, Index: uint32(v.Index),
			},
			StreamID:        plan.stream,
			SystemTimestamp: flow.Time(v.System),
			EventTimestamp:  flow.Time(v.Event),
		},
		Key: key, Pass: v.Pass, Final: v.Final,
	}
}

// finish collects what the epoch changed and emitted.
func (p *functionProcessor) finish(res *result) error {
	for _, k := range p.table.order {
		before := len(res.states) + len(res.rows)
		var err error
		if res.states, err = k.changes(res.states); err == nil {
			res.rows, err = k.rowChanges(res.rows, p.tables)
		}
		if err != nil {
			return fmt.Errorf("key %s: %w", flow.NewKey(p.node.key, k.key), err)
		}
		if len(res.states)+len(res.rows) > before && len(p.node.visitors) > 0 {
			key, err := visitKey(k.key)
			if err != nil {
				return err
			}
			res.written = append(res.written, key)
		}
	}
	res.names = p.listedNames(res)
	finishOutput(p.router, res)
	res.processed.Counts = append(res.processed.Counts, p.rt.counts...)
	return nil
}

// listedNames are the names under which the epoch writes rows and that visit streams list.
func (p *functionProcessor) listedNames(res *result) (names []string) {
	if !slices.ContainsFunc(p.node.visitors, func(v visitorPlan) bool { return len(v.listed) > 0 }) {
		return nil
	}
	wrote := func(name string) {
		if !slices.Contains(names, name) && slices.ContainsFunc(p.node.visitors, func(v visitorPlan) bool { return slices.Contains(v.listed, name) }) {
			names = append(names, name)
		}
	}
	for i := range res.states {
		if w := &res.states[i]; len(w.Value) > 0 {
			wrote(w.Name)
		}
	}
	for i := range res.rows {
		w := &res.rows[i]
		at := slices.IndexFunc(p.tables, func(t boundTable) bool { return t.id == w.Table })
		if len(w.Value) > 0 && at >= 0 {
			wrote(p.tables[at].name)
		}
	}
	return names
}

// finishOutput puts what the router collected into the result.
func finishOutput(r *router, res *result) {
	res.processed.Rows, res.payloads = r.finish()
	res.processed.MaxEvents = append(res.processed.MaxEvents, r.maxEvents...)
	res.appended = r.appended
}

func visitKey(encoded string) (visit.Key, error) {
	hash, err := schema.KeyHash(encoded)
	return visit.Key{Hash: hash, Bytes: encoded}, err
}
