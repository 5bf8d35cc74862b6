package external

import (
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/schema"
)

// keyed computes and checks the keys of a table's rows (KV-51, KV-55). It is
// immutable.
type keyed struct {
	groupBy *schema.Schema
	table   *schema.Schema
	grouper *schema.Grouper
	places  []int // of the key columns in the table
}

// newKeyed compares a table's columns with the key: by name and type, whether
// null is allowed aside, expressions aside.
func newKeyed(groupBy, table *schema.Schema) (*keyed, error) {
	k := &keyed{groupBy: groupBy, table: table}
	var errs []error
	columns := append([]schema.Column(nil), table.Columns()...)
	for _, c := range groupBy.Columns() {
		at, ok := table.Index(c.Name)
		switch {
		case !ok:
			errs = append(errs, unfitf("it has no column %s, which is part of group_by_schema: its columns are %s", c.Name, table.Names()))
			continue
		case !c.Type.Like(columns[at].Type):
			errs = append(errs, unfitf("its column %s is %s, and %s in group_by_schema: the types must be the same", c.Name, columns[at].Type, c.Type))
			continue
		}
		columns[at].Type, columns[at].Required = c.Type, true
		k.places = append(k.places, at)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	input, err := schema.New(columns)
	if err == nil {
		k.grouper, err = schema.NewGrouper(groupBy, input)
	}
	if err != nil {
		return nil, &unfit{err}
	}
	return k, nil
}

// key returns the encoded key of a row.
func (k *keyed) key(row schema.Row) (string, error) {
	for i, at := range k.places {
		if row[at].IsNull() {
			return "", malformedf("its key column %s is null: give it a value, or leave the row out", k.groupBy.Columns()[i].Name)
		}
	}
	key, hash, err := k.grouper.AppendKey(nil, row)
	if err != nil {
		return "", &malformed{err}
	}
	if stored := row[k.places[0]].AsUint64(); stored != hash {
		c := k.groupBy.Columns()[0]
		return "", malformedf("its column %s is %d, and %s gives %d: compute it anew with rondo table sort", c.Name, stored, c.Expression, hash)
	}
	return string(key), nil
}

// order checks that rows come in strict key order.
type order struct {
	last string
	at   place
}

func (o *order) next(key string, at place) error {
	if o.last != "" && key <= o.last {
		if key == o.last {
			return malformedf("%s has the key %s, as %s has: keys must be distinct", at, showKey(key), o.at)
		}
		return malformedf("%s has the key %s, which belongs before %s of %s: sort the table with rondo table sort", at, showKey(key), showKey(o.last), o.at)
	}
	o.last, o.at = key, at
	return nil
}

// showKey prints an encoded key for an error.
func showKey(key string) string {
	row, err := schema.DecodeKey(key)
	if err != nil {
		return fmt.Sprintf("%x", key)
	}
	const limit = 200
	text := row.String()
	if len(text) > limit {
		text = text[:limit] + "…"
	}
	return text
}
