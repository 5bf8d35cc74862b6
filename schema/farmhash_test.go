package schema

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// farmCase is one vector of the reference system's hash.
type farmCase struct {
	Args []map[string]any `json:"args"`
	Hash string           `json:"hash"`
}

func (c farmCase) row(t *testing.T) Row {
	var row Row
	for _, arg := range c.Args {
		for kind, v := range arg {
			row = append(row, farmArgument(t, kind, v))
		}
	}
	return row
}

func farmArgument(t *testing.T, kind string, v any) Value {
	t.Helper()
	text, _ := v.(string)
	switch kind {
	case "string":
		return String(text)
	case "string_hex":
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return String(string(raw))
	case "int64":
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return Int64(i)
	case "uint64":
		u, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return Uint64(u)
	case "double":
		return Double(v.(float64))
	case "boolean":
		return Boolean(v.(bool))
	case "null":
		return Null()
	}
	t.Fatalf("unknown kind %q in the vectors", kind)
	return Value{}
}

func farmCases(t *testing.T) []farmCase {
	data, err := os.ReadFile("testdata/farm-hash.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []farmCase
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no vectors")
	}
	return cases
}

func TestFarmHashIsThatOfTheReferenceSystem(t *testing.T) {
	for _, c := range farmCases(t) {
		row := c.row(t)
		got, err := FarmHash(row...)
		if err != nil || strconv.FormatUint(got, 10) != c.Hash {
			t.Errorf("farm_hash%v = %d, %v, want %s", row, got, err, c.Hash)
		}
	}
	for want, row := range map[uint64]Row{
		8164349598829955404:  {Uint64(42)},
		2255200014092086422:  {String("hello")},
		10370750266807936971: {String("hello world")},
		3849326666456637875:  {Uint64(1), Uint64(2)},
		3315701238936582721:  {Int64(0)},
		933529381690826619:   {Uint64(1)},
	} {
		if got, err := FarmHash(row...); err != nil || got != want {
			t.Errorf("farm_hash%v = %d, %v, want %d", row, got, err, want)
		}
	}
}

func TestFarmHashOfAnyIsAnError(t *testing.T) {
	if _, err := FarmHash(Int64(1), Any("{}")); err == nil || !strings.Contains(err.Error(), "any value") {
		t.Fatalf("got %v", err)
	}
}

func TestFarmHashExpressionIsFarmHash(t *testing.T) {
	s := schemaOf(t, "i:int64", "u:uint64", "d:double", "b:boolean", "s:string", "t:utf8")
	plain := expression(t, s, "farm_hash(i, u, d, b, s, t)")
	nested := expression(t, s, "farm_hash(if_null(i, i), u, d, b, s, t)")
	rapid.Check(t, func(t *rapid.T) {
		row := Row{Null(), Null(), Null(), Null(), Null(), String(genString().Draw(t, "t"))}
		if rapid.Bool().Draw(t, "not null") {
			row = Row{Int64(rapid.Int64().Draw(t, "i")), Uint64(rapid.Uint64().Draw(t, "u")), Double(genDouble().Draw(t, "d")),
				Boolean(rapid.Bool().Draw(t, "b")), String(genString().Draw(t, "s")), row[5]}
		}
		want, err := FarmHash(row...)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []*Expression{plain, nested} {
			if got, err := e.Eval(row); err != nil || got != Uint64(want) {
				t.Fatalf("%s = %v, %v, want %d", e, got, err, want)
			}
		}
	})
}

func BenchmarkFarmHash(b *testing.B) {
	row := Row{String("SMF"), String("PDX")}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = FarmHash(row...)
	}
}
