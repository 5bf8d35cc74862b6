package rowtext

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rondo-flow/rondo/schema"
)

// base64Field marks bytes that are no UTF-8, which JSON strings cannot hold:
// {"$base64": "…"} is a string to both the source and the sink.
const base64Field = "$base64"

// readValue reads the value at the cursor as one of the column. Errors about
// what the text means name the column and the value, as those of schema do.
func readValue(c *cursor, col *schema.Column) (schema.Value, error) {
	if col.Type == schema.TypeAny {
		return readAny(c, col)
	}
	switch b := c.peek(); {
	case b == '"':
		text, err := c.str()
		if err != nil {
			return schema.Value{}, err
		}
		return fromText(col, text)
	case b == '-' || b-'0' <= 9:
		text, err := c.number()
		if err != nil {
			return schema.Value{}, err
		}
		return fromNumber(col, text)
	case b == '{' || b == '[':
		return readBytes(c, col)
	default:
		word, err := c.literal()
		if err != nil {
			return schema.Value{}, err
		}
		return fromLiteral(col, word)
	}
}

func fromLiteral(col *schema.Column, word string) (schema.Value, error) {
	switch {
	case word == "null" && !col.MustNotBeNull():
		return schema.Null(), nil
	case word == "null":
		return col.Convert(nil)
	case col.Type == schema.TypeBoolean:
		return schema.Boolean(word == "true"), nil
	default:
		return col.Convert(word == "true")
	}
}

// notNumbers are the doubles that JSON has no numbers for, as text.
var notNumbers = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

func fromText(col *schema.Column, text string) (schema.Value, error) {
	switch col.Type {
	case schema.TypeString:
		return schema.String(text), nil
	case schema.TypeDouble, schema.TypeFloat:
		if f, ok := notNumbers[text]; ok {
			return schema.Double(f), nil
		}
	}
	return col.Convert(text)
}

// fromNumber reads a number, without the general way where it is an ordinary
// one.
func fromNumber(col *schema.Column, text string) (schema.Value, error) {
	switch col.Type.Kind() {
	case schema.KindInt64:
		if n, ok := small(text); ok && col.Type == schema.TypeInt64 {
			return schema.Int64(n), nil
		}
	case schema.KindUint64:
		if n, ok := small(text); ok && n >= 0 && col.Type == schema.TypeUint64 {
			return schema.Uint64(uint64(n)), nil
		}
	case schema.KindDouble:
		f, err := strconv.ParseFloat(text, 64)
		if err == nil && col.Type == schema.TypeDouble {
			return schema.Double(f), nil
		}
	default:
		// A string column does not take numbers, whatever their text.
		return schema.Value{}, fmt.Errorf("column %s: %s is a number, want %s", col.Name, brief(text), col.Type)
	}
	return col.ParseText(text)
}

// small reads an integer of up to 18 digits, as nearly all are.
func small(text string) (int64, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || len(digits) > 18 {
		return 0, false
	}
	n := int64(0)
	for i := range len(digits) {
		if digits[i]-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(digits[i]-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, true
}

// readBytes reads {"$base64": "…"}, the only structured value that a column
// other than an any takes.
func readBytes(c *cursor, col *schema.Column) (schema.Value, error) {
	start := c.at
	open := c.peek()
	if err := c.skip(1); err != nil {
		return schema.Value{}, err
	}
	whole := c.text[start:c.at]
	if text, ok := base64Text(whole); ok && col.Type.Kind() == schema.KindString {
		b, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			return schema.Value{}, fmt.Errorf("column %s: %s is not base64 with padding: %w", col.Name, brief(text), err)
		}
		return fromText(col, string(b))
	}
	what := "an object"
	if open == '[' {
		what = "a list"
	}
	return schema.Value{}, fmt.Errorf("column %s: %s is %s, want %s", col.Name, brief(whole), what, col.Type)
}

// base64Text returns the text of an object whose only field is $base64. The
// object is known to be well formed.
func base64Text(object string) (string, bool) {
	c := cursor{text: object}
	if c.expect('{', "") != nil {
		return "", false
	}
	name, err := c.name()
	if err != nil || name != base64Field || c.peek() != '"' {
		return "", false
	}
	text, err := c.str()
	return text, err == nil && c.expect('}', "") == nil
}

// brief shortens text for an error.
func brief(text string) string {
	const limit = 60
	if len(text) > limit {
		return text[:limit] + "..."
	}
	return text
}
