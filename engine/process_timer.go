package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
)

// runTimers handles the timers of the epoch, after its messages. Those of a key
// that was cleared before are passed over.
func (p *functionProcessor) runTimers(ctx context.Context, e *partition.Epoch, began time.Duration, res *result) error {
	if p.call.onTimers != nil {
		return p.runTimerBatch(ctx, e, began, res)
	}
	for i := range e.Timers {
		now := p.clock.mono()
		if !e.Budget.MoreTimers(i, now-began, p.router.outBytes) {
			break
		}
		due := &e.Timers[i]
		res.processed.Timers++
		state := p.table.byKey[due.Key]
		if state.cleared {
			continue
		}
		t := p.timer(e, i)
		p.fire(due)
		p.busy.begin(now, t.Key)
		if err := p.runTimer(ctx, state, &t); err != nil {
			return err
		}
	}
	return nil
}

func (p *functionProcessor) fire(due *partition.DueTimer) {
	p.rt.timers = append(p.rt.timers, timerOp{kind: timerFired, id: due.TimerID})
}

func (p *functionProcessor) timer(e *partition.Epoch, i int) flow.Timer {
	due := &e.Timers[i]
	return flow.Timer{
		Meta: flow.Meta{
			ID: flow.MessageID{
				Generation: uint64(p.router.generation), Epoch: e.Number,
				Stream: p.node.timers[due.Stream].index, Index: uint32(i),
			},
			StreamID:        due.TimerID.Stream,
			SystemTimestamp: flow.Time(p.router.system),
			EventTimestamp:  flow.Time(due.Event),
		},
		Key: flow.NewKey(p.node.key, due.Key), TriggerTimestamp: flow.Time(due.Trigger),
	}
}

// runTimer handles one timer. One that fails is left out if the spec says so
// (D-24); it has fired all the same.
func (p *functionProcessor) runTimer(ctx context.Context, state *keyState, t *flow.Timer) error {
	call := func() error {
		p.rt.begin()
		p.rt.input(state, &t.Meta)
		return p.rt.end(p.call.onTimer.OnTimer(ctx, &p.rt, *t, &p.rt))
	}
	if p.policy.timer == failErrors {
		return p.namedTimer(call(), t)
	}
	p.one[0] = state
	if err := p.attempt(p.one[:], call); err != nil {
		return p.failedTimer(t, err)
	}
	return nil
}

func (p *functionProcessor) namedTimer(err error, t *flow.Timer) error {
	if err == nil {
		return nil
	}
	return p.busy.wrap(fmt.Errorf("timer %s of stream %s, set to %s: %w", t.ID, t.StreamID, t.TriggerTimestamp, err))
}

// runTimerBatch gives all timers of the epoch to one call; it cannot be cut between
// two of them.
func (p *functionProcessor) runTimerBatch(ctx context.Context, e *partition.Epoch, began time.Duration, res *result) error {
	var timers []flow.Timer
	for i := range e.Timers {
		if due := &e.Timers[i]; !p.table.byKey[due.Key].cleared {
			timers = append(timers, p.timer(e, i))
			p.fire(due)
		}
	}
	res.processed.Timers = len(e.Timers)
	if len(timers) == 0 {
		return nil
	}
	return p.halve(len(timers), func(from, to int) error {
		some := timers[from:to]
		p.busy.begin(began, some[0].Key)
		input := func(i int) (flow.Key, *flow.Meta) { return some[i].Key, &some[i].Meta }
		return p.callBatch(len(some), input, func() error { return p.call.onTimers.OnTimers(ctx, &p.rt, some, &p.rt) })
	}, func(i int, err error) error {
		p.busy.begin(began, timers[i].Key)
		return p.failedTimer(&timers[i], err)
	})
}

// failedTimer does with a timer that failed, and left nothing behind, as the policy
// says.
func (p *functionProcessor) failedTimer(t *flow.Timer, cause error) error {
	return p.failedInput(p.policy.timer, p.namedTimer(cause, t), letter{
		meta: &t.Meta, cause: cause, path: "/timers/" + t.StreamID + "/failed", count: "failed_timers",
		column: func(name string) (schema.Value, bool) { return keyColumn(t.Key, name) },
	})
}

// keyColumn is a column of a key.
func keyColumn(k flow.Key, name string) (v schema.Value, ok bool) {
	at, ok := k.Schema().Index(name)
	if !ok {
		return v, false
	}
	row, err := k.Row()
	if err != nil || at >= len(row) {
		return v, false
	}
	return row[at], true
}
