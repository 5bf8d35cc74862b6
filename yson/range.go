package yson

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// rangeRules bound a number: all must hold.
type rangeRules []rangeRule

// rangeRule compares a value with a bound given as its type is written: a
// number, a duration such as 1s, a size such as 1Ki.
type rangeRule struct{ op, bound string }

// parseRange reads a range tag such as ">0,<=1".
func parseRange(tag string) rangeRules {
	var rules rangeRules
	for part := range strings.SplitSeq(tag, ",") {
		if part == "" {
			continue
		}
		bound := strings.TrimLeft(part, "<>=")
		rules = append(rules, rangeRule{op: part[:len(part)-len(bound)], bound: bound})
	}
	return rules
}

// String prints the rules for a message: "> 0 and <= 1".
func (rs rangeRules) String() string {
	parts := make([]string, len(rs))
	for i, r := range rs {
		parts[i] = r.op + " " + r.bound
	}
	return strings.Join(parts, " and ")
}

func (rs rangeRules) allow(v reflect.Value) bool {
	for _, r := range rs {
		if !r.allows(v) {
			return false
		}
	}
	return true
}

// allows compares in float64, which is exact enough for the small bounds that
// tags hold.
func (r rangeRule) allows(v reflect.Value) bool {
	value, bound := number(v), r.number(v)
	switch r.op {
	case ">":
		return value > bound
	case ">=":
		return value >= bound
	case "<":
		return value < bound
	case "<=":
		return value <= bound
	default:
		panic(fmt.Sprintf("yson: unknown operator %q in a range tag", r.op))
	}
}

func number(v reflect.Value) float64 {
	switch {
	case v.CanFloat():
		return v.Float()
	case v.CanUint():
		return float64(v.Uint())
	default:
		return float64(v.Int())
	}
}

func (r rangeRule) number(v reflect.Value) float64 {
	var bound float64
	var err error
	switch v.Interface().(type) {
	case time.Duration:
		var d time.Duration
		d, err = ParseDuration(r.bound)
		bound = float64(d)
	case Size:
		var s Size
		s, err = ParseSize(r.bound)
		bound = float64(s)
	default:
		bound, err = strconv.ParseFloat(r.bound, 64)
	}
	if err != nil {
		panic(fmt.Sprintf("yson: bad bound %q in a range tag", r.bound))
	}
	return bound
}
