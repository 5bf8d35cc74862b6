package engine

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// functionProcessor runs a process function over messages, timers and visits.
type functionProcessor struct {
	node    *node
	states  store.States
	rows    store.Rows
	tables  []boundTable // of external states
	timers  store.Timers
	clock   clock
	router  *router
	decoder decoder
	call    calls
	rt      callRuntime
	busy    *busy

	table    *keyTable
	messages []flow.Message
	keys     []string
	spare    *keyState // state of the visit in hand, until it is changed
	undo     undoLog
	one      [1]*keyState
	involved []*keyState // by a batch
	failed   failures
	// visitTime is what a visit of a batch took lately.
	visitTime time.Duration

	policy policy
	skip   skipper
	reader *sourceReader           // of a computation that reads a source
	orders *orders                 // that the epoch began with
	latest *atomic.Pointer[orders] // those in force by now
	// arrived tells that messages have come that no epoch has.
	arrived func() bool
}

func newFunctionProcessor(j *job, f flow.Function) (*functionProcessor, error) {
	p := &functionProcessor{
		node: j.node, states: j.env.store, rows: j.env.store, tables: j.tables, timers: j.env.store, clock: j.env.clock, router: j.router, busy: &j.busy,
		decoder: j.node.decoder(), table: newKeyTable(), spare: &keyState{},
		latest: &j.env.orders, arrived: j.box.rows.Load,
	}
	p.call = callsOf(f)
	p.rt = callRuntime{node: j.node, router: j.router, table: p.table, tables: j.tables, lookups: newLookups(j)}
	return p, p.follow(j.orders)
}

// follow takes new orders between two epochs.
func (p *functionProcessor) follow(o *orders) error {
	before := p.orders
	p.orders, p.policy, p.skip = o, newPolicy(p.node, o.of(p.node)), newSkipper(p.node, o.of(p.node))
	for _, l := range p.rt.lookups {
		l.follow(p.node, o.of(p.node))
	}
	if before != nil && sameFunction(before.of(p.node), o.of(p.node)) {
		return nil
	}
	return p.node.reconfigure(p.call, o.of(p.node))
}

func (p *functionProcessor) leftOut() *failures { return &p.failed }

// disabled tells that a visit stream was disabled while the epoch runs: no more
// of its visits are handed out, however long the epoch may last.
func (p *functionProcessor) disabled(visitor int) bool {
	o := p.latest.Load()
	return o != p.orders && !o.of(p.node).VisitStream(p.node.visitors[visitor].stream).Enabled
}

func (p *functionProcessor) close() error { return nil }

