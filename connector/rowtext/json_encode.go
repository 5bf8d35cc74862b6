package rowtext

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rondo-flow/rondo/schema"
)

// JSONEncoder is the [Encoder] of JSON Lines. The fields are in the schema's
// order and all there, null ones too; so equal rows are equal lines.
type JSONEncoder struct {
	schema *schema.Schema
	heads  []string // what stands before each value: {"a": and ,"b":
}

// NewJSONEncoder returns an encoder of rows of the schema.
func NewJSONEncoder(s *schema.Schema) *JSONEncoder {
	e := &JSONEncoder{schema: s}
	for i, c := range s.Columns() {
		head := []byte{'{'}
		if i > 0 {
			head[0] = ','
		}
		e.heads = append(e.heads, string(append(appendName(head, c.Name), ':')))
	}
	return e
}

// AppendHeader appends nothing: each line names its fields.
func (e *JSONEncoder) AppendHeader(dst []byte) []byte { return dst }

// AppendRow appends the line, with its end.
func (e *JSONEncoder) AppendRow(dst []byte, row schema.Row) ([]byte, error) {
	if len(row) != len(e.heads) {
		return nil, fmt.Errorf("a row of %d values for a schema of %d columns", len(row), len(e.heads))
	}
	if len(row) == 0 {
		dst = append(dst, '{')
	}
	for i, v := range row {
		dst = append(dst, e.heads[i]...)
		if v.Kind() != schema.KindAny {
			dst = appendValue(dst, v)
			continue
		}
		var err error
		if dst, err = appendAny(dst, v.AsString()); err != nil {
			return nil, fmt.Errorf("column %s: the value is no YSON: %w", e.schema.Columns()[i].Name, err)
		}
	}
	return append(dst, "}\n"...), nil
}

// appendValue appends a value of any kind but KindAny.
func appendValue(dst []byte, v schema.Value) []byte {
	switch v.Kind() {
	case schema.KindInt64:
		return strconv.AppendInt(dst, v.AsInt64(), 10)
	case schema.KindUint64:
		return strconv.AppendUint(dst, v.AsUint64(), 10)
	case schema.KindDouble:
		return appendDouble(dst, v.AsDouble())
	case schema.KindBoolean:
		return strconv.AppendBool(dst, v.AsBoolean())
	case schema.KindString:
		return appendText(dst, v.AsString())
	default:
		return append(dst, "null"...)
	}
}

// appendDouble appends the shortest text that reads back as f, without an
// exponent where that is usual. What is no number becomes a string, which the
// source reads as the same double.
func appendDouble(dst []byte, f float64) []byte {
	switch {
	case f != f:
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

// appendText appends a string literal, or the object that stands for bytes
// which no literal can hold.
func appendText(dst []byte, text string) []byte {
	if !utf8.ValidString(text) {
		dst = append(dst, `{"`+base64Field+`":"`...)
		return append(base64.StdEncoding.AppendEncode(dst, []byte(text)), `"}`...)
	}
	dst = append(dst, '"')
	plain := 0
	for i := range len(text) {
		if b := text[i]; b < ' ' || b == '"' || b == '\\' {
			dst = append(dst, text[plain:i]...)
			dst = appendEscape(dst, b)
			plain = i + 1
		}
	}
	return append(append(dst, text[plain:]...), '"')
}

// appendName appends the name of a field, which can be nothing but text: bytes
// that are no UTF-8 become U+FFFD.
func appendName(dst []byte, name string) []byte {
	return appendText(dst, strings.ToValidUTF8(name, "\uFFFD"))
}

func appendEscape(dst []byte, b byte) []byte {
	for i := range len(meanings) {
		if meanings[i] == b {
			return append(dst, '\\', escapes[i])
		}
	}
	return fmt.Appendf(dst, `\u%04x`, b)
}
