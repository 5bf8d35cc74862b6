package function

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// life is the state of rollup: what is known of a key since its first message,
// or the first one after an eviction.
type life struct {
	latest flow.Time  // the largest event timestamp
	values schema.Row // by aggregate
}

// birth is the life before its first message.
func birth(aggregates []aggregate) life {
	l := life{latest: flow.NoTimestamp, values: make(schema.Row, len(aggregates))}
	for i, a := range aggregates {
		if a.op.counts {
			l.values[i] = schema.Int64(0)
		}
	}
	return l
}

// lifeCodec writes lives as CBOR, for people and tools that look into a store:
// {"latest": 978310020000000000, "count": 3, "sum(delay)": 8}. It is written by
// hand since a codec that learns the form of a value by reflection is most of
// the cost of a message.
type lifeCodec struct {
	aggregates []aggregate
	head       []byte   // the beginning of the map, and the name of latest
	names      [][]byte // the name of each aggregate
}

var _ flow.Codec[life] = (*lifeCodec)(nil)

// newLifeCodec returns the codec. That the texts of aggregates are the names in
// the map is what tells values of former aggregates from those of the present.
func newLifeCodec(aggregates []aggregate) *lifeCodec {
	c := &lifeCodec{aggregates: aggregates}
	c.head = appendText(appendHead(nil, majorMap, uint64(1+len(aggregates))), "latest")
	for _, a := range aggregates {
		c.names = append(c.names, appendText(nil, a.text))
	}
	return c
}

// Encode returns the state of a key.
func (c *lifeCodec) Encode(l life) ([]byte, error) {
	b := append(make([]byte, 0, len(c.head)+32*(1+len(l.values))), c.head...)
	b = appendItem(b, schema.Int64(int64(l.latest)))
	for i, v := range l.values {
		b = appendItem(append(b, c.names[i]...), v)
	}
	return b, nil
}

// Decode reads the state of a key.
func (c *lifeCodec) Decode(b []byte) (life, error) {
	r := items{rest: b}
	if !r.skip(c.head) {
		return life{}, c.explain(b)
	}
	l := life{latest: flow.Time(r.item(schema.KindInt64).AsInt64()), values: make(schema.Row, len(c.aggregates))}
	for i, name := range c.names {
		if !r.skip(name) {
			return life{}, c.explain(b)
		}
		l.values[i] = r.item(c.aggregates[i].kind)
	}
	if r.failed || len(r.rest) > 0 {
		return life{}, c.explain(b)
	}
	return l, nil
}

// explain says why a state cannot be read: mostly because the aggregates were
// changed since.
func (c *lifeCodec) explain(b []byte) error {
	stored, err := flow.CBOR[map[string]any]().Decode(b)
	if err != nil {
		return fmt.Errorf("%x is no state of rollup: %w", b, err)
	}
	delete(stored, "latest")
	var now []string
	for _, a := range c.aggregates {
		now = append(now, a.text)
	}
	return fmt.Errorf("it has the aggregates %s, and the spec has %s: go back to the former ones, or start over with an empty data folder",
		strings.Join(slices.Sorted(maps.Keys(stored)), ", "), strings.Join(now, ", "))
}
