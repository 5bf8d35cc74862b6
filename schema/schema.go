package schema

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Column is one column of a schema.
type Column struct {
	Name       string
	Type       Type
	Required   bool   // null is refused
	Expression string // computed from the other columns; empty = plain
	SortOrder  string // "ascending", "descending" or empty
}

// MustNotBeNull reports whether the column never holds null: it says so, or it
// has an expression (KV-4).
func (c Column) MustNotBeNull() bool { return c.Required || c.Expression != "" }

// Schema is an immutable ordered set of columns with distinct names. Make it
// with [New].
type Schema struct {
	columns []Column
	index   map[string]int
}

// ColumnError is a fault of one column or of its value.
type ColumnError struct {
	Column string
	Err    error
}

// Error returns "column <name>: " and the fault.
func (e *ColumnError) Error() string { return "column " + e.Column + ": " + e.Err.Error() }

// Unwrap returns the fault.
func (e *ColumnError) Unwrap() error { return e.Err }

func columnError(column, format string, args ...any) error {
	return &ColumnError{Column: column, Err: fmt.Errorf(format, args...)}
}

// New returns a schema of a copy of cols. All problems are reported together:
// no name, a name used twice, no valid type, an unknown sort order.
func New(cols []Column) (*Schema, error) {
	s := &Schema{columns: slices.Clone(cols), index: make(map[string]int, len(cols))}
	var errs []error
	for i, c := range s.columns {
		errs = append(errs, s.add(i, c))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Schema) add(i int, c Column) error {
	if c.Name == "" {
		return fmt.Errorf("column %d has no name", i+1)
	}
	if _, twice := s.index[c.Name]; twice {
		return columnError(c.Name, "declared twice")
	}
	s.index[c.Name] = i
	if !c.Type.Valid() {
		return columnError(c.Name, "it has no type")
	}
	switch c.SortOrder {
	case "", "ascending", "descending":
		return nil
	default:
		return columnError(c.Name, "unknown sort order %q: use ascending or descending, or leave it out", c.SortOrder)
	}
}

// Columns returns the columns in order. The slice is the schema's own: do not
// change it.
func (s *Schema) Columns() []Column { return s.columns }

// Names returns the names of the columns in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = c.Name
	}
	return names
}

// Len returns the number of columns.
func (s *Schema) Len() int { return len(s.columns) }

// Index returns the position of the column with that name.
func (s *Schema) Index(name string) (int, bool) {
	i, ok := s.index[name]
	return i, ok
}

// Equal reports whether both schemas have the same columns in the same order,
// every property included.
func (s *Schema) Equal(other *Schema) bool { return slices.Equal(s.columns, other.columns) }

// Check reports the first value of row that its column does not allow: another
// kind, an integer out of the type's range, null where the column is required,
// bytes that are no UTF-8 in a utf8 column. The message names column and value.
func (s *Schema) Check(row Row) error {
	if len(row) != len(s.columns) {
		return fmt.Errorf("row has %d values, its schema has %d columns", len(row), len(s.columns))
	}
	for i := range row {
		if !s.columns[i].allows(&row[i]) {
			return s.columns[i].refuse(row[i])
		}
	}
	return nil
}

// allows is the fast path of Check.
func (c *Column) allows(v *Value) bool {
	if v.kind == KindNull {
		return !c.MustNotBeNull()
	}
	info := &typeInfos[c.Type]
	if v.kind != info.kind {
		return false
	}
	switch v.kind {
	case KindInt64:
		return v.AsInt64() >= info.min && v.AsInt64() <= info.max
	case KindUint64:
		return v.num <= info.umax
	case KindDouble:
		return c.Type != TypeFloat || float32Range(v.AsDouble())
	case KindString:
		return c.Type != TypeUTF8 || utf8.ValidString(v.str)
	default:
		return true
	}
}

// refuse says why allows did not allow v.
func (c *Column) refuse(v Value) error {
	return &ColumnError{Column: c.Name, Err: c.whyNot(v)}
}

func (c *Column) whyNot(v Value) error {
	switch {
	case v.IsNull():
		return errors.New("null in a required column")
	case v.kind != c.Type.Kind():
		return fmt.Errorf("%s is %s, want %s", shorten(v), v.kind, c.Type)
	case c.Type == TypeUTF8:
		return fmt.Errorf("%s is not valid UTF-8: declare the column as string to keep any bytes", shorten(v))
	default:
		return fmt.Errorf("%s is out of range of %s", shorten(v), c.Type)
	}
}

// shorten prints a value for an error message, at most some 60 bytes of it.
func shorten(v Value) string {
	const limit = 60
	if len(v.str) > limit {
		v.str = v.str[:limit]
		return v.String() + "..."
	}
	return v.String()
}

// Empty returns a schema with no columns.
func Empty() *Schema { return &Schema{} }
