package schema_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/schema"
)

func tableOf(t testing.TB, columns ...schema.Column) (*schema.Table, error) {
	t.Helper()
	s, err := schema.New(columns)
	if err != nil {
		t.Fatal(err)
	}
	return schema.NewTable(s)
}

func visitors(t testing.TB) *schema.Table {
	t.Helper()
	table, err := tableOf(t,
		schema.Column{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(user)", SortOrder: "ascending"},
		schema.Column{Name: "user", Type: schema.TypeUTF8, SortOrder: "ascending"},
		schema.Column{Name: "count", Type: schema.TypeInt32, Required: true},
		schema.Column{Name: "note", Type: schema.TypeString},
	)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestRowsOfATableComeBackInOrderOfTheirKeys(t *testing.T) {
	table := visitors(t)
	rapid.Check(t, func(t *rapid.T) {
		type stored struct {
			key string
			row schema.Row
		}
		var all []stored
		for range rapid.IntRange(1, 8).Draw(t, "rows") {
			row := schema.Row{schema.Null(), schema.String(rapid.String().Draw(t, "user")), schema.Int64(int64(rapid.Int32().Draw(t, "count"))), schema.Null()}
			if rapid.Bool().Draw(t, "noted") {
				row[3] = schema.String(string(rapid.SliceOf(rapid.Byte()).Draw(t, "note")))
			}
			key, value, err := table.Encode(row)
			if err != nil {
				t.Fatal(err)
			}
			got, err := table.Decode(key, value)
			if err != nil || !slices.Equal(got, row) {
				t.Fatalf("%v came back as %v, %v", row, got, err)
			}
			if hash, err := schema.KeyHash(key); err != nil || hash != row[0].AsUint64() {
				t.Fatalf("hash %d of %v, %v", hash, row, err)
			}
			all = append(all, stored{key, got})
		}
		slices.SortFunc(all, func(a, b stored) int { return strings.Compare(a.key, b.key) })
		for i := 1; i < len(all); i++ {
			if all[i-1].row[0].AsUint64() > all[i].row[0].AsUint64() {
				t.Fatalf("%v before %v", all[i-1].row, all[i].row)
			}
		}
	})
}

func TestATableIsItsText(t *testing.T) {
	table := visitors(t)
	again, err := schema.ParseTable(table.String())
	if err != nil || again.String() != table.String() || !again.Columns().Equal(table.Columns()) || again.Key().Len() != 2 {
		t.Fatalf("%s came back as %v, %v", table, again, err)
	}
	_, err = schema.ParseTable(strings.Replace(table.String(), `"format"=1`, `"format"=9`, 1))
	if err == nil || !strings.Contains(err.Error(), "format 9") {
		t.Errorf("a newer format: %v", err)
	}
}

func TestTablesThatCannotBeAreRefused(t *testing.T) {
	key := func(name string, kind schema.Type) schema.Column {
		return schema.Column{Name: name, Type: kind, SortOrder: "ascending"}
	}
	plain := schema.Column{Name: "v", Type: schema.TypeInt64}
	for _, c := range []struct {
		want    string
		columns []schema.Column
	}{
		{"no key", []schema.Column{plain}},
		{"put it before v", []schema.Column{plain, key("k", schema.TypeInt64)}},
		{"sorted upwards", []schema.Column{{Name: "k", Type: schema.TypeInt64, SortOrder: "descending"}}},
		{"cannot be part of a key", []schema.Column{key("k", schema.TypeDouble)}},
		{"only columns of the key", []schema.Column{key("k", schema.TypeInt64), {Name: "v", Type: schema.TypeInt64, Expression: "k + 1"}}},
		{"uses column v", []schema.Column{{Name: "h", Type: schema.TypeUint64, SortOrder: "ascending", Expression: "farm_hash(v)"}, plain}},
		{"gives uint64, want int64", []schema.Column{{Name: "h", Type: schema.TypeInt64, SortOrder: "ascending", Expression: "farm_hash(k)"}, key("k", schema.TypeInt64)}},
		{"unknown column", []schema.Column{{Name: "h", Type: schema.TypeUint64, SortOrder: "ascending", Expression: "farm_hash(x)"}}},
	} {
		if _, err := tableOf(t, c.columns...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestRowsThatDoNotFitTheTableAreRefused(t *testing.T) {
	table := visitors(t)
	user, one := schema.String("ann"), schema.Int64(1)
	for _, c := range []struct {
		want string
		row  schema.Row
	}{
		{"row has 5 values, the table has 4 columns", schema.Row{{}, user, one, {}, {}}},
		{"column count: null in a required column", schema.Row{{}, user, {}, {}}},
		{"column hash: it is 7u, and farm_hash(user) gives", schema.Row{schema.Uint64(7), user, one, {}}},
		{"out of range", schema.Row{{}, user, schema.Int64(1 << 40), {}}},
	} {
		if _, _, err := table.Encode(c.row); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	key, value, err := table.Encode(schema.Row{{}, user, one, {}})
	if err != nil {
		t.Fatal(err)
	}
	wide := schema.AppendRow(nil, schema.Row{one, {}, one})
	for _, stored := range [][]byte{wide, append(slices.Clone(value), 0), value[:len(value)-1]} {
		if _, err := table.Decode(key, stored); !errors.Is(err, schema.ErrCorruptRow) {
			t.Errorf("%x: %v", stored, err)
		}
	}
	if _, err := table.Decode(key[:schema.HashKeyLen], value); !errors.Is(err, schema.ErrCorruptKey) {
		t.Errorf("half a key: %v", err)
	}
}

func TestKeysOfATableAreThoseOfAComputation(t *testing.T) {
	table := visitors(t)
	groupBy := func(edit func(c []schema.Column) []schema.Column) *schema.Schema {
		s, err := schema.New(edit([]schema.Column{
			{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(user)"}, {Name: "user", Type: schema.TypeString},
		}))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		want string
		edit func(c []schema.Column) []schema.Column
	}{
		{"", func(c []schema.Column) []schema.Column { return c }},
		{"", func(c []schema.Column) []schema.Column { c[0].Expression, c[0].Required = "", true; return c }},
		{"(hash uint64, user utf8) and that of group_by_schema is (hash uint64)", func(c []schema.Column) []schema.Column { return c[:1] }},
		{"column 2 of the key is user utf8 in the table and name string in group_by_schema", func(c []schema.Column) []schema.Column { c[1].Name = "name"; return c }},
		{"and user int64 in group_by_schema", func(c []schema.Column) []schema.Column { c[1].Type = schema.TypeInt64; return c }},
		{"farm_hash(user) in the table and farm_hash(user, 1)", func(c []schema.Column) []schema.Column { c[0].Expression = "farm_hash(user, 1)"; return c }},
	} {
		err := table.CheckKey(groupBy(c.edit))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestAHashThatNobodyComputesIsNoneOfAComputation(t *testing.T) {
	columns := []schema.Column{{Name: "hash", Type: schema.TypeUint64, SortOrder: "ascending"}, {Name: "user", Type: schema.TypeUTF8, SortOrder: "ascending"}}
	plain, err := schema.New(columns)
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.NewTable(plain)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.CheckKey(plain); err != nil {
		t.Errorf("both have no expression: %v", err)
	}
	computed, err := schema.New([]schema.Column{{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(user)"}, columns[1]})
	if err != nil {
		t.Fatal(err)
	}
	if err := table.CheckKey(computed); err == nil || !strings.Contains(err.Error(), "computed as farm_hash(user) in group_by_schema") {
		t.Errorf("only the computation has an expression: %v", err)
	}
	if err := table.CheckOverride(computed); err == nil || !strings.Contains(err.Error(), "computed as farm_hash(user) in key_schema_override") {
		t.Errorf("only the joiner has an expression: %v", err)
	}
}

func TestARowWithATextThatIsNoYSONIsNotStored(t *testing.T) {
	s, err := schema.New([]schema.Column{{Name: "k", Type: schema.TypeUTF8, SortOrder: "ascending"}, {Name: "z", Type: schema.TypeAny}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.NewTable(s)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{`{x=1}`: "", `{"x":1}`: "is no YSON", `[1;`: "is no YSON", ``: "is no YSON"} {
		_, _, err := table.Encode(schema.Row{schema.String("k"), schema.Any(text)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
		as := schema.AppendRow(nil, schema.Row{schema.Any(text)})
		if again := table.CheckStored(string(schema.AppendKey(nil, schema.String("k"))), as); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%q as it is stored: got %v, want %v", text, again, err)
		}
	}
}
