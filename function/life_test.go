package function

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// kept are aggregates of all kinds.
var kept = []aggregate{
	{text: "i", kind: schema.KindInt64}, {text: "u", kind: schema.KindUint64}, {text: "d", kind: schema.KindDouble},
	{text: "b", kind: schema.KindBoolean}, {text: "s", kind: schema.KindString}, {text: "last(a column whose name is long)", kind: schema.KindAny},
}

func drawLife(t *rapid.T) life {
	anyBytes := func(label string) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, label)) }
	l := life{
		latest: flow.Time(rapid.Int64().Draw(t, "latest")),
		values: schema.Row{
			schema.Int64(rapid.Int64().Draw(t, "i")), schema.Uint64(rapid.Uint64().Draw(t, "u")), schema.Double(rapid.Float64().Draw(t, "d")),
			schema.Boolean(rapid.Bool().Draw(t, "b")), schema.String(anyBytes("s")), schema.Any(anyBytes("a")),
		},
	}
	for i := range l.values {
		if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			l.values[i] = schema.Null()
		}
	}
	return l
}

// asGo is what a value is to those who read CBOR.
func asGo(v schema.Value) any {
	switch v.Kind() {
	case schema.KindInt64:
		if v.AsInt64() < 0 {
			return v.AsInt64()
		}
		return v.AsUint64()
	case schema.KindUint64:
		return v.AsUint64()
	case schema.KindDouble:
		return v.AsDouble()
	case schema.KindBoolean:
		return v.AsBoolean()
	case schema.KindString, schema.KindAny:
		if s := v.AsString(); strings.ToValidUTF8(s, "") == s {
			return s
		}
		return []byte(v.AsString())
	default:
		return nil
	}
}

func TestALifeIsCBORAndComesBack(t *testing.T) {
	c := newLifeCodec(kept)
	rapid.Check(t, func(t *rapid.T) {
		l := drawLife(t)
		b, err := c.Encode(l)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Decode(b); err != nil || !reflect.DeepEqual(got, l) {
			t.Fatalf("%v became %v, error %v", l, got, err)
		}
		want := map[string]any{"latest": asGo(schema.Int64(int64(l.latest)))}
		for i, a := range kept {
			want[a.text] = asGo(l.values[i])
		}
		if got, err := flow.CBOR[map[string]any]().Decode(b); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("others read %v, error %v, want %v", got, err, want)
		}
	})
}

func TestALifeOfExtremeValues(t *testing.T) {
	c := newLifeCodec(kept[:3])
	for _, l := range []life{
		{flow.Time(math.MinInt64), schema.Row{schema.Int64(math.MinInt64), schema.Uint64(math.MaxUint64), schema.Double(math.Inf(-1))}},
		{flow.Time(math.MaxInt64), schema.Row{schema.Int64(math.MaxInt64), schema.Uint64(0), schema.Double(math.NaN())}},
		{-1, schema.Row{schema.Int64(-1), schema.Uint64(23), schema.Double(math.Copysign(0, -1))}},
		{24, schema.Row{schema.Int64(255), schema.Uint64(256), schema.Null()}},
		{65535, schema.Row{schema.Int64(65536), schema.Uint64(1<<32 - 1), schema.Double(math.MaxFloat64)}},
	} {
		b, err := c.Encode(l)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Decode(b); err != nil || got.latest != l.latest || !reflect.DeepEqual(got.values.String(), l.values.String()) {
			t.Errorf("%v became %v, error %v", l, got, err)
		}
	}
}

// FuzzLife looks for bytes that the decoder takes and the encoder does not write
// with the same meaning.
func FuzzLife(f *testing.F) {
	c := newLifeCodec(kept[:2])
	for _, l := range []life{{1, schema.Row{schema.Int64(-500), schema.Uint64(70000)}}, {0, make(schema.Row, 2)}} {
		b, err := c.Encode(l)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
		f.Add(append(b, 0))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := c.Decode(b)
		if err != nil {
			return
		}
		again, err := c.Encode(l)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Decode(again); err != nil || !reflect.DeepEqual(got, l) {
			t.Fatalf("%x is %v, which is written as %x and read as %v, error %v", b, l, again, got, err)
		}
	})
}

func TestEveryPrefixOfALifeIsAnError(t *testing.T) {
	c := newLifeCodec(kept)
	b, err := c.Encode(life{1 << 40, schema.Row{schema.Int64(300), schema.Uint64(1 << 40), schema.Double(1), schema.Boolean(true), schema.String("text"), schema.Any("{}")}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if l, err := c.Decode(b[:n]); err == nil {
			t.Errorf("%d bytes of %d are read as %v", n, len(b), l)
		}
	}
	if l, err := c.Decode(append(b, 0xf6)); err == nil {
		t.Errorf("with a byte more it is read as %v", l)
	}
}
