package rowtext

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// FuzzDecode compares the decoder with encoding/json and big numbers.
func FuzzJSONDecode(f *testing.F) {
	for _, line := range []string{
		`{"i":1,"u":2,"d":3.5,"b":true,"s":"x"}`, `{"i":-9.5e1, "u":18446744073709551615}`, `{"d":1e400}`, `{"i":1e-1}`,
		`{"s":"\ud83d\ude00\n"}`, `{"s":{"$base64":"AA=="}}`, `{"x":[1,{"y":[]}],"b":null}`, `{"i":1,"i":2}`, `{"d":"NaN"}`, `[]`, `{`,
	} {
		f.Add(line)
	}
	s := flowtest.Schema(f, "i int64", "u uint64", "d double", "b boolean", "s string")
	d := NewJSONDecoder(s)
	f.Fuzz(func(t *testing.T, line string) {
		row := make(schema.Row, s.Len())
		err := decodeRow(d, line, row)
		if err == nil {
			if err := s.Check(row); err != nil {
				t.Fatalf("%q: the row does not fit: %v", line, err)
			}
		}
		want, ok := decodeSlowly(s, line)
		switch {
		case !utf8.ValidString(line): // encoding/json replaces bytes, we keep them
		case ok != (err == nil):
			t.Fatalf("%q: row %v, error %v; the slow decoder says %v %v", line, row, err, want, ok)
		case ok && row.String() != want.String():
			t.Fatalf("%q: row %v, want %v", line, row, want)
		}
	})
}

// decodeSlowly is the decoder in terms of encoding/json.
func decodeSlowly(s *schema.Schema, line string) (schema.Row, bool) {
	dec := json.NewDecoder(strings.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') || !json.Valid([]byte(line)) || loneSurrogate(line) {
		return nil, false
	}
	row := make(schema.Row, s.Len())
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil, false
		}
		name := token.(string)
		i, known := s.Index(name)
		if !known {
			continue
		}
		if seen[name] {
			return nil, false
		}
		seen[name] = true
		v, ok := valueSlowly(s.Columns()[i].Type, raw)
		if !ok {
			return nil, false
		}
		row[i] = v
	}
	return row, true
}

// loneSurrogate tells whether valid JSON text writes half a surrogate pair,
// which encoding/json replaces.
func loneSurrogate(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if text[i] != 'u' {
			continue
		}
		switch unit := text[i+1 : i+3]; {
		case unit[0]|0x20 != 'd' || unit[1] < '8':
		case unit[1]|0x20 >= 'c' && unit[1] > '9':
			return true // a second half first
		case i+8 > len(text) || text[i+5:i+7] != `\u` || text[i+7]|0x20 != 'd' || !strings.ContainsRune("cdefCDEF", rune(text[i+8])):
			return true
		default:
			i += 6
		}
	}
	return false
}

func valueSlowly(t schema.Type, raw json.RawMessage) (schema.Value, bool) {
	var v any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return schema.Value{}, false
	}
	switch v := v.(type) {
	case nil:
		return schema.Null(), true
	case bool:
		return schema.Boolean(v), t == schema.TypeBoolean
	case string:
		if f, ok := notNumbers[v]; ok && t == schema.TypeDouble {
			return schema.Double(f), true
		}
		return schema.String(v), t == schema.TypeString
	case json.Number:
		return numberSlowly(t, v.String())
	case map[string]any:
		text, ok := v[base64Field].(string)
		var b []byte
		if !ok || t != schema.TypeString || strings.Count(string(raw), ":") != 1 || json.Unmarshal([]byte(strconv.Quote(text)), &b) != nil {
			return schema.Value{}, false
		}
		return schema.String(string(b)), true
	default:
		return schema.Value{}, false
	}
}

