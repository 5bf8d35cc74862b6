package schema

import (
	"math"
	"strings"
	"testing"
)

func TestTypeNamesComeBack(t *testing.T) {
	for _, name := range TypeNames() {
		typ, err := ParseType(name)
		if err != nil || typ.String() != name || !typ.Valid() {
			t.Errorf("%s is read as %v, %v", name, typ, err)
		}
		text, err := typ.MarshalText()
		var again Type
		if err != nil || again.UnmarshalText(text) != nil || again != typ {
			t.Errorf("%s is %v after a round trip", name, again)
		}
	}
	if typ, err := ParseType("bool"); err != nil || typ != TypeBoolean {
		t.Errorf("bool is %v, %v", typ, err)
	}
}

func TestUnknownTypeListsTheKnown(t *testing.T) {
	var typ Type
	for name, want := range map[string]string{
		"int46":   `unknown column type "int46": did you mean int16?`,
		"decimal": `unknown column type "decimal": use one of int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double, boolean, string, utf8, any, date, datetime, timestamp, interval`,
	} {
		if err := typ.UnmarshalText([]byte(name)); errorText(err) != want {
			t.Errorf("got %v", err)
		}
	}
	if _, err := Type(200).MarshalText(); err == nil || Type(200).String() != "unknown" || Type(0).Valid() || Type(0).Kind() != KindNull {
		t.Error("an undeclared type passes for one")
	}
}

func TestNewReportsEveryFault(t *testing.T) {
	_, err := New([]Column{{Name: "a", Type: TypeInt8}, {Name: "", Type: TypeInt8}, {Name: "a", Type: TypeInt8}, {Name: "b"}, {Name: "c", Type: TypeAny, SortOrder: "up"}})
	want := "column 2 has no name\n" +
		"column a: declared twice\n" +
		"column b: it has no type\n" +
		"column c: unknown sort order \"up\": use ascending or descending, or leave it out"
	if err == nil || err.Error() != want {
		t.Fatalf("got\n%v\nwant\n%s", err, want)
	}
}

func TestNamesAreThoseOfTheColumnsInOrder(t *testing.T) {
	s, err := New([]Column{{Name: "b", Type: TypeInt8}, {Name: "a", Type: TypeString}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Names(), ","); got != "b,a" {
		t.Errorf("the names are %s", got)
	}
}

func TestTypesAreLikeThemselvesAndTextsLikeEachOther(t *testing.T) {
	for a := TypeInt8; a < typeCount; a++ {
		for b := TypeInt8; b < typeCount; b++ {
			text := a == TypeString && b == TypeUTF8 || a == TypeUTF8 && b == TypeString
			if got := a.Like(b); got != (a == b || text) {
				t.Errorf("%s is like %s: %v", a, b, got)
			}
		}
	}
}

func TestSchemaIsACopy(t *testing.T) {
	cols := []Column{{Name: "a", Type: TypeInt8, SortOrder: "ascending"}, {Name: "b", Type: TypeString, Required: true}}
	s, err := New(cols)
	if err != nil {
		t.Fatal(err)
	}
	same, err := New(cols)
	if err != nil {
		t.Fatal(err)
	}
	cols[0].Name = "x"
	i, ok := s.Index("b")
	if _, gone := s.Index("x"); gone || !ok || i != 1 || s.Len() != 2 || s.Columns()[0].Name != "a" {
		t.Errorf("schema is %v", s.Columns())
	}
	other := schemaOf(t, "a:int8", "b:string")
	if !s.Equal(same) || s.Equal(other) || s.Equal(Empty()) || Empty().Len() != 0 {
		t.Error("equality of schemas is wrong")
	}
}

func TestCheckNamesColumnAndValue(t *testing.T) {
	for _, tc := range []struct {
		column string
		value  Value
		want   string // empty = allowed
	}{
		{"c:int8", Int64(-128), ""},
		{"c:int8", Int64(127), ""},
		{"c:int8", Int64(128), "column c: 128 is out of range of int8"},
		{"c:int64", Int64(-1 << 63), ""},
		{"c:uint16", Uint64(1 << 16), "column c: 65536u is out of range of uint16"},
		{"c:uint64", Uint64(1<<64 - 1), ""},
		{"c:int64", Uint64(1), "column c: 1u is uint64, want int64"},
		{"c:int64", Null(), ""},
		{"c:int64!", Null(), "column c: null in a required column"},
		{"c:uint64=farm_hash(c)", Null(), "column c: null in a required column"},
		{"c:float", Double(math.MaxFloat32), ""},
		{"c:float", Double(math.Inf(1)), ""},
		{"c:float", Double(math.NaN()), ""},
		{"c:float", Double(1e39), "column c: 1e+39 is out of range of float"},
		{"c:double", Double(1e300), ""},
		{"c:boolean", Boolean(false), ""},
		{"c:boolean", String("true"), `column c: "true" is string, want boolean`},
		{"c:string", String("\xff\x00"), ""},
		{"c:utf8", String("ö"), ""},
		{"c:utf8", String("\xff"), `column c: "\xff" is not valid UTF-8: declare the column as string to keep any bytes`},
		{"c:int8", String(strings.Repeat("x", 1000)), `column c: "` + strings.Repeat("x", 60) + `"... is string, want int8`},
		{"c:any", Any("{}"), ""},
		{"c:timestamp", Uint64(4291747199999999), ""},
		{"c:timestamp", Uint64(4291747200000000), "column c: 4291747200000000u is out of range of timestamp"},
		{"c:date", Uint64(49673), "column c: 49673u is out of range of date"},
		{"c:datetime", Uint64(4291747200), "column c: 4291747200u is out of range of datetime"},
		{"c:interval", Int64(-4291747200000000), "column c: -4291747200000000 is out of range of interval"},
	} {
		err := schemaOf(t, tc.column).Check(Row{tc.value})
		if got := errorText(err); got != tc.want {
			t.Errorf("%s with %v: %q, want %q", tc.column, tc.value, got, tc.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCheckCountsColumns(t *testing.T) {
	err := schemaOf(t, "a:int8", "b:int8").Check(Row{Int64(1)})
	if errorText(err) != "row has 1 values, its schema has 2 columns" {
		t.Fatalf("got %v", err)
	}
}

func BenchmarkCheck(b *testing.B) {
	_, s := flightSchemas(b)
	row := flightRow()
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Check(row); err != nil {
			b.Fatal(err)
		}
	}
}
