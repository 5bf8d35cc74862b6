package engine

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/visit"
	"github.com/rondo-flow/rondo/yson"
)

// TestOnlyCompletedPassesTellHowLongATableIs: a run-now drops the running pass, and the
// length that a table had then is none that later ones are compared with (KV-55).
func TestOnlyCompletedPassesTellHowLongATableIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	parameters, err := yson.Parse([]byte(fmt.Sprintf("{path=%q}", path)), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	groupBy, err := schema.New([]schema.Column{
		{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(key)"}, {Name: "key", Type: schema.TypeString},
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int{}
	put := func(n int) {
		clear(rows)
		for i := range n {
			rows[fmt.Sprint(i)] = i
		}
		writeTable(t, path, rows)
	}
	put(100)
	table, err := external.New(external.Options{
		Computation: "c", Name: "/source", Parameters: flow.NewParameters(parameters, "parameters"),
		GroupBy: groupBy, DataDir: t.TempDir(), Now: newClock().mono, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	scan := table.Scan()
	defer table.Close()
	defer scan.Close()
	read := func() {
		t.Helper()
		if _, err := scan.List(context.Background(), external.Slice{MaxRows: 1000, MaxBytes: 1 << 20}); err != nil {
			t.Fatal(err)
		}
	}
	n := &node{joiners: []joinerPlan{{table: table}}, visitors: []visitorPlan{{joined: []int{0}}}}
	j := &job{env: &environment{log: slog.New(slog.DiscardHandler)}, node: n}
	status := func(pass uint64, completed ...visit.Summary) *partition.Status {
		return &partition.Status{Visitors: []visit.Status{{Pass: pass}}, Passes: [][]visit.Summary{completed}}
	}
	first := visit.Summary{Pass: 4}

	j.passes = lastPasses(status(4))
	read()
	j.watchPasses(status(5, first)) // 100 rows are what counts
	put(60)
	read()
	j.watchPasses(status(6, first)) // a run-now, in the middle of pass 5
	put(35)
	read()
	if !table.Status().Doubtful {
		t.Error("of 100 rows at the last completed pass 35 are left, and the table is believed")
	}
	put(90)
	read()
	j.watchPasses(status(7, first, visit.Summary{Pass: 6}))
	put(50)
	read()
	if table.Status().Doubtful {
		t.Error("of 90 rows at the last completed pass 50 are left, and the table is not believed")
	}
}
