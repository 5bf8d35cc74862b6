package datagen

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// filler returns the value of a column in a row.
type filler func(*row) schema.Value

// row is what the columns of a row are made of. Each filler draws from random in
// turn.
type row struct {
	number uint64
	key    uint64
	random random
}

// errType is that a kind has no values of a type.
func errType(kind, types string, t schema.Type) error {
	return fmt.Errorf("kind %s is for columns of %s, this one is %s", kind, types, t)
}

// fillNumber fills numbers, and text that is a word and a number.
func fillNumber(t schema.Type, kind string, number func(*row) uint64) (filler, error) {
	word, largest := "row", largest(t)
	if kind == kindKey {
		word = "key"
	}
	switch t.Kind() {
	case schema.KindInt64:
		return func(r *row) schema.Value { return schema.Int64(int64(wrap(number(r), largest))) }, nil
	case schema.KindUint64:
		return func(r *row) schema.Value { return schema.Uint64(wrap(number(r), largest)) }, nil
	case schema.KindDouble:
		single := t == schema.TypeFloat
		return func(r *row) schema.Value { return double(float64(number(r)), single) }, nil
	case schema.KindString:
		return func(r *row) schema.Value {
			var b [24]byte
			return schema.String(string(strconv.AppendUint(append(b[:0], word...), number(r), 10)))
		}, nil
	default:
		return nil, errType(kind, "numbers and text", t)
	}
}

// double returns a number as a column has it that is single precision or not.
func double(f float64, single bool) schema.Value {
	if single {
		f = float64(float32(f))
	}
	return schema.Double(f)
}

// wrap begins again at 0 behind the largest number.
func wrap(n, largest uint64) uint64 {
	if n <= largest {
		return n
	}
	return n % (largest + 1)
}

// largest is the largest integer of a type.
func largest(t schema.Type) uint64 {
	n := uint64(0)
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		if _, err := t.Convert(n | bit); err == nil {
			n |= bit
		}
	}
	return n
}

// fillTimestamp fills times. Without an end they begin again at the start behind
// the last time that the type holds.
func fillTimestamp(t schema.Type, k Column, rows uint64) (filler, error) {
	start, err := time.Parse(time.RFC3339, k.Start)
	if err != nil {
		return nil, fmt.Errorf("start %q is no time such as 2006-01-02T15:04:05Z", k.Start)
	}
	unit, limit := timeUnit(t), uint64(math.MaxInt64)
	switch {
	case unit == 0:
		return nil, errType(k.Kind, "times, integers and text", t)
	case t.Kind() != schema.KindString && largest(t) < limit/uint64(unit):
		limit = largest(t) * uint64(unit)
	}
	if start.Year() < 1970 || start.Year() > 2261 || uint64(start.UnixNano()) > limit {
		return nil, fmt.Errorf("start %s is out of range of %s", k.Start, t)
	}
	from, step := uint64(start.UnixNano()), uint64(k.Step)
	last := uint64(0) // the row with the largest time
	if step > 0 {
		if last = (limit - from) / step; last+1 < max(2, rows) {
			return nil, fmt.Errorf("start %s and step %s bring row %d out of range of %s: take a smaller step or count", k.Start, yson.FormatDuration(k.Step), last+1, t)
		}
	}
	at := func(r *row) uint64 { return from + wrap(r.number, last)*step }
	switch t.Kind() {
	case schema.KindString:
		return func(r *row) schema.Value {
			return schema.String(time.Unix(0, int64(at(r))).UTC().Format(time.RFC3339Nano))
		}, nil
	case schema.KindInt64:
		return func(r *row) schema.Value { return schema.Int64(int64(at(r) / uint64(unit))) }, nil
	default:
		return func(r *row) schema.Value { return schema.Uint64(at(r) / uint64(unit)) }, nil
	}
}

