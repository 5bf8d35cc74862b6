package external

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/rondo-flow/rondo/schema"
)

// seen is what the values of a column are.
type seen struct {
	null, boolean, text, bytes, fraction, negative, large, integer, long, other bool
}

// inferJSON reads JSON Lines once and returns the columns in the order in which
// they come first, each with the narrowest type that takes all its values. It does
// not look at columns whose types are given.
func inferJSON(ctx context.Context, src io.ReaderAt, size int64, given map[string]schema.Type) ([]schema.Column, error) {
	var order []string
	columns := map[string]*seen{}
	t := &text{format: FormatJSON, src: src, size: size, columns: schema.Empty()}
	c, err := t.open(mark{})
	if err != nil {
		return nil, err
	}
	for {
		size, err := c.find(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		line := c.take(size)
		c.line++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := fields(line, func(name string, value json.RawMessage) {
			if columns[name] == nil {
				columns[name] = &seen{}
				order = append(order, name)
			}
			columns[name].look(string(value))
		}); err != nil {
			return nil, fmt.Errorf("line %d: %w", c.line, err)
		}
	}
	var out []schema.Column
	for _, name := range order {
		typ, ok := given[name]
		if !ok {
			if typ, err = columns[name].typ(); err != nil {
				return nil, fmt.Errorf("column %s: %w", name, err)
			}
		}
		out = append(out, schema.Column{Name: name, Type: typ})
	}
	return out, nil
}

// fields calls f for each field of a JSON object.
func fields(line string, f func(string, json.RawMessage)) error {
	d := json.NewDecoder(strings.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("a row has to be a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		f(name.(string), value) // keys of objects are strings
	}
	_, err := d.Token()
	return err
}

// look takes a value into account.
func (s *seen) look(v string) {
	switch v[0] {
	case 'n':
		s.null = true
	case 't', 'f':
		s.boolean = true
	case '"':
		s.text = true
	case '{':
		if strings.HasPrefix(v, `{"$base64"`) {
			s.bytes = true
		} else {
			s.other = true
		}
	case '[':
		s.other = true
	default:
		s.number(v)
	}
}

func (s *seen) number(v string) {
	if strings.ContainsAny(v, ".eE") {
		s.fraction = true
		return
	}
	s.integer = true
	s.long = s.long || !isExact(v)
	s.negative = s.negative || v[0] == '-'
	if _, err := strconv.ParseInt(v, 10, 64); err != nil && v[0] != '-' {
		s.large = true
	}
}

// isExact tells whether a double holds an integer as it is written.
func isExact(integer string) bool {
	i, err := strconv.ParseInt(integer, 10, 64)
	return err == nil && int64(float64(i)) == i && i != math.MaxInt64
}

// typ is the narrowest type.
func (s *seen) typ() (schema.Type, error) {
	number := s.integer || s.fraction
	switch {
	case s.other, s.boolean && (number || s.text || s.bytes), number && (s.text || s.bytes):
		return schema.TypeAny, nil
	case s.bytes:
		return schema.TypeString, nil
	case s.text:
		return schema.TypeUTF8, nil
	case s.boolean:
		return schema.TypeBoolean, nil
	case s.fraction && s.long:
		return 0, fmt.Errorf("it has numbers with a fraction or an exponent, and integers that no double holds exactly, which would be rounded: say which type it is with --type, such as double or utf8")
	case s.fraction:
		return schema.TypeDouble, nil
	case s.large && s.negative:
		return 0, fmt.Errorf("it has negative numbers, and numbers above %d, and no type has both: say which it is with --type", uint64(1)<<63-1)
	case s.large:
		return schema.TypeUint64, nil
	case s.integer:
		return schema.TypeInt64, nil
	default:
		return 0, fmt.Errorf("it is null in every row: say which type it is with --type")
	}
}
