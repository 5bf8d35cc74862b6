package schema

import (
	"fmt"

	"github.com/rondo-flow/rondo/yson"
)

// CheckYSON refuses a value of an any column whose text is no YSON. Values of other
// kinds are fine. It takes time, and belongs where values come in from outside.
func (v Value) CheckYSON() error {
	if v.kind != KindAny {
		return nil
	}
	if _, err := yson.Parse([]byte(v.str), yson.YSON); err != nil {
		return fmt.Errorf("%s is no YSON: %w", shorten(String(v.str)), err)
	}
	return nil
}

// CheckYSON refuses a row of the schema that has a text which is no YSON in an any
// column: whoever reads the row would fail.
func (s *Schema) CheckYSON(row Row) error {
	for i := range row {
		if err := row[i].CheckYSON(); err != nil {
			return columnError(s.columns[i].Name, "%w", err)
		}
	}
	return nil
}
