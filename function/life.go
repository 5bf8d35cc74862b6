package function

import (
	"fmt"
	"math"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// life is the state: what is known of a key since its first message, or the
// first one after an eviction.
type life struct {
	// Latest is the largest event timestamp.
	Latest flow.Time `cbor:"latest"`
	// Of and Values are the aggregates and what they are.
	Of     string `cbor:"of"`
	Values []any  `cbor:"values"`
}

// load fills r.values with the aggregates of a key, or with those of no messages
// if it has none.
func (r *rollup) load(h flow.Handle[life]) (latest flow.Time, known bool, err error) {
	l, known, err := h.Get()
	if err != nil {
		return 0, false, err
	}
	if !known {
		r.reset()
		return 0, false, nil
	}
	if l.Of != r.of || len(l.Values) != len(r.aggregates) {
		return 0, false, fmt.Errorf("the stored aggregates are %q, those of the spec are %q: go back to the former ones, or start over with an empty data folder", l.Of, r.of)
	}
	for i, v := range l.Values {
		if r.values[i], err = valueOf(r.aggregates[i].kind, v); err != nil {
			return 0, false, fmt.Errorf("the stored aggregate %s: %w", r.aggregates[i].text, err)
		}
	}
	return l.Latest, true, nil
}

func (r *rollup) reset() {
	for i := range r.values {
		r.values[i] = schema.Null()
		if r.aggregates[i].op.counts {
			r.values[i] = schema.Int64(0)
		}
	}
}

func (r *rollup) save(h flow.Handle[life], latest flow.Time) error {
	l := life{Latest: latest, Of: r.of, Values: make([]any, len(r.values))}
	for i, v := range r.values {
		l.Values[i] = stored(v)
	}
	return h.Set(l)
}

// stored returns a value as a Go value, which CBOR writes as what it is.
func stored(v schema.Value) any {
	switch v.Kind() {
	case schema.KindInt64:
		return v.AsInt64()
	case schema.KindUint64:
		return v.AsUint64()
	case schema.KindDouble:
		return v.AsDouble()
	case schema.KindBoolean:
		return v.AsBoolean()
	case schema.KindString, schema.KindAny:
		return v.AsString()
	default:
		return nil
	}
}

// valueOf is the reverse of stored. CBOR has one kind of integer, which comes
// back as uint64 unless it is negative.
func valueOf(kind schema.Kind, v any) (schema.Value, error) {
	switch v := v.(type) {
	case nil:
		return schema.Null(), nil
	case uint64:
		if kind == schema.KindUint64 {
			return schema.Uint64(v), nil
		}
		if kind == schema.KindInt64 && v <= math.MaxInt64 {
			return schema.Int64(int64(v)), nil
		}
	case int64:
		if kind == schema.KindInt64 {
			return schema.Int64(v), nil
		}
	case float64:
		if kind == schema.KindDouble {
			return schema.Double(v), nil
		}
	case bool:
		if kind == schema.KindBoolean {
			return schema.Boolean(v), nil
		}
	case string:
		if kind == schema.KindString {
			return schema.String(v), nil
		}
		if kind == schema.KindAny {
			return schema.Any(v), nil
		}
	}
	return schema.Value{}, fmt.Errorf("%v (%T) is no %s", v, v, kind)
}
