package rowtext

import (
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/schema"
)

// value reads the field as one of the column.
func (f csvField) value(col *schema.Column) (schema.Value, error) {
	kind := col.Type.Kind()
	switch {
	case f.text == "" && (kind != schema.KindString || !f.quoted && !col.MustNotBeNull()):
		if col.MustNotBeNull() {
			return schema.Value{}, fmt.Errorf("column %s: the field is empty, and the column is required", col.Name)
		}
		return schema.Null(), nil
	case kind == schema.KindString:
		return fromText(col, f.text)
	case kind == schema.KindBoolean:
		return col.ParseText(f.text)
	case kind == schema.KindAny:
		return anyFromText(col, f.text)
	case kind == schema.KindDouble && strings.ContainsAny(f.text, "_xXpP"):
		return col.ParseText(f.text) // refuses what is a number in Go alone
	default:
		return fromNumber(col, f.text)
	}
}

// ParseAny reads a value that somebody typed for an any column: as JSON, or as YSON if
// it is none.
func ParseAny(col *schema.Column, text string) (schema.Value, error) {
	v, notJSON := anyFromText(col, text)
	if notJSON == nil {
		return v, nil
	}
	v = schema.Any(text)
	if err := v.CheckYSON(); err != nil {
		return schema.Value{}, fmt.Errorf("%w; column %s: %w; give either", notJSON, col.Name, err)
	}
	return v, nil
}

func anyFromText(col *schema.Column, text string) (schema.Value, error) {
	c := cursor{text: text}
	c.space()
	v, err := readAny(&c, col)
	if err == nil {
		if c.space(); c.at < len(text) {
			err = c.fail("%s after the value", c.found())
		}
	}
	if err != nil {
		return schema.Value{}, fmt.Errorf("column %s: %s is no JSON value: %w", col.Name, brief(text), err)
	}
	return v, nil
}
