package function

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/schema"
)

// op is an operation of rollup.
type op struct {
	// add returns the aggregate with one more value. newest tells that no message
	// of the key so far has a larger event timestamp.
	add func(have, v schema.Value, newest bool) (schema.Value, error)
	// takes lists the kinds of values that it works on, nil for all.
	takes []schema.Kind
	// counts tells that the result is an int64, whatever the values, and begins
	// at zero. Then a column need not be given.
	counts bool
}

var (
	numbers = []schema.Kind{schema.KindInt64, schema.KindUint64, schema.KindDouble}
	ordered = []schema.Kind{schema.KindInt64, schema.KindUint64, schema.KindDouble, schema.KindBoolean, schema.KindString}
)

// ops are the operations by the names that specs use.
var ops = map[string]op{
	"count": {add: count, counts: true},
	"sum":   {add: sum, takes: numbers},
	"min":   {add: smallest, takes: ordered},
	"max":   {add: largest, takes: ordered},
	"last":  {add: last},
}

// opNames lists the operations for messages.
func opNames() string { return strings.Join(slices.Sorted(maps.Keys(ops)), ", ") }

func count(have, v schema.Value, _ bool) (schema.Value, error) {
	if v.IsNull() {
		return have, nil
	}
	return schema.Int64(have.AsInt64() + 1), nil
}

var errOverflow = errors.New("the sum leaves the range of 64 bits: sum a double column, or evict the key earlier")

func sum(have, v schema.Value, _ bool) (schema.Value, error) {
	switch {
	case v.IsNull():
		return have, nil
	case have.IsNull():
		return v, nil
	case v.Kind() == schema.KindDouble:
		return schema.Double(have.AsDouble() + v.AsDouble()), nil
	case v.Kind() == schema.KindUint64:
		a, b := have.AsUint64(), v.AsUint64()
		if a > math.MaxUint64-b {
			return schema.Value{}, errOverflow
		}
		return schema.Uint64(a + b), nil
	default:
		a, b := have.AsInt64(), v.AsInt64()
		s := a + b
		if s > a != (b > 0) && b != 0 {
			return schema.Value{}, errOverflow
		}
		return schema.Int64(s), nil
	}
}

func smallest(have, v schema.Value, _ bool) (schema.Value, error) {
	if v.IsNull() || !have.IsNull() && schema.Compare(have, v) <= 0 {
		return have, nil
	}
	return v, nil
}

func largest(have, v schema.Value, _ bool) (schema.Value, error) {
	if v.IsNull() || !have.IsNull() && schema.Compare(have, v) >= 0 {
		return have, nil
	}
	return v, nil
}

func last(have, v schema.Value, newest bool) (schema.Value, error) {
	if newest {
		return v, nil
	}
	return have, nil
}
