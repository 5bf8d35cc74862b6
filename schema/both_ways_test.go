package schema

import (
	"fmt"
	"strings"
	"testing"
)

// typeSamples has the edges of every type as text, and what lies just beyond.
var typeSamples = map[Type]struct{ in, out []string }{
	TypeInt8:      {[]string{"-128", "0", "127"}, []string{"-129", "128", "1.5", "x"}},
	TypeInt16:     {[]string{"-32768", "32767"}, []string{"-32769", "32768"}},
	TypeInt32:     {[]string{"-2147483648", "2147483647"}, []string{"-2147483649", "2147483648"}},
	TypeInt64:     {[]string{"-9223372036854775808", "9223372036854775807"}, []string{"-9223372036854775809", "9223372036854775808"}},
	TypeUint8:     {[]string{"0", "255"}, []string{"-1", "256"}},
	TypeUint16:    {[]string{"65535"}, []string{"65536"}},
	TypeUint32:    {[]string{"4294967295"}, []string{"4294967296"}},
	TypeUint64:    {[]string{"0", "18446744073709551615"}, []string{"-1", "18446744073709551616", "0.5"}},
	TypeFloat:     {[]string{"-3.4028234663852886e+38", "0.5", "+Inf"}, []string{"3.5e38", "x"}},
	TypeDouble:    {[]string{"-1.7976931348623157e+308", "5e-324", "-0.0", "-Inf"}, []string{"1e309", ""}},
	TypeBoolean:   {[]string{"true", "false"}, []string{"True", "1", ""}},
	TypeString:    {[]string{"", "\x00\xff", "text"}, nil},
	TypeUTF8:      {[]string{"", "\x00", "π😀"}, []string{"\xff", "a\xc3"}},
	TypeAny:       {[]string{"#", "{a=1}", "\x01\x02a"}, nil},
	TypeDate:      {[]string{"0", "49672"}, []string{"-1", "49673", "2106-01-01T00:00:00Z"}},
	TypeDatetime:  {[]string{"0", "4291747199"}, []string{"-1", "4291747200"}},
	TypeTimestamp: {[]string{"0", "4291747199999999"}, []string{"-1", "4291747200000000", "yesterday"}},
	TypeInterval:  {[]string{"-4291747199999999", "4291747199999999"}, []string{"-4291747200000000", "4291747200000000"}},
}

// goValue returns what a program would pass to Convert.
func goValue(v Value) any {
	switch v.Kind() {
	case KindInt64:
		return v.AsInt64()
	case KindUint64:
		return v.AsUint64()
	case KindDouble:
		return v.AsDouble()
	case KindBoolean:
		return v.AsBoolean()
	case KindString:
		return v.AsString()
	default:
		return v
	}
}

// plainText is what ParseText reads.
func plainText(v Value) string {
	switch v.Kind() {
	case KindString, KindAny:
		return v.AsString()
	default:
		return strings.TrimSuffix(v.String(), "u")
	}
}

// TestEveryTypeGoesBothWays takes the edges of each type through text, Go
// values, rows and keys, and refuses what lies beyond them everywhere.
func TestEveryTypeGoesBothWays(t *testing.T) {
	for typ := TypeInt8; typ < typeCount; typ++ {
		samples, ok := typeSamples[typ]
		if !ok {
			t.Errorf("%s has no samples", typ)
		}
		s := schemaOf(t, "c:"+typ.String()+"!")
		for _, text := range samples.in {
			v, err := typ.ParseText(text)
			if err != nil || v.Kind() != typ.Kind() {
				t.Errorf("%s %q is %v, %v", typ, text, v, err)
				continue
			}
			if err := goesBothWays(s, typ, v); err != nil {
				t.Errorf("%s %q: %v", typ, text, err)
			}
		}
		for _, text := range samples.out {
			if v, err := typ.ParseText(text); err == nil {
				t.Errorf("%s %q is read as %v", typ, text, v)
			}
		}
	}
}

func goesBothWays(s *Schema, typ Type, v Value) error {
	if err := s.Check(Row{v}); err != nil {
		return err
	}
	if again, err := typ.ParseText(plainText(v)); err != nil || again != v {
		return fmt.Errorf("%q is read as %v, %v", plainText(v), again, err)
	}
	if again, err := typ.Convert(goValue(v)); err != nil || again != v {
		return fmt.Errorf("%#v converts to %v, %v", goValue(v), again, err)
	}
	if row, _, err := DecodeRow(AppendRow(nil, Row{v}), nil); err != nil || row[0] != v {
		return fmt.Errorf("a row comes back as %v, %v", row, err)
	}
	if key, err := DecodeKey(string(AppendKey(nil, v))); err != nil || Compare(key[0], v) != 0 {
		return fmt.Errorf("a key comes back as %v, %v", key, err)
	}
	return nil
}

// TestValuesOfAnotherTypeAreRefused gives each type the samples of all others:
// a value of another kind never passes.
func TestValuesOfAnotherTypeAreRefused(t *testing.T) {
	for typ := TypeInt8; typ < typeCount; typ++ {
		s := schemaOf(t, "c:"+typ.String())
		for other, samples := range typeSamples {
			for _, text := range samples.in {
				v, err := other.ParseText(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Check(Row{v}); err == nil && v.Kind() != typ.Kind() {
					t.Errorf("a %s column takes %v, a %s", typ, v, other)
				}
			}
		}
		if err := s.Check(Row{Null()}); err != nil {
			t.Errorf("null is refused: %v", err)
		}
	}
}
