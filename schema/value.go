package schema

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Value is one immutable column value: null, a number, a boolean, or bytes.
// The zero Value is null. Values are comparable: == holds when kind and bits
// are equal (so NaN == NaN, and -0 != +0, where [Compare] says they are equal).
type Value struct {
	str  string
	num  uint64
	kind Kind
}

// Null returns the null value.
func Null() Value { return Value{} }

// Int64 returns a signed integer value.
func Int64(v int64) Value { return Value{kind: KindInt64, num: uint64(v)} }

// Uint64 returns an unsigned integer value.
func Uint64(v uint64) Value { return Value{kind: KindUint64, num: v} }

// Double returns a floating-point value; its bits are kept, NaN payload and
// sign of zero included.
func Double(v float64) Value { return Value{kind: KindDouble, num: math.Float64bits(v)} }

// Boolean returns a boolean value.
func Boolean(v bool) Value {
	if v {
		return Value{kind: KindBoolean, num: 1}
	}
	return Value{kind: KindBoolean}
}

// String returns a value of bytes, which need not be UTF-8.
func String(s string) Value { return Value{kind: KindString, str: s} }

// Any returns a structured value given as YSON text, which is not checked here.
func Any(yson string) Value { return Value{kind: KindAny, str: yson} }

// Kind returns the physical kind.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// AsInt64 returns the value of a KindInt64; 0 for a null. The accessor of
// another kind than the value's returns the raw content, never panics: check
// the kind where it is not known from a schema.
func (v Value) AsInt64() int64 { return int64(v.num) }

// AsUint64 returns the value of a KindUint64; 0 for a null.
func (v Value) AsUint64() uint64 { return v.num }

// AsDouble returns the value of a KindDouble; 0 for a null.
func (v Value) AsDouble() float64 { return math.Float64frombits(v.num) }

// AsBoolean returns the value of a KindBoolean; false for a null.
func (v Value) AsBoolean() bool { return v.num != 0 }

// AsString returns the bytes of a KindString or the YSON text of a KindAny;
// empty for a null.
func (v Value) AsString() string { return v.str }

// String prints the value for logs and tests: null, -1, 1u, 1.5, true, "text";
// YSON text as it is.
func (v Value) String() string {
	switch v.kind {
	case KindInt64:
		return strconv.FormatInt(v.AsInt64(), 10)
	case KindUint64:
		return strconv.FormatUint(v.num, 10) + "u"
	case KindDouble:
		return formatDouble(v.AsDouble())
	case KindBoolean:
		return strconv.FormatBool(v.AsBoolean())
	case KindString:
		return strconv.Quote(v.str)
	case KindAny:
		return v.str
	default:
		return "null"
	}
}

// formatDouble keeps a mark of the type, so that 1.0 is not printed as 1.
func formatDouble(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if strings.ContainsAny(s, ".eIN") {
		return s
	}
	return s + ".0"
}

// Compare orders values as their keys are ordered: by kind (null < int64 <
// uint64 < double < boolean < string < any), then by value. -0 equals +0; NaN
// equals NaN and comes after +infinity; strings compare by bytes.
func Compare(a, b Value) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	switch a.kind {
	case KindInt64:
		return cmp.Compare(a.AsInt64(), b.AsInt64())
	case KindDouble:
		return compareDoubles(a.AsDouble(), b.AsDouble())
	case KindString, KindAny:
		return strings.Compare(a.str, b.str)
	default:
		return cmp.Compare(a.num, b.num)
	}
}

// compareDoubles puts NaN last, where cmp.Compare puts it first.
func compareDoubles(a, b float64) int {
	aNaN, bNaN := a != a, b != b
	if aNaN || bNaN {
		return cmp.Compare(b2i(aNaN), b2i(bNaN))
	}
	return cmp.Compare(a, b)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
