package rowtext

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// Structured values are YSON in rows and JSON in files. A value with
// attributes, which JSON does not know, is {"$attributes": {…}, "$value": …}.
const (
	attributesField = "$attributes"
	valueField      = "$value"
)

// readAny reads any JSON value into an any column.
func readAny(c *cursor, col *schema.Column) (schema.Value, error) {
	start := c.at
	if err := c.skip(1); err != nil {
		return schema.Value{}, err
	}
	text := c.text[start:c.at]
	if text == "null" {
		return fromLiteral(col, text)
	}
	node, err := yson.Parse([]byte(text), yson.JSON)
	if err != nil {
		return schema.Value{}, placed(start, err)
	}
	return schema.Any(string(yson.Encode(fromJSON(node)))), nil
}

// placed moves a problem inside a value to its place in the line.
func placed(start int, err error) error {
	var problems yson.Problems
	if errors.As(err, &problems) && problems[0].Line == 1 {
		return &Error{Offset: start + problems[0].Column - 1, Err: errors.New(problems[0].Message)}
	}
	return err
}

// fromJSON gives the objects that stand for bytes and for attributes back their
// meaning. What only looks like one stays an object.
func fromJSON(n *yson.Node) *yson.Node {
	for i, item := range n.List {
		n.List[i] = fromJSON(item)
	}
	for i, entry := range n.Map {
		n.Map[i].Value = fromJSON(entry.Value)
	}
	if text := n.Get(base64Field); len(n.Map) == 1 && text.IsSet() && text.Kind == yson.KindString {
		if b, err := base64.StdEncoding.Strict().DecodeString(text.Text); err == nil {
			return yson.String(string(b))
		}
	}
	value, attributes := n.Get(valueField), n.Get(attributesField)
	if len(n.Map) == 2 && value != nil && len(value.Attributes) == 0 && attributes != nil && len(attributes.Map) > 0 {
		value.Attributes = attributes.Map
		return value
	}
	return n
}

// appendAny appends the YSON text of an any column as JSON.
func appendAny(dst []byte, text string) ([]byte, error) {
	node, err := yson.Parse([]byte(text), yson.YSON)
	if err != nil {
		return nil, err
	}
	return appendNode(dst, node), nil
}

func appendNode(dst []byte, n *yson.Node) []byte {
	if len(n.Attributes) == 0 {
		return appendBare(dst, n)
	}
	dst = append(dst, `{"`+attributesField+`":`...)
	dst = appendEntries(dst, n.Attributes)
	dst = append(dst, `,"`+valueField+`":`...)
	return append(appendBare(dst, n), '}')
}

// appendBare appends a node without its attributes.
func appendBare(dst []byte, n *yson.Node) []byte {
	switch n.Kind {
	case yson.KindBoolean:
		return appendValue(dst, schema.Boolean(n.Bool))
	case yson.KindInt64:
		return appendValue(dst, schema.Int64(n.Int))
	case yson.KindUint64:
		return appendValue(dst, schema.Uint64(n.Uint))
	case yson.KindDouble:
		return appendAnyDouble(dst, n.Double)
	case yson.KindString:
		return appendText(dst, n.Text)
	case yson.KindList:
		dst = append(dst, '[')
		for i, item := range n.List {
			dst = appendNode(comma(dst, i), item)
		}
		return append(dst, ']')
	case yson.KindMap:
		return appendEntries(dst, n.Map)
	default:
		return append(dst, "null"...)
	}
}

// appendAnyDouble keeps the point of 1.0: nothing but the text says that the
// number is a double.
func appendAnyDouble(dst []byte, f float64) []byte {
	start := len(dst)
	dst = appendDouble(dst, f)
	if strings.ContainsAny(string(dst[start:]), `."e`) {
		return dst
	}
	return append(dst, ".0"...)
}

func appendEntries(dst []byte, entries []yson.Entry) []byte {
	dst = append(dst, '{')
	for i, entry := range entries {
		dst = append(appendName(comma(dst, i), entry.Key), ':')
		dst = appendNode(dst, entry.Value)
	}
	return append(dst, '}')
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}
