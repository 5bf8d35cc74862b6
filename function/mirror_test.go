package function

import (
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// TestMirrorFollowsTheTable goes through all that may be known of a key, with and
// without a state.
func TestMirrorFollowsTheTable(t *testing.T) {
	keys, err := schema.New([]schema.Column{{Name: "hash", Type: schema.TypeUint64, Required: true}, {Name: "name", Type: schema.TypeString}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.New(append(keys.Columns(), schema.Column{Name: "value", Type: schema.TypeInt64}))
	if err != nil {
		t.Fatal(err)
	}
	changes, err := schema.New([]schema.Column{{Name: "name", Type: schema.TypeString}, {Name: "change", Type: schema.TypeString}, {Name: "value", Type: schema.TypeInt64}})
	if err != nil {
		t.Fatal(err)
	}
	node, err := yson.Parse([]byte(`{source="/source"; emit=changes}`), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	setup := flow.Setup{
		Computation: "c", Key: keys, Visits: []string{"sweep"}, Outputs: flow.Streams{"changes": changes},
		Parents: map[string][]string{"changes": {"sweep"}}, Parameters: flow.NewParameters(node, "p"),
	}
	f, err := NewMirror(setup)
	if err != nil {
		t.Fatal(err)
	}
	rt := flowtest.NewRuntime(setup.Outputs)
	key := flow.NewKey(keys, string(schema.AppendKey(nil, schema.Uint64(7), schema.String("a"))))
	row := func(v int64) flow.Joined {
		return flow.PresentRow(flow.NewPayload(table, schema.Row{schema.Uint64(7), schema.String("a"), schema.Int64(v)}))
	}
	for i, step := range []struct {
		joined flow.Joined
		change string // "" for none
	}{
		{flow.Joined{}, ""}, {flow.AbsentRow(), ""}, {row(1), "created"}, {flow.Joined{}, ""}, {row(1), ""}, {row(2), "updated"}, {flow.Joined{}, ""}, {flow.AbsentRow(), "deleted"}, {flow.AbsentRow(), ""},
	} {
		rt.SetJoined("/source", key, step.joined)
		before := len(rt.Emitted())
		if err := f.(flow.RowVisitFunction).OnVisit(t.Context(), rt, flow.Visit{Meta: flow.Meta{StreamID: "sweep"}, Key: key}, rt); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, m := range rt.Emitted()[before:] {
			got += m.Payload.String("change")
		}
		if got != step.change {
			t.Errorf("step %d, %s: %q, want %q", i, step.joined.Presence(), got, step.change)
		}
	}
	for name, want := range map[string]int64{"created": 1, "updated": 1, "deleted": 1, "unknown": 3} {
		if got := rt.Counted(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
