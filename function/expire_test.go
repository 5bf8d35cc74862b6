package function

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

func expireSetup(t *testing.T, parameters string) flow.Setup {
	t.Helper()
	node, err := yson.Parse([]byte(parameters), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	return flow.Setup{
		Computation: "c", Key: flowtest.Schema(t, "hash uint64 required", "name string"), Visits: []string{"sweep"},
		Externals:  map[string][]string{"/t": {"sweep"}, "/idle": nil},
		Outputs:    flow.Streams{"gone": flowtest.Schema(t, "name string", "seen int64", "pass uint64")},
		Parents:    map[string][]string{"gone": {"sweep"}},
		Parameters: flow.NewParameters(node, "p"),
	}
}

// TestExpireRemovesRowsThatAreTooOld: by each type that a time may have, at the age,
// beyond it, and where nothing can be said.
func TestExpireRemovesRowsThatAreTooOld(t *testing.T) {
	now := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	limit := now.Add(-30 * 24 * time.Hour)
	for _, c := range []struct {
		kind  schema.Type
		value schema.Value
		want  string
	}{
		{schema.TypeTimestamp, schema.Uint64(uint64(limit.UnixMicro())), "kept"},
		{schema.TypeTimestamp, schema.Uint64(uint64(limit.UnixMicro() - 1)), "expired"},
		{schema.TypeDatetime, schema.Uint64(uint64(limit.Unix())), "kept"},
		{schema.TypeDatetime, schema.Uint64(uint64(limit.Unix() - 1)), "expired"},
		{schema.TypeDate, schema.Uint64(uint64(limit.Unix()/86400 + 1)), "kept"},
		{schema.TypeDate, schema.Uint64(uint64(limit.Unix() / 86400)), "expired"},
		{schema.TypeInt64, schema.Int64(limit.Unix() - 1), "expired"},
		{schema.TypeInt64, schema.Int64(now.Unix() + 99), "kept"}, // from the future
		{schema.TypeInt64, schema.Int64(math.MaxInt64), "kept"},
		{schema.TypeInt64, schema.Int64(math.MinInt64), "expired"},
		{schema.TypeUint64, schema.Uint64(math.MaxUint64), "kept"},
		{schema.TypeInt64, schema.Null(), "undated"},
	} {
		for _, asOf := range []string{"", `as_of="2001-02-03T04:05:06Z";`} {
			f, err := NewExpire(expireSetup(t, `{table="/t"; column=seen; max_age="30d";`+asOf+`}`))
			if err != nil {
				t.Fatal(err)
			}
			visit := flow.Visit{}
			if asOf == "" {
				visit.SystemTimestamp = flow.Time(now.UnixNano())
			}
			rt, left := visitRow(t, f, c.kind, c.value, visit)
			if rt.Counted(c.want) != 1 || left != (c.want != "expired") {
				t.Errorf("%s %v, %s: want %s, the row is left: %v", c.kind, c.value, asOf, c.want, left)
			}
		}
	}
}

// visitRow visits one row of a table, and tells whether it is left.
func visitRow(t *testing.T, f flow.Function, kind schema.Type, seen schema.Value, visit flow.Visit) (*flowtest.Runtime, bool) {
	t.Helper()
	columns, err := schema.New([]schema.Column{
		{Name: "hash", Type: schema.TypeUint64, SortOrder: "ascending"}, {Name: "name", Type: schema.TypeString, SortOrder: "ascending"},
		{Name: "seen", Type: kind},
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.NewTable(columns)
	if err != nil {
		t.Fatal(err)
	}
	rt := flowtest.NewRuntime(flow.Streams{"gone": flowtest.Schema(t, "name string", "seen int64", "pass uint64")})
	rt.SetTable("/t", table)
	visit.Key = flowtest.Key(t, flowtest.Schema(t, "hash uint64 required", "name string"), uint64(7), "a")
	row := flow.OpenExternal(rt, "/t", visit)
	if err := row.Edit().Set("seen", seen).Save(); err != nil {
		t.Fatal(err)
	}
	if err := f.(flow.RowVisitFunction).OnVisit(t.Context(), rt, visit, rt); err != nil {
		t.Fatal(err)
	}
	_, left, err := flow.OpenExternal(rt, "/t", visit).Get()
	if err != nil {
		t.Fatal(err)
	}
	return rt, left
}

func TestExpireTellsWhatItRemoves(t *testing.T) {
	f, err := NewExpire(expireSetup(t, `{table="/t"; column=seen; max_age="1s"; emit=gone; as_of="2001-02-03T04:05:06Z"}`))
	if err != nil {
		t.Fatal(err)
	}
	rt, _ := visitRow(t, f, schema.TypeInt64, schema.Int64(5), flow.Visit{Pass: 3})
	if len(rt.Emitted()) != 1 {
		t.Fatalf("emitted %v", rt.Emitted())
	}
	p := rt.Emitted()[0].Payload
	if got := fmt.Sprint(p.String("name"), p.Int64("seen"), p.Uint64("pass")); got != "a5 3" && got != "a 5 3" {
		t.Errorf("emitted %s", got)
	}
}

func TestExpireRefusesParametersThatMakeNoSense(t *testing.T) {
	for parameters, want := range map[string]string{
		`{table="/t"; column=seen}`:                             "max_age",
		`{table="/t"; column=seen; max_age=0}`:                  "more than 0",
		`{table="/t"; column=seen; max_age=1; as_of=yesterday}`: "2001-02-03T04:05:06Z",
		`{table="/t"; column=seen; max_age=1; emit=nowhere}`:    "no output stream",
		`{table="/t"; column=seen; max_age=1; maximum=2}`:       "maximum",
		`{column=seen; max_age=1}`:                              "table",
		`{table="/tt"; column=seen; max_age=1}`:                 "p.table: computation c has no external state /tt: add it to external_state_managers, or name another: did you mean /t?",
		`{table="/idle"; column=seen; max_age=1}`:               "no visit stream of computation c scans /idle",
	} {
		if _, err := NewExpire(expireSetup(t, parameters)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", parameters, err, want)
		}
	}
}

func TestExpireRefusesATableWithoutTheColumn(t *testing.T) {
	columns, err := schema.New([]schema.Column{
		{Name: "name", Type: schema.TypeUTF8, SortOrder: "ascending"}, {Name: "seen", Type: schema.TypeTimestamp}, {Name: "note", Type: schema.TypeString},
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.NewTable(columns)
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]string{"seen": "", "sen": "p.column: the table of /t has no column sen: did you mean seen?", "note": "which is no time"} {
		f, err := NewExpire(expireSetup(t, `{table="/t"; max_age=1; column=`+column+`}`))
		if err != nil {
			t.Fatal(err)
		}
		err = f.(flow.TableChecker).CheckTables(map[string]*schema.Table{"/t": table})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", column, err, want)
		}
	}
}
