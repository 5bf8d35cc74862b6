package queue

import (
	"errors"
	"fmt"
	"math"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// fieldKey checks JSON objects and hashes some of their fields, without a schema
// that would say what types they have. Values hash as a column of any type that
// takes them: integers of equal value are equal, however they are written.
type fieldKey struct {
	names   []string
	decoder rowtext.Decoder
	row     schema.Row
	others  map[string]bool // fields of the object in hand that are not named
}

func newFieldKey(names []string) (*fieldKey, error) {
	columns := make([]schema.Column, len(names))
	for i, name := range names {
		columns[i] = schema.Column{Name: name, Type: schema.TypeAny}
	}
	s, err := schema.New(columns)
	if err != nil {
		return nil, fmt.Errorf("the fields to choose the partition by: %w", err)
	}
	decoder := rowtext.NewJSONDecoder(s)
	k := &fieldKey{names: names, decoder: decoder, row: make(schema.Row, len(names)), others: map[string]bool{}}
	decoder.Unknown = k.once
	return k, nil
}

// once refuses a field that comes twice: readers would not agree on its value.
func (k *fieldKey) once(name string) error {
	if k.others[name] {
		return fmt.Errorf("field %q comes twice", name)
	}
	k.others[name] = true
	return nil
}

// hash checks the object. A field that it lacks is null.
func (k *fieldKey) hash(object string) (uint64, error) {
	clear(k.row)
	clear(k.others)
	if _, err := k.decoder.Decode(object, k.row); err != nil {
		return 0, connector.Malformed(err)
	}
	for i, v := range k.row {
		var err error
		if k.row[i], err = plain(v); err != nil {
			return 0, connector.Malformed(fmt.Errorf("field %s: %w", k.names[i], err))
		}
	}
	return schema.FarmHash(k.row...)
}

// exactDoubles is up to where a double says which integer was written.
const exactDoubles = 1 << 53

// plain turns an any value into the value that it holds.
func plain(v schema.Value) (schema.Value, error) {
	if v.IsNull() {
		return v, nil
	}
	n, err := yson.Parse([]byte(v.AsString()), yson.YSON)
	if err != nil {
		return v, err
	}
	switch n.Kind {
	case yson.KindString:
		return schema.String(n.Text), nil
	case yson.KindInt64:
		return schema.Int64(n.Int), nil
	case yson.KindUint64:
		return schema.Uint64(n.Uint), nil
	case yson.KindBoolean:
		return schema.Boolean(n.Bool), nil
	case yson.KindDouble:
		if n.Double == math.Trunc(n.Double) && math.Abs(n.Double) < exactDoubles {
			return schema.Int64(int64(n.Double)), nil
		}
	}
	return v, errors.New("the value is no string, integer or boolean, so that no partition can be chosen by it")
}
