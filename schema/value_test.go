package schema

import (
	"math"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func TestValueIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Value{}); size > 32 {
		t.Fatalf("a value takes %d bytes", size)
	}
}

func TestValuesKeepTheirContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i, u := rapid.Int64().Draw(t, "i"), rapid.Uint64().Draw(t, "u")
		d, s := genDouble().Draw(t, "d"), genString().Draw(t, "s")
		switch {
		case Int64(i).AsInt64() != i, Uint64(u).AsUint64() != u:
			t.Fatal("integers change")
		case math.Float64bits(Double(d).AsDouble()) != math.Float64bits(d):
			t.Fatal("doubles change")
		case String(s).AsString() != s, Any(s).AsString() != s:
			t.Fatal("strings change")
		case !Boolean(true).AsBoolean(), Boolean(false).AsBoolean():
			t.Fatal("booleans change")
		}
	})
}

func TestNullIsTheZeroValue(t *testing.T) {
	v := Null()
	if v != (Value{}) || !v.IsNull() || v.AsInt64() != 0 || v.AsUint64() != 0 || v.AsDouble() != 0 || v.AsBoolean() || v.AsString() != "" {
		t.Fatalf("null is %#v", v)
	}
}

func TestValuesPrintWithTheirKind(t *testing.T) {
	row := Row{Null(), Int64(-1), Uint64(1), Double(1), Double(1.5), Double(1e300), Double(math.NaN()), Double(math.Inf(-1)),
		Boolean(true), String("a\x00\""), Any("{a=1}")}
	want := `[null, -1, 1u, 1.0, 1.5, 1e+300, NaN, -Inf, true, "a\x00\"", {a=1}]`
	if row.String() != want {
		t.Fatalf("got  %s\nwant %s", row, want)
	}
	if KindAny.String() != "any" || Kind(99).String() != "unknown" {
		t.Fatal("kinds print wrongly")
	}
}

// TestCompareIsAnOrder checks reflexivity, antisymmetry and transitivity.
func TestCompareIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := genValue().Draw(t, "a"), genValue().Draw(t, "b"), genValue().Draw(t, "c")
		switch {
		case Compare(a, a) != 0:
			t.Fatal("a value differs from itself")
		case Compare(a, b) != -Compare(b, a):
			t.Fatal("the order depends on the side")
		case Compare(a, b) <= 0 && Compare(b, c) <= 0 && Compare(a, c) > 0:
			t.Fatal("the order is no order")
		}
	})
}

func TestZerosAreEqualAndNaNIsLast(t *testing.T) {
	negative := math.Copysign(0, -1)
	if Compare(Double(0), Double(negative)) != 0 {
		t.Error("-0 and +0 differ")
	}
	if Compare(Double(math.NaN()), Double(math.Inf(1))) != 1 || Compare(Double(math.NaN()), Double(-math.NaN())) != 0 {
		t.Error("NaN is not the one largest double")
	}
}
