package schema

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// schemaOf makes a schema of columns written as name:type, with a "!" after the
// type of required ones, and an expression after "=".
func schemaOf(t testing.TB, columns ...string) *Schema {
	t.Helper()
	var cols []Column
	for _, text := range columns {
		spec, expression, _ := strings.Cut(text, "=")
		name, typeName, _ := strings.Cut(spec, ":")
		plain, required := strings.CutSuffix(typeName, "!")
		typ, err := ParseType(plain)
		if err != nil {
			t.Fatal(err)
		}
		cols = append(cols, Column{Name: name, Type: typ, Required: required, Expression: expression})
	}
	s, err := New(cols)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func flightSchemas(t testing.TB) (groupBy, input *Schema) {
	return schemaOf(t, "hash:uint64!=farm_hash(origin, destination)", "origin:string", "destination:string"),
		schemaOf(t, "date:string!", "delay:int64!", "origin:string!", "destination:string!")
}

func TestGrouperMakesTheKeyOfARow(t *testing.T) {
	g, err := NewGrouper(flightSchemas(t))
	if err != nil {
		t.Fatal(err)
	}
	key, hash, err := g.AppendKey([]byte("x"), flightRow())
	if err != nil {
		t.Fatal(err)
	}
	want, err := FarmHash(String("SMF"), String("PDX"))
	if err != nil {
		t.Fatal(err)
	}
	if hash != want {
		t.Errorf("hash is %d, want %d", hash, want)
	}
	if k := AppendKey([]byte("x"), Uint64(want), String("SMF"), String("PDX")); !bytes.Equal(key, k) {
		t.Errorf("key is %x, want %x", key, k)
	}
}

func TestGrouperCopiesAPlainHashColumn(t *testing.T) {
	g, err := NewGrouper(schemaOf(t, "id:uint64!", "name:string"), schemaOf(t, "name:string", "id:uint64!"))
	if err != nil {
		t.Fatal(err)
	}
	key, hash, err := g.AppendKey(nil, Row{Null(), Uint64(7)})
	if err != nil || hash != 7 || !bytes.Equal(key, AppendKey(nil, Uint64(7), Null())) {
		t.Fatalf("key %x, hash %d, %v", key, hash, err)
	}
}

func TestGroupByFaults(t *testing.T) {
	input := schemaOf(t, "a:string", "b:int64", "n:uint64", "x:any", "d:double")
	for _, tc := range []struct {
		groupBy []string
		want    []string // all in the error
	}{
		{nil, []string{"no columns"}},
		{[]string{"a:string"}, []string{"column a: the first column must be uint64"}},
		{[]string{"n:uint64"}, []string{"column n: the first column must not be null: add required=%true"}},
		{[]string{"n:uint64!"}, []string{"column n: it is required, but the input allows null"}},
		{[]string{"hash:uint64=farm_hash(a)", "a:string", "x:any"}, []string{"column x: any cannot be part of a key"}},
		{[]string{"hash:uint64=farm_hash(a)", "a:string", "d:double", "x:any"}, []string{"column d: double cannot", "column x: any cannot"}},
		{[]string{"hash:uint64=farm_hash(a)", "a:string", "b:int32"}, []string{"column b: it is int32 here and int64 in the input"}},
		{[]string{"hash:uint64=farm_hash(z)", "z:string"}, []string{"column z: it is not in the input"}},
		{[]string{"hash:uint64=farm_hash(a)"}, []string{`column hash: expression: "a" is no column of the key`, "\n  farm_hash(a)\n            ^"}},
		{[]string{"hash:uint64=b", "b:int64"}, []string{"column hash: the expression gives int64, want uint64"}},
		{[]string{"hash:uint64=farm_hash(b)", "b:int64", "c:int64=b"}, []string{"column c: a column with an expression must be uint64, not int64"}},
		{[]string{"hash:uint64=farm_hash(other)", "other:uint64=farm_hash(a)", "a:string"}, []string{`column "other" has an expression itself`}},
		{[]string{"hash:uint64=farm_hash(a) % 16u", "a:string"}, []string{"column hash: % in the hash leaves most of the range empty"}},
	} {
		_, err := NewGrouper(schemaOf(t, tc.groupBy...), input)
		for _, want := range tc.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("group by %q: %v, want %q", tc.groupBy, err, want)
			}
		}
	}
}

func TestGrouperRefusesRowsThatDoNotFit(t *testing.T) {
	groupBy := schemaOf(t, "hash:uint64=1u / n", "n:uint64", "s:string!")
	g, err := NewGrouper(groupBy, schemaOf(t, "n:uint64", "s:string!"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		row  Row
		want string
	}{
		{Row{Uint64(1)}, "row has 1 values, its schema has 2 columns"},
		{Row{Uint64(0), String("s")}, "column hash: in the key: expression 1u / n: division by zero"},
		{Row{Null(), String("s")}, "column hash: in the key: null in a required column"},
		{Row{Uint64(1), Null()}, "column s: in the key: null in a required column"},
		{Row{Uint64(1), Int64(5)}, "column s: in the key: 5 is int64, want string"},
	} {
		key, _, err := g.AppendKey([]byte("x"), tc.row)
		if err == nil || err.Error() != tc.want || string(key) != "x" {
			t.Errorf("%v: key %q, error %v, want %q", tc.row, key, err, tc.want)
		}
	}
}

func TestGroupErrorsNameTheirColumn(t *testing.T) {
	_, err := NewGrouper(schemaOf(t, "a:string"), schemaOf(t, "a:string"))
	var fault *ColumnError
	if !errors.As(err, &fault) || fault.Column != "a" {
		t.Fatalf("got %v", err)
	}
}

func TestGroupingDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 200)
	for _, columns := range [][]string{
		{"hash:uint64!=farm_hash(origin, destination)", "origin:string", "destination:string"},
		{"hash:uint64!=farm_hash(delay)", "delay:int64"},
		{"hash:uint64!=if(delay < 0, farm_hash(origin), farm_hash(destination))", "delay:int64", "origin:string", "destination:string"},
		{"hash:uint64!=farm_hash(delay / 10 * 10, length(origin), is_null(date))", "shard:uint64=farm_hash(date)", "date:string", "delay:int64", "origin:string"},
	} {
		_, input := flightSchemas(t)
		g, err := NewGrouper(schemaOf(t, columns...), input)
		if err != nil {
			t.Fatal(err)
		}
		row := flightRow()
		allocs := testing.AllocsPerRun(100, func() {
			if _, _, err := g.AppendKey(dst, row); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations per key", columns[0], allocs)
		}
	}
}

func BenchmarkGrouper(b *testing.B) {
	g, err := NewGrouper(flightSchemas(b))
	if err != nil {
		b.Fatal(err)
	}
	row, dst := flightRow(), make([]byte, 0, 100)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := g.AppendKey(dst, row); err != nil {
			b.Fatal(err)
		}
	}
}
