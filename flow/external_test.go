package flow_test

import (
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// external is a runtime with a table, and a message.
func external(t *testing.T) (*flowtest.Runtime, flow.Message) {
	t.Helper()
	rt, msg := one(t)
	columns, err := schema.New([]schema.Column{
		{Name: "hash", Type: schema.TypeUint64, SortOrder: "ascending"}, {Name: "count", Type: schema.TypeInt32, Required: true},
		{Name: "note", Type: schema.TypeUTF8},
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.NewTable(columns)
	if err != nil {
		t.Fatal(err)
	}
	rt.SetTable("/t", table)
	return rt, msg
}

func TestExternalRowsAreSharedByAnEpochAndStored(t *testing.T) {
	rt, msg := external(t)
	row := flow.OpenExternal(rt, "/t", msg)
	if _, there, err := row.Get(); there || err != nil {
		t.Fatalf("before: %v, %v", there, err)
	}
	if err := row.Edit().Set("count", 1).Set("note", "a").Save(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		is, there, err := flow.OpenExternal(rt, "/t", flow.Visit{Key: msg.Key}).Get()
		if err != nil || !there || is.Int64("count") != 1 || is.String("note") != "a" || is.Uint64("hash") != 1 {
			t.Fatalf("%v, %v, %v", is.Row(), there, err)
		}
		endEpoch(t, rt)
	}
	if err := flow.OpenExternal(rt, "/t", msg).Edit().Set("count", 2).Save(); err != nil {
		t.Fatal(err)
	}
	if is, _, _ := row.Get(); is.String("note") != "a" {
		t.Errorf("a column that was not set is %q", is.String("note"))
	}
	if err := rt.ClearKey(msg); err != nil {
		t.Fatal(err)
	}
	if is, there, _ := flow.OpenExternal(rt, "/t", msg).Get(); !there || is.Int64("count") != 2 {
		t.Error("ClearKey removed an external row")
	}
	if err := flow.OpenExternal(rt, "/t", msg).Clear(); err != nil {
		t.Fatal(err)
	}
	endEpoch(t, rt)
	if _, there, _ := flow.OpenExternal(rt, "/t", msg).Get(); there {
		t.Error("the row is there after Clear")
	}
}

func TestWrongChangesOfExternalRowsChangeNothing(t *testing.T) {
	rt, msg := external(t)
	row := flow.OpenExternal(rt, "/t", msg)
	for want, err := range map[string]error{
		"null in a required column": row.Edit().Set("note", "a").Save(),
		"no column \"counts\"":      row.Edit().Set("counts", 1).Save(),
		"belongs to the key":        row.Edit().Set("hash", uint64(2)).Save(),
		"out of range":              row.Edit().Set("count", int64(1)<<40).Set("note", "a").Save(),
		"there is no table /other":  flow.OpenExternal(rt, "/other", msg).Clear(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, there, _ := row.Get(); there {
		t.Error("a row was made")
	}
}
