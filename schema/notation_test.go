package schema

import (
	"testing"

	"github.com/rondo-flow/rondo/yson"
	"pgregory.net/rapid"
)

// readColumns reads what Node writes, as specs do.
func readColumns(n *yson.Node) (*Schema, error) {
	var columns []Column
	if err := yson.Decode(n, "schema", &columns).Err(); err != nil {
		return nil, err
	}
	return New(columns)
}

func parseColumns(t *testing.T, text string) (*Schema, error) {
	t.Helper()
	n, err := yson.Parse([]byte(text), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	return readColumns(n)
}

func TestColumnsAreReadInEveryNotation(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{`{name=a;type=int64}`, `{"name"="a";"type"="int64"}`},
		{`{name=a;type=bool;required=%true;sort_order=ascending}`, `{"name"="a";"required"=%true;"sort_order"="ascending";"type"="boolean"}`},
		{`{name=a;type=uint64;expression="farm_hash(b)"}`, `{"expression"="farm_hash(b)";"name"="a";"type"="uint64"}`},
		{`{name=a;type=yson}`, `{"name"="a";"type"="any"}`},
		{`{name=a;type_v3=utf8}`, `{"name"="a";"required"=%true;"type"="utf8"}`},
		{`{name=a;type_v3={type_name=bool}}`, `{"name"="a";"required"=%true;"type"="boolean"}`},
		{`{name=a;type_v3={type_name=optional;item=yson}}`, `{"name"="a";"type"="any"}`},
		{`{name=a;type_v3={type_name=optional;item={type_name=int8}}}`, `{"name"="a";"type"="int8"}`},
		{`{name=a;type=utf8;required=%false;type_v3={type_name=optional;item=utf8}}`, `{"name"="a";"type"="utf8"}`},
		{`{name=a;type=any;type_v3={type_name=list;item=int64}}`, `{"name"="a";"type"="any"}`},
		{`{name=a;type=string;required=%true;type_v3={type_name=decimal;precision=3;scale=2}}`, `{"name"="a";"required"=%true;"type"="string"}`},
	} {
		s, err := parseColumns(t, "["+tc.text+"]")
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := string(yson.Encode(s.Node())); got != "["+tc.want+"]" {
			t.Errorf("%s is read as\n%s, want\n[%s]", tc.text, got, tc.want)
		}
	}
}

func TestFaultyColumnsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                     "1:2: schema[0]: name is missing\n1:2: schema[0]: type is missing",
		`a`:                      `1:2: schema[0]: want a map, got a string "a"`,
		`{name=a}`:               "1:2: schema[0]: type is missing",
		`{name=a;tpye=int8}`:     "1:10: schema[0].tpye: unknown field: did you mean type?\n1:2: schema[0]: type is missing",
		`{name=a;type=decimal}`:  `1:15: schema[0].type: unknown column type "decimal": use one of int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double, boolean, string, utf8, any, date, datetime, timestamp, interval`,
		`{name=a;type=5}`:        "1:15: schema[0].type: want a string, got an integer 5",
		`{name=a;type_v3=strng}`: `1:18: schema[0].type_v3: unknown column type "strng": did you mean string?`,
		`{name=a;type_v3={type_name=list;item=int64}}`:                    "1:18: schema[0].type_v3: columns hold plain types or optional ones: add type=any for structured values",
		`{name=a;type_v3={type_name=optional}}`:                           `1:29: schema[0].type_v3: unknown column type "optional": use one of int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double, boolean, string, utf8, any, date, datetime, timestamp, interval`,
		`{name=a;type_v3=[]}`:                                             "1:18: schema[0].type_v3: columns hold plain types or optional ones: add type=any for structured values",
		`{name=a;type=int8;type_v3=int16}`:                                "1:28: schema[0].type_v3: this says int16, but type says int8: keep one of them",
		`{name=a;required=%false;type_v3=int16}`:                          "1:34: schema[0].type_v3: this says required=%true, but required says the opposite: keep one of them",
		`{name=a;required=%true;type_v3={type_name=optional;item=int16}}`: "1:33: schema[0].type_v3: this says required=%false, but required says the opposite: keep one of them",
		`{name=a;type=int8;sort_order=up}`:                                `1:31: schema[0].sort_order: "up" is not one of ascending, descending`,
		`<x=1>{name=a;type=int8}`:                                         "1:7: schema[0]: attributes <...> mean nothing here: remove them",
	} {
		if _, err := parseColumns(t, "["+text+"]"); errorText(err) != want {
			t.Errorf("%s:\n%v, want\n%s", text, err, want)
		}
	}
}

func genColumn(name string) *rapid.Generator[Column] {
	return rapid.Custom(func(t *rapid.T) Column {
		return Column{
			Name:       name,
			Type:       Type(rapid.IntRange(1, int(typeCount)-1).Draw(t, "type")),
			Required:   rapid.Bool().Draw(t, "required"),
			Expression: rapid.SampledFrom([]string{"", "farm_hash(a)", "\"\n"}).Draw(t, "expression"),
			SortOrder:  rapid.SampledFrom([]string{"", "ascending", "descending"}).Draw(t, "order"),
		}
	})
}

func TestSchemasComeBackFromTheirNotation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []Column
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(1, 5, 20), 0, 5, rapid.ID).Draw(t, "names") {
			columns = append(columns, genColumn(name).Draw(t, name))
		}
		s, err := New(columns)
		if err != nil {
			t.Fatal(err)
		}
		for _, encode := range []func(*yson.Node) []byte{yson.Encode, yson.EncodeBinary} {
			n, err := yson.Parse(encode(s.Node()), yson.YSON)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := readColumns(n); err != nil || !again.Equal(s) {
				t.Fatalf("%s comes back as %v, %v", yson.Encode(n), again, err)
			}
		}
	})
}
