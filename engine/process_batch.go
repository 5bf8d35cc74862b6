package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/visit"
)

// calls are the methods that a function has.
type calls struct {
	onMessage  flow.RowFunction
	onMessages flow.BatchFunction
	onVisit    flow.RowVisitFunction
	onVisits   flow.BatchVisitFunction
}

func callsOf(f flow.Function) (c calls) {
	c.onMessage, _ = f.(flow.RowFunction)
	c.onMessages, _ = f.(flow.BatchFunction)
	c.onVisit, _ = f.(flow.RowVisitFunction)
	c.onVisits, _ = f.(flow.BatchVisitFunction)
	return c
}

// runMessageBatch gives all messages of the epoch to one call; it cannot be cut
// between two of them.
func (p *functionProcessor) runMessageBatch(ctx context.Context, began time.Duration, res *result) error {
	if len(p.messages) == 0 {
		return nil
	}
	p.busy.begin(began, p.messages[0].Key)
	p.rt.begin()
	for i := range p.messages {
		m := &p.messages[i]
		p.rt.input(p.table.byKey[m.Key.Encoded()], &m.Meta)
	}
	if err := p.rt.end(p.call.onMessages.OnMessages(ctx, &p.rt, p.messages, &p.rt)); err != nil {
		return p.busy.wrap(fmt.Errorf("a batch of %d messages: %w", len(p.messages), err))
	}
	res.processed.Messages = len(p.messages)
	return nil
}

// runVisitBatch gives visits of one stream to one call: as many as their time
// allows, by what visits took before.
func (p *functionProcessor) runVisitBatch(ctx context.Context, e *partition.Epoch, vs partition.Visits, res *result) error {
	visits, outcome, err := p.batchOf(e, vs, res.processed.MessageTime)
	res.processed.Visits[vs.Visitor] = outcome
	if err != nil || len(visits) == 0 {
		return err
	}
	before := p.clock.mono()
	p.busy.begin(before, visits[0].Key)
	p.rt.begin()
	for i := range visits {
		p.rt.input(p.table.byKey[visits[i].Key.Encoded()], &visits[i].Meta)
	}
	if err := p.rt.end(p.call.onVisits.OnVisits(ctx, &p.rt, visits, &p.rt)); err != nil {
		return p.busy.wrap(fmt.Errorf("a batch of %d visits by %s: %w", len(visits), visits[0].StreamID, err))
	}
	p.visitTime = (p.visitTime + (p.clock.mono()-before)/time.Duration(len(visits))) / 2
	return nil
}

// batchOf picks the visits of a batch, and says what becomes of the first ones
// offered: picked, or gone (KV-28).
func (p *functionProcessor) batchOf(e *partition.Epoch, vs partition.Visits, messages time.Duration) (out []flow.Visit, outcome visit.Outcome, err error) {
	plan := &p.node.visitors[vs.Visitor]
	for i := range vs.Visits {
		v := &vs.Visits[i]
		if !e.Budget.MoreVisits(i, messages, time.Duration(len(out))*p.visitTime, p.router.outBytes) {
			break
		}
		present, err := p.adopted(v).present(plan.names)
		if err != nil {
			return nil, outcome, err
		}
		if !present {
			outcome.Gone++
			continue
		}
		outcome.Delivered++
		out = append(out, p.input(plan, v, flow.NewKey(p.node.key, v.Key.Bytes)))
	}
	return out, outcome, nil
}

// adopted returns the state of a visited key, shared by the epoch.
func (p *functionProcessor) adopted(v *visit.Visit) *keyState {
	state, shared := p.visited(v)
	if !shared {
		p.adopt(state)
	}
	return state
}
