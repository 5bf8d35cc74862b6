package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/visit"
)

// calls are the methods that a function has.
type calls struct {
	onMessage   flow.RowFunction
	onMessages  flow.BatchFunction
	onTimer     flow.RowTimerFunction
	onTimers    flow.BatchTimerFunction
	onVisit     flow.RowVisitFunction
	onVisits    flow.BatchVisitFunction
	reconfigure flow.Reconfigurable
}

func callsOf(f flow.Function) (c calls) {
	c.onMessage, _ = f.(flow.RowFunction)
	c.onMessages, _ = f.(flow.BatchFunction)
	c.onTimer, _ = f.(flow.RowTimerFunction)
	c.onTimers, _ = f.(flow.BatchTimerFunction)
	c.onVisit, _ = f.(flow.RowVisitFunction)
	c.onVisits, _ = f.(flow.BatchVisitFunction)
	c.reconfigure, _ = f.(flow.Reconfigurable)
	return c
}

// misspelled refuses methods that are called like those of a function and are
// not: they would never be called.
func (c calls) misspelled(f flow.Function) error {
	for _, m := range []struct {
		name, signature string
		right           bool
	}{
		{"OnMessage", "(context.Context, flow.Runtime, flow.Message, flow.OutputCollector) error", c.onMessage != nil},
		{"OnMessages", "(context.Context, flow.Runtime, []flow.Message, flow.OutputCollector) error", c.onMessages != nil},
		{"OnTimer", "(context.Context, flow.Runtime, flow.Timer, flow.OutputCollector) error", c.onTimer != nil},
		{"OnTimers", "(context.Context, flow.Runtime, []flow.Timer, flow.OutputCollector) error", c.onTimers != nil},
		{"OnVisit", "(context.Context, flow.Runtime, flow.Visit, flow.OutputCollector) error", c.onVisit != nil},
		{"OnVisits", "(context.Context, flow.Runtime, []flow.Visit, flow.OutputCollector) error", c.onVisits != nil},
		{"Reconfigure", "(flow.Parameters) error", c.reconfigure != nil},
	} {
		if _, there := reflect.TypeOf(f).MethodByName(m.name); there && !m.right {
			return fmt.Errorf("%s of %T is not the method that is called: it must be %s%s", m.name, f, m.name, m.signature)
		}
	}
	return nil
}

// runMessageBatch gives all messages of the epoch to one call; it cannot be cut
// between two of them.
func (p *functionProcessor) runMessageBatch(ctx context.Context, began time.Duration, res *result) error {
	if len(p.messages) == 0 {
		return nil
	}
	all, err := p.kept()
	if err != nil || len(all) == 0 {
		res.processed.Messages = len(p.messages)
		return err
	}
	err = p.halve(len(all), func(from, to int) error {
		msgs := all[from:to]
		p.busy.begin(began, msgs[0].Key)
		input := func(i int) (flow.Key, *flow.Meta) { return msgs[i].Key, &msgs[i].Meta }
		return p.callBatch(len(msgs), input, func() error { return p.call.onMessages.OnMessages(ctx, &p.rt, msgs, &p.rt) })
	}, func(i int, err error) error {
		m := &all[i]
		p.busy.begin(began, m.Key)
		return p.failedMessage(m, err)
	})
	res.processed.Messages = len(p.messages)
	return err
}

// callBatch makes one call about n inputs; if it fails, nothing of it remains.
func (p *functionProcessor) callBatch(n int, input func(i int) (flow.Key, *flow.Meta), call func() error) error {
	p.involved = p.involved[:0]
	for i := range n {
		key, _ := input(i)
		p.involved = append(p.involved, p.table.byKey[key.Encoded()])
	}
	return p.attempt(p.involved, func() error {
		p.rt.begin()
		for i, state := range p.involved {
			_, meta := input(i)
			p.rt.input(state, meta)
		}
		return p.rt.end(call())
	})
}

// halve gives n inputs to one call. If that fails, it is undone and repeated on
// halves until the guilty inputs are found, which go to single (KV-27, D-24).
func (p *functionProcessor) halve(n int, call func(from, to int) error, single func(i int, err error) error) error {
	var try func(from, to int) error
	try = func(from, to int) error {
		err := call(from, to)
		if err == nil {
			return nil
		}
		if errors.Is(err, errParents) {
			return p.busy.wrap(err)
		}
		if to-from == 1 {
			return single(from, err)
		}
		middle := (from + to) / 2
		if err := try(from, middle); err != nil {
			return err
		}
		return try(middle, to)
	}
	return try(0, n)
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
	plan, o := &p.node.visitors[vs.Visitor], &res.processed.Visits[vs.Visitor]
	err = p.halve(len(visits), func(from, to int) error {
		p.busy.begin(before, visits[from].Key)
		some := visits[from:to]
		input := func(i int) (flow.Key, *flow.Meta) { return some[i].Key, &some[i].Meta }
		return p.callBatch(len(some), input, func() error { return p.call.onVisits.OnVisits(ctx, &p.rt, some, &p.rt) })
	}, func(i int, err error) error {
		p.busy.begin(before, visits[i].Key)
		o.Delivered--
		err = p.busy.wrap(fmt.Errorf("visit by %s in pass %d: %w", plan.stream, visits[i].Pass, err))
		return p.leftOutVisit(plan, err, o)
	})
	p.visitTime = (p.visitTime + (p.clock.mono()-before)/time.Duration(len(visits))) / 2
	return err
}

// batchOf picks the visits of a batch, and says what becomes of the first ones
// offered: picked, or gone (KV-28).
func (p *functionProcessor) batchOf(e *partition.Epoch, vs partition.Visits, messages time.Duration) (out []flow.Visit, outcome visit.Outcome, err error) {
	plan := &p.node.visitors[vs.Visitor]
	for i := range vs.Visits {
		v := &vs.Visits[i]
		if !e.Budget.MoreVisits(i, messages, time.Duration(len(out))*p.visitTime, p.router.outBytes, p.arrived()) || p.disabled(vs.Visitor) {
			break
		}
		present, err := p.adopted(v).visible(p.node, plan, v)
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
