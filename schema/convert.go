package schema

import (
	"fmt"
	"math"
	"time"
)

// Convert returns v as a value of the column's type, and checks it as
// [Schema.Check] does. Errors name the column.
func (c Column) Convert(v any) (Value, error) {
	value, err := c.Type.Convert(v)
	return c.checked(value, err)
}

// ParseText returns the value that text spells, and checks it as
// [Schema.Check] does. Errors name the column.
func (c Column) ParseText(text string) (Value, error) {
	value, err := c.Type.ParseText(text)
	return c.checked(value, err)
}

func (c Column) checked(v Value, err error) (Value, error) {
	if err != nil {
		return Value{}, &ColumnError{Column: c.Name, Err: err}
	}
	if !c.allows(&v) {
		return Value{}, c.refuse(v)
	}
	return v, nil
}

// Convert returns v, a Go value, as a value of type t; nil is null. Nothing is
// rounded or cut: a number with a fraction is no integer, an integer must lie
// in the type's range and be exact as a double. Strings and byte slices are for
// string types, [time.Time] (and text in RFC 3339) for the types of time,
// flow.Time for the same where it is exact (a timestamp keeps its microseconds),
// [time.Duration] for interval, a [Value] for its own kind; structured values
// are given as [Any].
func (t Type) Convert(v any) (Value, error) {
	value, err := t.convert(v)
	if err != nil {
		return Value{}, err
	}
	column := Column{Type: t}
	if !column.allows(&value) {
		return Value{}, column.whyNot(value)
	}
	return value, nil
}

// instant is an instant in a form of its own, such as the times of messages.
type instant interface{ Std() time.Time }

// fromInstant is for instants that no one has rounded on purpose: a timestamp has their
// microseconds, and the coarser types take what is exact in them.
func (t Type) fromInstant(at time.Time) (Value, error) {
	if unit := t.TimeUnit(); unit > time.Microsecond && at.UnixNano()%int64(unit) != 0 {
		return Value{}, fmt.Errorf("%s is not exact as a %s: give a time.Time that is cut to what you mean", at.Format(time.RFC3339Nano), t)
	}
	return t.fromTime(at)
}

func (t Type) convert(v any) (Value, error) {
	switch v := v.(type) {
	case nil:
		return Null(), nil
	case Value:
		return v, nil
	case bool:
		return t.fromBool(v)
	case string:
		return t.fromString(v)
	case []byte:
		return t.fromString(string(v))
	case float64:
		return t.fromFloat(v)
	case float32:
		return t.fromFloat(float64(v))
	case time.Time:
		return t.fromTime(v)
	case instant:
		return t.fromInstant(v.Std())
	case time.Duration:
		return t.fromDuration(v)
	default:
		return t.convertInteger(v)
	}
}

func (t Type) convertInteger(v any) (Value, error) {
	switch v := v.(type) {
	case int:
		return t.fromInt(int64(v))
	case int64:
		return t.fromInt(v)
	case uint64:
		return t.fromUint(v)
	case int32:
		return t.fromInt(int64(v))
	case int16:
		return t.fromInt(int64(v))
	case int8:
		return t.fromInt(int64(v))
	case uint:
		return t.fromUint(uint64(v))
	case uint32:
		return t.fromUint(uint64(v))
	case uint16:
		return t.fromUint(uint64(v))
	case uint8:
		return t.fromUint(uint64(v))
	default:
		return Value{}, fmt.Errorf("a Go value of type %T is no column value, want %s", v, t)
	}
}

// want is the error of a value of the wrong sort.
func (t Type) want(v Value, what string) error {
	return fmt.Errorf("%s is %s, want %s", shorten(v), what, t)
}

func (t Type) fromBool(b bool) (Value, error) {
	if t != TypeBoolean {
		return Value{}, t.want(Boolean(b), "a boolean")
	}
	return Boolean(b), nil
}

func (t Type) fromString(s string) (Value, error) {
	switch t {
	case TypeString, TypeUTF8:
		return String(s), nil
	case TypeDate, TypeDatetime, TypeTimestamp:
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return Value{}, fmt.Errorf("%s is no time such as 2006-01-02T15:04:05Z, want %s", shorten(String(s)), t)
		}
		return t.fromTime(at)
	default:
		return Value{}, t.want(String(s), "a string")
	}
}

func (t Type) fromInt(i int64) (Value, error) {
	switch t.Kind() {
	case KindInt64:
		return Int64(i), nil
	case KindUint64:
		if i < 0 {
			return Value{}, fmt.Errorf("%d is negative, want %s", i, t)
		}
		return Uint64(uint64(i)), nil
	case KindDouble:
		// 2^63 itself is no int64, and converting it back is not defined.
		if f := float64(i); f == 1<<63 || int64(f) != i {
			return Value{}, fmt.Errorf("%d is not exact as a %s", i, t)
		}
		return Double(float64(i)), nil
	default:
		return Value{}, t.want(Int64(i), "an integer")
	}
}

func (t Type) fromUint(u uint64) (Value, error) {
	switch {
	case u <= math.MaxInt64:
		return t.fromInt(int64(u))
	case t.Kind() == KindUint64:
		return Uint64(u), nil
	case t.Kind() == KindInt64:
		return Value{}, fmt.Errorf("%d is out of range of %s", u, t)
	case t.Kind() == KindDouble:
		if f := float64(u); f == 1<<64 || uint64(f) != u {
			return Value{}, fmt.Errorf("%d is not exact as a %s", u, t)
		}
		return Double(float64(u)), nil
	default:
		return Value{}, t.want(Uint64(u), "an integer")
	}
}

func (t Type) fromFloat(f float64) (Value, error) {
	kind := t.Kind()
	switch {
	case kind == KindDouble:
		return Double(f), nil
	case kind != KindInt64 && kind != KindUint64:
		return Value{}, t.want(Double(f), "a number")
	case f != f || math.IsInf(f, 0):
		return Value{}, fmt.Errorf("%v is no integer, want %s", f, t)
	case f != math.Trunc(f):
		return Value{}, fmt.Errorf("%v has a fraction, want %s", f, t)
	case f >= -1<<63 && f < 1<<63:
		return t.fromInt(int64(f))
	case f > 0 && f < 1<<64:
		return t.fromUint(uint64(f))
	default:
		return Value{}, fmt.Errorf("%v is out of range of %s", f, t)
	}
}

func (t Type) fromTime(at time.Time) (Value, error) {
	// Outside these years UnixMicro is not defined, and no type of time reaches.
	if at.Year() < 1970 || at.Year() > 3000 {
		return Value{}, fmt.Errorf("%s is out of range of %s", at.Format(time.RFC3339), t)
	}
	unit := t.TimeUnit()
	if unit == 0 {
		return Value{}, fmt.Errorf("%s is a time, want %s", at.Format(time.RFC3339), t)
	}
	return t.fromInt(at.UnixMicro() / unit.Microseconds())
}

func (t Type) fromDuration(d time.Duration) (Value, error) {
	if t != TypeInterval {
		return Value{}, fmt.Errorf("%s is a duration, want %s", d, t)
	}
	return Int64(d.Microseconds()), nil
}
