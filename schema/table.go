package schema

import (
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/yson"
)

// Table is the form of the rows of a sorted table: the columns of its key, which
// come first and say sort_order=ascending, and the others. A column of the key may
// have an expression over the others, as in group_by_schema: then rows need not give
// it. It is immutable and may be used by many goroutines at once.
type Table struct {
	all, key    *Schema
	expressions []*Expression // of the key's columns, nil for plain ones
}

// tableFormat is the version of how tables and their rows are stored.
const tableFormat = 1

// NewTable checks the columns of a table and returns its form. All problems are
// reported together.
func NewTable(s *Schema) (*Table, error) {
	t := &Table{all: s}
	var errs []error
	var key []Column
	for i, c := range s.columns {
		if c.SortOrder == "" {
			if c.Expression != "" {
				errs = append(errs, columnError(c.Name, "only columns of the key may have an expression: remove it, or add sort_order=ascending"))
			}
			continue
		}
		if i != len(key) {
			errs = append(errs, columnError(c.Name, "the columns of the key come first: put it before %s", s.columns[len(key)].Name))
		}
		e, err := s.keyExpression(c)
		errs = append(errs, err)
		key, t.expressions = append(key, c), append(t.expressions, e)
	}
	if len(key) == 0 {
		errs = append(errs, errors.New("the table has no key: add sort_order=ascending to the columns that it is sorted by"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var err error
	t.key, err = New(key)
	return t, err
}

// keyExpression checks a column of a table's key, and compiles its expression.
func (s *Schema) keyExpression(c Column) (*Expression, error) {
	switch kind := c.Type.Kind(); {
	case c.SortOrder != "ascending":
		return nil, columnError(c.Name, "tables are sorted upwards: say sort_order=ascending")
	case kind == KindDouble || kind == KindAny:
		return nil, columnError(c.Name, "%s cannot be part of a key", c.Type)
	case c.Expression == "":
		return nil, nil
	}
	e, err := CompileExpression(c.Expression, s)
	if err != nil {
		return nil, &ColumnError{Column: c.Name, Err: err}
	}
	if e.Kind() != c.Type.Kind() {
		return nil, columnError(c.Name, "the expression gives %s, want %s", e.Kind(), c.Type)
	}
	for _, i := range e.Columns() {
		if s.columns[i].Expression != "" || s.columns[i].SortOrder == "" {
			return nil, columnError(c.Name, "its expression uses column %s: use columns of the key without expression", s.columns[i].Name)
		}
	}
	return e, nil
}

// ParseTable reads what [Table.String] wrote.
func ParseTable(text string) (*Table, error) {
	n, err := yson.Parse([]byte(text), yson.YSON)
	if err != nil {
		return nil, err
	}
	var stored struct {
		Format  int64    `yson:"format"`
		Columns []Column `yson:"columns"`
	}
	if format := n.Get("format"); format.IsSet() && format.Int > tableFormat {
		return nil, fmt.Errorf("the table has format %d, this Rondo reads up to %d: use the newer one", format.Int, tableFormat)
	}
	if err := yson.Decode(n, "", &stored).Err(); err != nil {
		return nil, err
	}
	s, err := New(stored.Columns)
	if err != nil {
		return nil, err
	}
	return NewTable(s)
}

// String is the form as text. Equal forms have equal texts.
func (t *Table) String() string {
	return string(yson.Encode(yson.Map(
		yson.Entry{Key: "format", Value: yson.Int64(tableFormat)},
		yson.Entry{Key: "columns", Value: t.all.Node()},
	)))
}

// Columns are all columns, Key those of the key.
func (t *Table) Columns() *Schema { return t.all }

// Key are the columns of the key, with their expressions.
func (t *Table) Key() *Schema { return t.key }

// CheckKey tells why keys of a computation are no keys of the table: the columns
// must have the names and types of group_by_schema, in its order. string and utf8
// count as one type. What group_by_schema computes, the table must compute by the same
// expression: or rows could have a hash that is none, and be visited under it.
func (t *Table) CheckKey(groupBy *Schema) error { return t.checkKey(groupBy, "group_by_schema") }

// CheckOverride is CheckKey for a key_schema_override, whose keys are looked up instead.
func (t *Table) CheckOverride(key *Schema) error { return t.checkKey(key, "key_schema_override") }

func (t *Table) checkKey(groupBy *Schema, named string) error {
	if t.key.Len() != groupBy.Len() {
		return fmt.Errorf("the key of the table is %s and that of %s is %s: they must have the same columns", t.key.describe(), named, groupBy.describe())
	}
	var errs []error
	for i, c := range t.key.columns {
		switch g := groupBy.columns[i]; {
		case c.Name != g.Name || !c.Type.Like(g.Type):
			errs = append(errs, fmt.Errorf("column %d of the key is %s %s in the table and %s %s in %s: make them equal", i+1, c.Name, c.Type, g.Name, g.Type, named))
		case c.Expression == "" && g.Expression != "":
			errs = append(errs, columnError(c.Name, "it is given by whoever puts rows into the table, and computed as %s in %s: rows could have another %s; "+
				"make a table with this expression, and import into it what rondo table export gives", g.Expression, named, c.Name))
		case g.Expression != "" && c.Expression != g.Expression:
			errs = append(errs, columnError(c.Name, "it is %s in the table and %s in %s: rows would be looked for elsewhere", c.Expression, g.Expression, named))
		}
	}
	return errors.Join(errs...)
}

// describe lists the columns with their types.
func (s *Schema) describe() string {
	text := ""
	for i, c := range s.columns {
		if i > 0 {
			text += ", "
		}
		text += c.Name + " " + c.Type.String()
	}
	return "(" + text + ")"
}

// Complete computes the columns that have an expression. A value that was given and
// is another one is an error.
func (t *Table) Complete(row Row) error {
	if len(row) != t.all.Len() {
		return fmt.Errorf("row has %d values, the table has %d columns", len(row), t.all.Len())
	}
	for i, e := range t.expressions {
		if e == nil {
			continue
		}
		v, err := e.Eval(row)
		switch {
		case err != nil:
			return columnError(t.key.columns[i].Name, "%w", err)
		case !row[i].IsNull() && row[i] != v:
			return columnError(t.key.columns[i].Name, "it is %s, and %s gives %s: leave it out", shorten(row[i]), e, shorten(v))
		}
		row[i] = v
	}
	return nil
}

// Encode checks a whole row, completes it and returns the two parts that are stored.
// A row without a key is refused: a column of the key that is not computed must not
// be null.
func (t *Table) Encode(row Row) (key string, value []byte, err error) {
	if err := t.keyed(row); err != nil {
		return "", nil, err
	}
	if err := t.Complete(row); err != nil {
		return "", nil, err
	}
	if err := t.all.Check(row); err != nil {
		return "", nil, err
	}
	if err := t.all.CheckYSON(row); err != nil {
		return "", nil, err
	}
	n := t.key.Len()
	return string(AppendKey(nil, row[:n]...)), AppendRow(nil, row[n:]), nil
}

// keyed makes sure that the row says what its key is.
func (t *Table) keyed(row Row) error {
	var errs []error
	for i, e := range t.expressions {
		if e == nil && i < len(row) && row[i].IsNull() {
			errs = append(errs, columnError(t.key.columns[i].Name, "it is part of the key, and missing or null: give it a value"))
		}
	}
	return errors.Join(errs...)
}

// CheckStored tells why what is about to be stored is not what Encode gives for a row.
func (t *Table) CheckStored(key string, value []byte) error {
	row, err := t.Decode(key, value)
	if err != nil {
		return err
	}
	again, _, err := t.Encode(row)
	if err == nil && again != key {
		err = fmt.Errorf("%w: its columns give the key %x", ErrCorruptKey, again)
	}
	return err
}

// Decode returns the row of what is stored. Bytes that are none of a row of this
// table are an error, which tells what they have and what the table has.
func (t *Table) Decode(key string, value []byte) (Row, error) {
	row, err := DecodeKey(key)
	if err != nil {
		return nil, err
	}
	if len(row) != t.key.Len() {
		return nil, fmt.Errorf("%w: it has %d columns, the key of the table has %d", ErrCorruptKey, len(row), t.key.Len())
	}
	rest, left, err := DecodeRow(value, nil)
	if err != nil {
		return nil, err
	}
	if want := t.all.Len() - len(row); len(left) > 0 || len(rest) != want {
		return nil, fmt.Errorf("%w: it has %d columns beside the key and %d more bytes, the table has %d columns there", ErrCorruptRow, len(rest), len(left), want)
	}
	row = append(row, rest...)
	return row, t.all.Check(row)
}