// timeUnit is what a column counts its times in, 0 if it holds none.
func timeUnit(t schema.Type) time.Duration {
	if unit := t.TimeUnit(); unit != 0 || t == schema.TypeInterval {
		return unit
	}
	switch t.Kind() {
	case schema.KindInt64, schema.KindUint64:
		return time.Second
	case schema.KindString:
		return time.Nanosecond
	default:
		return 0
	}
}

// fillPayload fills text with pieces of a block of it.
func fillPayload(t schema.Type, b *block) (filler, error) {
	text, size := b.get(), b.payload
	piece := func(r *row) string {
		from := int(r.random.below(uint64(len(text) - size + 1)))
		return text[from : from+size]
	}
	switch t.Kind() {
	case schema.KindString:
		return func(r *row) schema.Value { return schema.String(piece(r)) }, nil
	case schema.KindAny:
		return func(r *row) schema.Value { return schema.Any(`"` + piece(r) + `"`) }, nil
	default:
		return nil, errType(kindPayload, "text", t)
	}
}

// fillRandom fills numbers and booleans.
func fillRandom(c *schema.Column, k Column) (filler, error) {
	switch c.Type.Kind() {
	case schema.KindBoolean:
		return func(r *row) schema.Value { return schema.Boolean(r.random.below(2) == 1) }, nil
	case schema.KindDouble:
		low, high, err := bounds(c, k, 0.0, 1.0)
		if err == nil && !(high-low <= math.MaxFloat64) {
			err = errors.New("max - min is not finite")
		}
		single := c.Type == schema.TypeFloat
		return func(r *row) schema.Value { return double(low+r.random.unit()*(high-low), single) }, err
	case schema.KindInt64:
		low, high, err := bounds(c, k, int64(0), int64(min(999, largest(c.Type))))
		return func(r *row) schema.Value {
			return schema.Int64(low + int64(r.random.upTo(uint64(high)-uint64(low))))
		}, err
	case schema.KindUint64:
		low, high, err := bounds(c, k, uint64(0), min(999, largest(c.Type)))
		return func(r *row) schema.Value { return schema.Uint64(low + r.random.upTo(high-low)) }, err
	default:
		return nil, errType(kindRandom, "numbers and booleans", c.Type)
	}
}

// bounds reads min and max.
func bounds[T int64 | uint64 | float64](c *schema.Column, k Column, low, high T) (T, T, error) {
	for _, b := range []struct {
		name string
		node *yson.Node
		to   *T
	}{{"min", k.Min, &low}, {"max", k.Max, &high}} {
		if problems := yson.Decode(b.node, b.name, b.to); problems != nil {
			return 0, 0, fmt.Errorf("%s: %s", b.name, problems[0].Message)
		}
		if _, err := c.Convert(*b.to); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", b.name, err)
		}
	}
	if low > high {
		return 0, 0, fmt.Errorf("min %v is larger than max %v", low, high)
	}
	return low, high, nil
}

// fillConstant fills the value of the spec.
func fillConstant(c *schema.Column, n *yson.Node) (filler, error) {
	if n == nil {
		return nil, errors.New("kind constant needs a value")
	}
	v, err := valueOf(c, n)
	return func(*row) schema.Value { return v }, err
}

func valueOf(c *schema.Column, n *yson.Node) (schema.Value, error) {
	if c.Type == schema.TypeAny && n.IsSet() {
		return schema.Any(string(yson.Encode(n))), nil
	}
	switch n.Kind {
	case yson.KindEntity:
		return c.Convert(nil)
	case yson.KindBoolean:
		return c.Convert(n.Bool)
	case yson.KindInt64:
		return c.Convert(n.Int)
	case yson.KindUint64:
		return c.Convert(n.Uint)
	case yson.KindDouble:
		return c.Convert(n.Double)
	case yson.KindString:
		return c.Convert(n.Text)
	default:
		return schema.Value{}, fmt.Errorf("the value is %s, want %s", n.Kind, c.Type)
	}
}
