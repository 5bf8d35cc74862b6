package yson

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// setBool takes %true, and the words true and false, which YSON reads as
// strings where the % is forgotten.
func setBool(n *Node, v reflect.Value) error {
	switch {
	case n.Kind == KindBoolean:
		v.SetBool(n.Bool)
	case n.Kind == KindString && (n.Text == "true" || n.Text == "false"):
		v.SetBool(n.Text == "true")
	default:
		return fmt.Errorf("want a boolean, got %s: write %%true or %%false", describe(n))
	}
	return nil
}

func setFloat(n *Node, v reflect.Value) error {
	switch n.Kind {
	case KindDouble:
		v.SetFloat(n.Double)
	case KindInt64:
		v.SetFloat(float64(n.Int))
	case KindUint64:
		v.SetFloat(float64(n.Uint))
	default:
		return fmt.Errorf("want a number, got %s", describe(n))
	}
	if math.IsNaN(v.Float()) {
		return fmt.Errorf("want a number, got %%nan")
	}
	return nil
}

func setDuration(n *Node, v reflect.Value) error {
	switch n.Kind {
	case KindString:
		d, err := ParseDuration(n.Text)
		v.SetInt(int64(d))
		return err
	case KindInt64, KindUint64:
		if n.Kind == KindInt64 && n.Int < 0 {
			return fmt.Errorf("a duration cannot be negative, got %d", n.Int)
		}
		ms := n.Uint + uint64(n.Int) // one of them is 0
		if ms > math.MaxInt64/uint64(time.Millisecond) {
			return fmt.Errorf("%d ms is too long: at most 292 years", ms)
		}
		v.SetInt(int64(ms) * int64(time.Millisecond))
		return nil
	default:
		return fmt.Errorf(`want a duration, got %s: write text such as "1d12h" or "500ms", or an integer in milliseconds`, describe(n))
	}
}

// setInteger fills any integer type, from integers and from text with a unit.
func setInteger(n *Node, v reflect.Value) error {
	switch n.Kind {
	case KindInt64:
		return setInt64(n.Int, v)
	case KindUint64:
		if n.Uint <= math.MaxInt64 {
			return setInt64(int64(n.Uint), v)
		}
		if !v.CanUint() || v.OverflowUint(n.Uint) {
			return outOfRange(n.Uint, v)
		}
		v.SetUint(n.Uint)
		return nil
	case KindString:
		size, err := ParseSize(n.Text)
		if err != nil {
			return err
		}
		return setInt64(int64(size), v)
	default:
		return fmt.Errorf("want an integer, got %s", describe(n))
	}
}

func setInt64(i int64, v reflect.Value) error {
	switch {
	case v.CanUint() && (i < 0 || v.OverflowUint(uint64(i))), v.CanInt() && v.OverflowInt(i):
		return outOfRange(i, v)
	case v.CanUint():
		v.SetUint(uint64(i))
	default:
		v.SetInt(i)
	}
	return nil
}

func outOfRange(number any, v reflect.Value) error {
	return fmt.Errorf("%d is out of the range of %s", number, v.Kind())
}

// limitError is a value that its field's tags do not allow.
type limitError struct{ message, allowed string }

func (e *limitError) Error() string { return e.message }

// check applies a field's range and enum tags to the value just set.
func (lim limits) check(n *Node, v reflect.Value) error {
	if len(lim.enum) > 0 && v.Kind() == reflect.String {
		for _, word := range lim.enum {
			if v.String() == word {
				return nil
			}
		}
		allowed := strings.Join(lim.enum, ", ")
		return &limitError{fmt.Sprintf("%q is not one of %s", v.String(), allowed), "one of " + allowed}
	}
	switch {
	case lim.rules == nil:
		return nil
	case v.CanFloat() && math.IsInf(v.Float(), 0):
		return &limitError{fmt.Sprintf("must be finite and %s, got %s", lim.rules, printNumber(n, v)), lim.rules.String()}
	case lim.rules.allow(v):
		return nil
	}
	return &limitError{fmt.Sprintf("must be %s, got %s", lim.rules, printNumber(n, v)), lim.rules.String()}
}

// explain adds what a field's tags allow to an error about its form.
func (lim limits) explain(err error) error {
	switch {
	case len(lim.enum) > 0:
		allowed := "one of " + strings.Join(lim.enum, ", ")
		return &limitError{fmt.Sprintf("%v; it must be %s", err, allowed), allowed}
	case lim.rules != nil:
		return &limitError{fmt.Sprintf("%v; it must be %s", err, lim.rules), lim.rules.String()}
	}
	return err
}

// printNumber prints a refused value as it was written.
func printNumber(n *Node, v reflect.Value) string {
	if n.Kind == KindString {
		return n.Text
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		return FormatDuration(time.Duration(v.Int()))
	}
	return string(appendScalar(nil, n))
}
