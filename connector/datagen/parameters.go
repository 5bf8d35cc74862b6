package datagen

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Parameters are the parameters of the source "datagen".
type Parameters struct {
	// Count is how many rows there are in all partitions together; 0 is no end.
	Count int64 `yson:"count" range:">=0"`
	// Finite sources are completed behind the last of Count rows; others stay.
	Finite bool `yson:"finite"`
	// Rate is how many rows come in a second, in all partitions together; 0 is as
	// many as are taken.
	Rate float64 `yson:"rate" range:">=0,<=1e9"`
	// Partitions is the number of partitions, which are "0", "1" and so on.
	Partitions int `yson:"partitions" range:">=1,<=10000"`
	// Seed changes everything that is random.
	Seed int64 `yson:"seed"`
	// Keys says which keys there are, and how often.
	Keys Keys `yson:"keys"`
	// PayloadSize is the number of bytes of a payload.
	PayloadSize yson.Size `yson:"payload_size" range:">=0,<=64Mi"`
	// Columns says where the values of columns come from, by name. The others get
	// what suits their types.
	Columns map[string]*Column `yson:"columns"`
}

// SetDefaults implements [yson.Defaulter].
func (p *Parameters) SetDefaults() {
	p.Partitions, p.PayloadSize = 1, 100
	p.Keys = Keys{Count: 1000, Distribution: uniform, S: 1.1, V: 1}
}

// Keys are the keys of rows: numbers from 0 on.
type Keys struct {
	// Count is how many keys there are.
	Count int64 `yson:"count" range:">=1"`
	// Distribution is uniform, where all keys are equally frequent, or zipf, where
	// key k has a frequency proportional to (v + k) ** -s.
	Distribution string `yson:"distribution" enum:"uniform zipf"`
	// S is the exponent of zipf: the larger, the more the first keys prevail.
	S float64 `yson:"s" range:">=1.001,<=10"`
	// V is what zipf adds to keys: the larger, the less the first keys prevail.
	V float64 `yson:"v" range:">=1,<=1e9"`
}

const (
	uniform = "uniform"
	zipf    = "zipf"
)

// Column says where the values of a column come from.
type Column struct {
	// Kind is key, sequence, timestamp, payload, random or constant.
	Kind string `yson:"kind,required" enum:"key sequence timestamp payload random constant"`
	// Min is the smallest random number; 0 if it is not given.
	Min *yson.Node `yson:"min"`
	// Max is the largest random integer, and what other random numbers are below;
	// 999 or 1 if it is not given.
	Max *yson.Node `yson:"max"`
	// Start is the timestamp of the first row, in RFC 3339; 2024-01-01T00:00:00Z
	// if it is not given.
	Start string `yson:"start"`
	// Step is how much later the timestamp of each row is than that of the row
	// before; a second if it is not given.
	Step time.Duration `yson:"step"`
	// Value is the constant.
	Value *yson.Node `yson:"value"`
}

// SetDefaults implements [yson.Defaulter].
func (c *Column) SetDefaults() { c.Start, c.Step = "2024-01-01T00:00:00Z", time.Second }

// The kinds of columns.
const (
	kindKey       = "key"
	kindSequence  = "sequence"
	kindTimestamp = "timestamp"
	kindPayload   = "payload"
	kindRandom    = "random"
	kindConstant  = "constant"
)

// check returns what is wrong with the parameters of a source of the schema, and
// otherwise how its columns are filled.
func (p *Parameters) check(setup connector.Setup) ([]filler, error) {
	var problems yson.Problems
	node, path := setup.Parameters.Node(), setup.Parameters.Path()
	if p.Finite && p.Count == 0 {
		problems.Add(node.Get("finite"), yson.Join(path, "finite"), "a finite source needs a number of rows: set count, or leave finite out")
	}
	if p.Keys.Distribution != zipf {
		keys := node.Get("keys")
		for _, name := range []string{"s", "v"} {
			if n := keys.Get(name); n.IsSet() {
				problems.Add(n, yson.Join(path, "keys", name), "this is for distribution = zipf")
			}
		}
	}
	columns := yson.Join(path, "columns")
	for _, name := range slices.Sorted(maps.Keys(p.Columns)) {
		if _, known := setup.Schema.Index(name); !known {
			problems.Add(node.Get("columns").Get(name), yson.Join(columns, name), "the stream has no such column")
		}
	}
	var fillers []filler
	kinds, text := p.kinds(setup.Schema), block{seed: p.Seed, payload: int(p.PayloadSize)}
	for i, c := range setup.Schema.Columns() {
		fill, err := newFiller(&c, kinds[i], &text, uint64(p.Count))
		if err != nil {
			problems.Add(node.Get("columns").Get(c.Name), yson.Join(columns, c.Name), "%v", err)
		}
		fillers = append(fillers, fill)
	}
	return fillers, problems.Err()
}

// kinds returns the kind of each column.
func (p *Parameters) kinds(s *schema.Schema) []Column {
	kinds := make([]Column, s.Len())
	first, keyed := -1, false
	for i, c := range s.Columns() {
		kinds[i].SetDefaults()
		if given, ok := p.Columns[c.Name]; ok {
			kinds[i] = *given
			keyed = keyed || given.Kind == kindKey
			continue
		}
		kinds[i].Kind = kindOf(c.Type)
		if first < 0 && kinds[i].Kind != kindTimestamp && c.Type != schema.TypeAny && c.Type != schema.TypeBoolean {
			first = i
		}
	}
	if first >= 0 && !keyed {
		kinds[first].Kind = kindKey
	}
	return kinds
}

// kindOf is the kind that suits a type.
func kindOf(t schema.Type) string {
	switch t {
	case schema.TypeDate, schema.TypeDatetime, schema.TypeTimestamp:
		return kindTimestamp
	case schema.TypeString, schema.TypeUTF8, schema.TypeAny:
		return kindPayload
	default:
		return kindRandom
	}
}

// newFiller makes what fills a column of a kind, in a number of rows; 0 is no end.
func newFiller(c *schema.Column, k Column, text *block, rows uint64) (filler, error) {
	switch {
	case c.Expression != "":
		return nil, errors.New("the column has an expression: the datagen source fills columns, it computes none")
	case k.Kind != kindRandom && (k.Min.IsSet() || k.Max.IsSet()):
		return nil, errors.New("min and max are for kind random")
	case k.Kind != kindConstant && k.Value.IsSet():
		return nil, errors.New("value is for kind constant")
	}
	switch k.Kind {
	case kindKey:
		return fillNumber(c.Type, k.Kind, func(r *row) uint64 { return r.key })
	case kindSequence:
		return fillNumber(c.Type, k.Kind, func(r *row) uint64 { return r.number })
	case kindTimestamp:
		return fillTimestamp(c.Type, k, rows)
	case kindPayload:
		return fillPayload(c.Type, text)
	case kindRandom:
		return fillRandom(c, k)
	default:
		return fillConstant(c, k.Value)
	}
}