func (p *functionProcessor) process(ctx context.Context, e *partition.Epoch, res *result) (err error) {
	p.rt.beginEpoch(ctx, e)
	p.router.begin(e.Number)
	if err := p.load(ctx, e); err != nil {
		return err
	}
	defer p.busy.end()
	defer func() {
		if r := recover(); r != nil {
			err = p.busy.wrap(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	began := p.clock.mono()
	if err := p.runMessages(ctx, e, began, res); err != nil {
		return err
	}
	if err := p.runTimers(ctx, e, began, res); err != nil {
		return err
	}
	visits := p.clock.mono()
	res.processed.MessageTime = visits - began
	if err := p.runVisits(ctx, e, visits, res); err != nil {
		return err
	}
	res.processed.VisitTime = p.clock.mono() - visits
	if err := p.finishTimers(ctx, res); err != nil {
		return err
	}
	return p.finish(res)
}

// load reads the states of all keys of the epoch at once; visits bring theirs
// along, unless those are stale or do not hold all states (KV-22).
func (p *functionProcessor) load(ctx context.Context, e *partition.Epoch) error {
	p.table.reset()
	if err := p.gather(e); err != nil {
		return err
	}
	for i := range p.messages {
		p.table.want(p.messages[i].Key.Encoded())
	}
	for i := range e.Timers {
		p.table.want(e.Timers[i].Key)
	}
	for _, vs := range e.Visits {
		plan := &p.node.visitors[vs.Visitor]
		partial := plan.names != nil || !plan.internal || len(p.tables) > 0
		for i := range vs.Visits {
			if v := &vs.Visits[i]; v.Stale || partial {
				p.table.want(v.Key.Bytes)
			}
		}
	}
	for _, l := range p.rt.lookups {
		if err := l.prepare(ctx, p, e); err != nil {
			return err
		}
	}
	return p.fetch(ctx)
}

// gather decodes the messages of the epoch, or makes them of source rows.
func (p *functionProcessor) gather(e *partition.Epoch) (err error) {
	p.messages = p.messages[:0]
	for _, s := range e.Messages {
		if p.messages, err = p.decoder.decode(p.messages, s.Row, s.From, s.To); err != nil {
			return err
		}
	}
	if p.reader != nil {
		p.gatherRows(e)
	}
	return nil
}

// stateless tells that nothing is stored by key: rows of a source have none, and
// what is passed on needs none.
func (p *functionProcessor) stateless() bool {
	_, passes := p.call.onMessage.(passOn)
	return passes || p.reader != nil
}

func (p *functionProcessor) fetch(ctx context.Context) error {
	if len(p.table.order) == 0 || p.stateless() {
		return nil
	}
	p.keys = p.keys[:0]
	for _, k := range p.table.order {
		p.keys = append(p.keys, k.key)
	}
	rows, err := p.states.GetStates(ctx, p.node.id, p.keys)
	if err != nil {
		return fmt.Errorf("load states of %d keys: %w", len(p.keys), err)
	}
	for i, k := range p.table.order {
		k.stored = rows[i]
	}
	return p.fetchRows(ctx)
}

func (p *functionProcessor) runMessages(ctx context.Context, e *partition.Epoch, began time.Duration, res *result) error {
	if p.call.onMessages != nil {
		return p.runMessageBatch(ctx, began, res)
	}
	bytes := 0
	for i := range p.messages {
		m := &p.messages[i]
		now := p.clock.mono()
		if i > 0 && !e.Budget.MoreMessages(now-began, bytes, p.router.outBytes) {
			break
		}
		p.busy.begin(now, m.Key)
		if err := p.runMessage(ctx, m); err != nil {
			return err
		}
		res.processed.Messages++
		bytes += len(m.Key.Encoded()) // the rest is bounded by the rows' bytes
	}
	return nil
}

// runMessage handles one message. One that fails is left out if the spec says so
// (D-24).
func (p *functionProcessor) runMessage(ctx context.Context, m *flow.Message) error {
	state := p.table.byKey[m.Key.Encoded()]
	if p.policy.message == failErrors {
		return p.named(p.handleMessage(ctx, state, m), m)
	}
	p.one[0] = state
	if err := p.attempt(p.one[:], func() error { return p.handleMessage(ctx, state, m) }); err != nil {
		return p.failedMessage(m, err)
	}
	return nil
}

func (p *functionProcessor) handleMessage(ctx context.Context, state *keyState, m *flow.Message) error {
	if skips, err := p.skipsMessage(m); skips || err != nil {
		return err
	}
	p.rt.begin()
	p.rt.input(state, &m.Meta)
	return p.rt.end(p.call.onMessage.OnMessage(ctx, &p.rt, *m, &p.rt))
}

func (p *functionProcessor) named(err error, m *flow.Message) error {
	if err == nil {
		return nil
	}
	if p.reader != nil {
		return p.busy.wrap(p.reader.locate(int(m.ID.Index), err))
	}
	return p.busy.wrap(fmt.Errorf("message %s of stream %s: %w", m.ID, m.StreamID, err))
}

// yieldEvery is how long visits that fill an idle partition's time keep a
// processor while others want it. The runtime would take it from them after 10 ms:
// sources and other partitions would wait that long for their turn when as many
// partitions visit as there are processors.
const yieldEvery = 50 * time.Microsecond

func (p *functionProcessor) runVisits(ctx context.Context, e *partition.Epoch, began time.Duration, res *result) error {
	res.processed.Visits = make([]visit.Outcome, len(p.node.visitors))
	var yielded time.Duration
	for _, vs := range e.Visits {
		if p.call.onVisits != nil {
			if err := p.runVisitBatch(ctx, e, vs, res); err != nil {
				return err
			}
			continue
		}
		for i := range vs.Visits {
			spent := p.clock.mono() - began
			if spent-yielded >= yieldEvery && e.Budget.Idle() {
				runtime.Gosched()
				yielded = spent
			}
			if !e.Budget.MoreVisits(i, res.processed.MessageTime, spent, p.router.outBytes, p.arrived()) || p.disabled(vs.Visitor) {
				break
			}
			if err := p.runVisit(ctx, vs.Visitor, &vs.Visits[i], &res.processed.Visits[vs.Visitor]); err != nil {
				return err
			}
		}
	}
	return nil
}