func numberSlowly(t schema.Type, text string) (schema.Value, bool) {
	if t == schema.TypeDouble {
		f, err := strconv.ParseFloat(text, 64)
		return schema.Double(f), err == nil
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if e, err := strconv.Atoi(exponent); exponent != "" && (err != nil || e > 400 || e < -400) {
		// Beyond what a big.Rat should be made of.
		return zeroOf(t), (t == schema.TypeInt64 || t == schema.TypeUint64) && strings.Trim(mantissa, "-0.") == ""
	}
	r, ok := new(big.Rat).SetString(text)
	switch {
	case !ok || !r.IsInt():
		return schema.Value{}, false
	case t == schema.TypeInt64:
		return schema.Int64(r.Num().Int64()), r.Num().IsInt64()
	case t == schema.TypeUint64:
		return schema.Uint64(r.Num().Uint64()), r.Num().IsUint64()
	default:
		return schema.Value{}, false
	}
}

func zeroOf(t schema.Type) schema.Value {
	if t == schema.TypeUint64 {
		return schema.Uint64(0)
	}
	return schema.Int64(0)
}

// FuzzEncode writes rows of any values and reads them back.
func FuzzJSONEncode(f *testing.F) {
	f.Add(int64(-1), uint64(1), 1.5, true, "x\x00\xff\"\\\u2028", `{"a"=[1;%nan;"\xff";<"b"=1>#]}`)
	f.Add(int64(-1<<63), uint64(1<<64-1), 1e21, false, "", `""`)
	s := flowtest.Schema(f, "i int64", "u uint64", "d double", "b boolean", "s string", "a any", "none int64")
	e, d := NewJSONEncoder(s), NewJSONDecoder(s)
	f.Fuzz(func(t *testing.T, i int64, u uint64, dbl float64, b bool, text, structured string) {
		node, err := yson.Parse([]byte(structured), yson.YSON)
		if err != nil {
			node = yson.String(structured)
		}
		want := schema.Row{schema.Int64(i), schema.Uint64(u), schema.Double(dbl), schema.Boolean(b), schema.String(text),
			schema.Any(string(yson.Encode(node))), schema.Null()}
		line, err := e.AppendRow(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(line) || strings.Count(string(line), "\n") != 1 {
			t.Fatalf("%s is no line of JSON", line)
		}
		got := make(schema.Row, s.Len())
		if err := decodeRow(d, strings.TrimSuffix(string(line), "\n"), got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if dbl != dbl { // any NaN is as good
			got[2], want[2] = schema.Null(), schema.Null()
		}
		got[5], want[5] = schema.Null(), schema.Null() // TestAnyValuesComeBack
		if got.String() != want.String() {
			t.Fatalf("%s is read as %v, want %v", line, got, want)
		}
	})
}

func TestAnyValuesComeBack(t *testing.T) {
	s := flowtest.Schema(t, "v any")
	for _, text := range []string{
		`1`, `-9223372036854775808`, `18446744073709551615u`, `1.`, `0.1`, `1e+300`, `%nan`, `%-inf`, `%true`, `"x"`, `"\xff"`, `""`,
		`[]`, `{}`, `[1;[2.5;{"a"=#}]]`, `{"a"={"b"=["\xff";"\0"]};"c"=%false}`, `<"a"=1;"b"=<"c"=2>3>[4]`, `<"a"=1>#`, `[<"a"=1>"\xff"]`,
	} {
		line, err := NewJSONEncoder(s).AppendRow(nil, schema.Row{schema.Any(text)})
		if err != nil {
			t.Fatal(err)
		}
		row := make(schema.Row, 1)
		if err := decodeRow(NewJSONDecoder(s), strings.TrimSuffix(string(line), "\n"), row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !json.Valid(line) || !sameTree(t, row[0].AsString(), text) {
			t.Errorf("%s becomes %s, which becomes %v", text, line, row[0])
		}
	}
}

// sameTree compares two YSON texts. What is no number is a string in JSON.
func sameTree(t *testing.T, a, b string) bool {
	t.Helper()
	b = strings.NewReplacer("%nan", `"NaN"`, "%-inf", `"-Infinity"`).Replace(b)
	var texts [2]string
	for i, text := range []string{a, b} {
		node, err := yson.Parse([]byte(text), yson.YSON)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(yson.Encode(node))
	}
	return texts[0] == texts[1]
}

func TestAppendRowOfAnotherLengthIsAnError(t *testing.T) {
	e := NewJSONEncoder(flowtest.Schema(t, "n int64"))
	if _, err := e.AppendRow(nil, schema.Row{}); err == nil {
		t.Error("wrote a row without its column")
	}
	if line, err := NewJSONEncoder(flowtest.Schema(t)).AppendRow(nil, schema.Row{}); err != nil || string(line) != "{}\n" {
		t.Errorf("a row of no columns is %s, error %v", line, err)
	}
	if _, err := NewJSONEncoder(flowtest.Schema(t, "v any")).AppendRow(nil, schema.Row{schema.Any("{")}); err == nil {
		t.Error("wrote an any value that is no YSON")
	}
}
