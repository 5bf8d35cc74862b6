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
	default:
		return numberFromText(col, f.text)
	}
}

// numberFromText reads a number as JSON writes it, or with zeros before it; the
// names of doubles that are none; and times, for columns of times.
func numberFromText(col *schema.Column, text string) (schema.Value, error) {
	c := cursor{text: trimZeros(text)}
	number, integer, err := c.number()
	switch {
	case err == nil && c.at == len(c.text):
		return fromNumber(col, number, integer)
	case hasText(col.Type, text):
		return fromText(col, text)
	default:
		return schema.Value{}, fmt.Errorf("column %s: %q is no number, want %s", col.Name, brief(text), col.Type)
	}
}

// hasText tells whether a type whose values are numbers may have a value that is
// spelled so.
func hasText(t schema.Type, text string) bool {
	switch t {
	case schema.TypeDate, schema.TypeDatetime, schema.TypeTimestamp:
		return true
	case schema.TypeDouble, schema.TypeFloat:
		_, named := notNumbers[text]
		return named
	default:
		return false
	}
}

// trimZeros removes the zeros that make a number longer and not larger.
func trimZeros(text string) string {
	digits := strings.TrimPrefix(text, "-")
	trimmed := digits
	for len(trimmed) > 1 && trimmed[0] == '0' && trimmed[1]-'0' <= 9 {
		trimmed = trimmed[1:]
	}
	if len(trimmed) == len(digits) {
		return text
	}
	return text[:len(text)-len(digits)] + trimmed
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
