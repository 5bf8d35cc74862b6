package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/visit"
)

// oneEpoch is a processor over a table, driven by hand.
type oneEpoch struct {
	*functionProcessor
	table *accounts
}

func newOneEpoch(t *testing.T, visitors int, calls calls) *oneEpoch {
	t.Helper()
	table := newAccounts(t, storetest.NewModel())
	plan := tablePlan{name: "/accounts", path: "//accounts"}
	n := &node{id: "c", key: table.form.Key(), managers: []tablePlan{plan}}
	for i := range visitors {
		n.visitors = append(n.visitors, visitorPlan{stream: fmt.Sprintf("sweep%d", i), managed: []int{0}})
	}
	bound, _, err := n.bind(t.Context(), table.store)
	if err != nil {
		t.Fatal(err)
	}
	s := table.store.(store.Store)
	p := &functionProcessor{
		node: n, states: s, rows: s, tables: bound, timers: s, clock: newClock(), router: newRouter(nil, 1, func() int64 { return 0 }),
		busy: &busy{}, table: newKeyTable(), spare: &keyState{}, call: calls,
		arrived: func() bool { return false },
	}
	p.rt = callRuntime{node: n, router: p.router, table: p.table, tables: bound}
	return &oneEpoch{p, table}
}

// run gives an epoch a message for a key, if there is one, and a visit of it by each
// visit stream.
func (o *oneEpoch) run(t *testing.T, messages []flow.Message, key string) *result {
	t.Helper()
	ctx := context.Background()
	e := &partition.Epoch{Number: 1}
	hash, err := schema.KeyHash(key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range o.node.visitors {
		e.Visits = append(e.Visits, partition.Visits{Visitor: i, Visits: []visit.Visit{{Key: visit.Key{Hash: hash, Bytes: key}, Pass: 1}}})
	}
	keys := o.functionProcessor.table
	o.rt.beginEpoch(ctx, e)
	o.router.begin(1)
	keys.reset()
	for i := range messages {
		keys.want(messages[i].Key.Encoded())
	}
	keys.want(key)
	if err := o.fetch(ctx); err != nil {
		t.Fatal(err)
	}
	res := &result{}
	for i := range messages {
		if err := o.handleMessage(ctx, keys.byKey[messages[i].Key.Encoded()], &messages[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range e.Visits {
		var outcome visit.Outcome
		if err := o.runVisit(ctx, i, &e.Visits[i].Visits[0], &outcome); err != nil {
			t.Fatal(err)
		}
		res.processed.Visits = append(res.processed.Visits, outcome)
	}
	if err := o.finish(res); err != nil {
		t.Fatal(err)
	}
	return res
}

// greeter numbers what happens to a key, and tells what it then has.
type greeter struct{ told []string }

func (g *greeter) next(rt flow.Runtime, of flow.Keyed, set map[string]any) error {
	row := flow.OpenExternal(rt, "/accounts", of)
	is, there, err := row.Get()
	if err != nil {
		return err
	}
	var count, sum int64
	if there {
		count, sum = is.Int64("count"), is.Int64("sum")
	}
	edit := row.Edit().Set("count", count)
	if v, ok := set["sum"]; ok {
		return edit.Set("sum", v).Save()
	}
	g.told = append(g.told, fmt.Sprintf("%d number %d", sum, count+1))
	return edit.Set("count", count+1).Save()
}

func (g *greeter) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	return g.next(rt, m, map[string]any{"sum": m.Payload.Int64("value")})
}

func (g *greeter) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	return g.next(rt, v, nil)
}

// TestAnEpochSharesTheRowsOfItsKeys: messages before visits, and one row for all of
// them, which is written once (KV-29).
func TestAnEpochSharesTheRowsOfItsKeys(t *testing.T) {
	value, err := schema.New([]schema.Column{{Name: "value", Type: schema.TypeInt64}})
	if err != nil {
		t.Fatal(err)
	}
	message := func(o *oneEpoch, key string) flow.Message {
		k, _, err := o.table.form.Encode(schema.Row{{}, schema.String(key), schema.Int64(0), {}})
		if err != nil {
			t.Fatal(err)
		}
		return flow.Message{Key: flow.NewKey(o.node.key, k), Payload: flow.NewPayload(value, schema.Row{schema.Int64(42)})}
	}
	t.Run("EXT-03 a message and visits of one key in one epoch", func(t *testing.T) {
		g := &greeter{}
		o := newOneEpoch(t, 2, callsOf(g))
		m := message(o, "hello")
		res := o.run(t, []flow.Message{m}, m.Key.Encoded())
		if got := fmt.Sprint(g.told); got != "[42 number 1 42 number 2]" {
			t.Errorf("the visits told %s", got)
		}
		if len(res.rows) != 1 || !res.rows[0].Checked || len(res.rows[0].Was) > 0 {
			t.Errorf("the epoch writes %+v", res.rows)
		}
		if n := res.processed.Visits[0].Delivered + res.processed.Visits[1].Delivered; n != 2 {
			t.Errorf("%d visits delivered", n)
		}
	})
	t.Run("EXT-05 a row that was not loaded is refused by its key", func(t *testing.T) {
		var other, loaded error
		o := newOneEpoch(t, 0, calls{})
		mine, foreign := message(o, "mine"), message(o, "foreign")
		o.call = callsOf(onMessage(func(rt flow.Runtime, m flow.Message) error {
			_, _, loaded = flow.OpenExternal(rt, "/accounts", m).Get()
			_, _, other = flow.OpenExternal(rt, "/accounts", foreign).Get()
			o.rt.failure = nil // the test goes on
			return nil
		}))
		o.run(t, []flow.Message{mine}, mine.Key.Encoded())
		if loaded != nil {
			t.Errorf("the key in hand: %v", loaded)
		}
		if other == nil || !strings.Contains(other.Error(), "foreign") {
			t.Errorf("another key: %v", other)
		}
	})
	t.Run("PASS-13 a visit of a key whose row has gone is not delivered", func(t *testing.T) {
		g := &greeter{}
		o := newOneEpoch(t, 1, callsOf(g))
		m := message(o, "gone")
		if res := o.run(t, nil, m.Key.Encoded()); res.processed.Visits[0].Gone != 1 || len(g.told) > 0 || len(res.rows) > 0 {
			t.Errorf("visits %+v, told %v, rows %v", res.processed.Visits, g.told, res.rows)
		}
	})
}

type onMessage func(flow.Runtime, flow.Message) error

func (f onMessage) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	return f(rt, m)
}
