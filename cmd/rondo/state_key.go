package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

// keyForm makes encoded keys of a computation from what people type: the values
// of the columns that are not computed.
type keyForm struct {
	computation string
	groupBy     *schema.Schema
	given       *schema.Schema // the columns without expression
	expressions []*schema.Expression
}

func newKeyForm(c *spec.Computation) (*keyForm, error) {
	var given []schema.Column
	for _, column := range c.GroupBy.Columns() {
		if column.Expression == "" {
			given = append(given, column)
		}
	}
	s, err := schema.New(given)
	if err != nil {
		return nil, err
	}
	f := &keyForm{computation: c.ID, groupBy: c.GroupBy, given: s, expressions: make([]*schema.Expression, c.GroupBy.Len())}
	for i, column := range c.GroupBy.Columns() {
		if column.Expression == "" {
			continue
		}
		if f.expressions[i], err = schema.CompileExpression(column.Expression, s); err != nil {
			return nil, fmt.Errorf("computation %s: column %s of the key: %w", c.ID, column.Name, err)
		}
	}
	return f, nil
}

// whole encodes a whole key.
func (f *keyForm) whole(args []string) (string, error) {
	row, err := f.row(args)
	if err != nil {
		return "", err
	}
	if len(row) < f.given.Len() {
		return "", fmt.Errorf("a key of %s has the values %s, got %d of %d", f.computation, f.names(), len(row), f.given.Len())
	}
	key, _, err := f.encode(row)
	return key, err
}

// prefix encodes as much of a key as its first values determine.
func (f *keyForm) prefix(args []string) (string, error) {
	row, err := f.row(args)
	if err != nil || len(row) == 0 {
		return "", err
	}
	key, missing, err := f.encode(row)
	if err == nil && key == "" {
		return "", fmt.Errorf("keys of %s begin with %s, which is computed from %s too: give that value as well", f.computation, f.groupBy.Columns()[0].Name, missing)
	}
	return key, err
}

// row reads the values of the first columns, or all of them from an object.
func (f *keyForm) row(args []string) (schema.Row, error) {
	if len(args) == 1 && strings.HasPrefix(args[0], "{") {
		row, err := f.object(args[0])
		if err != nil {
			return nil, fmt.Errorf("the key %s: %w", args[0], err)
		}
		return row, nil
	}
	if len(args) > f.given.Len() {
		return nil, fmt.Errorf("a key of %s has the values %s, got %d: %s", f.computation, f.names(), len(args), strings.Join(args, " "))
	}
	row := make(schema.Row, len(args))
	var problems []error
	for i, arg := range args {
		v, err := f.given.Columns()[i].ParseText(arg)
		problems = append(problems, err)
		row[i] = v
	}
	return row, errors.Join(problems...)
}

// object reads a key as it is printed. What is computed may be left out.
func (f *keyForm) object(text string) (schema.Row, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New(`it is no UTF-8: write the string as {"$base64": "..."}`)
	}
	computed := f.computed()
	d := rowtext.NewJSONDecoder(f.given)
	d.Unknown = func(name string) error {
		if _, ok := computed.Index(name); ok {
			return nil
		}
		return fmt.Errorf("%s is no column of the key: %s", nameText(name), yson.DidYouMean(name, f.groupBy.Names()))
	}
	row, told := make(schema.Row, f.given.Len()), make(schema.Row, computed.Len())
	if _, err := d.Decode(text, row); err != nil {
		return nil, err
	}
	if _, err := rowtext.NewJSONDecoder(computed).Decode(text, told); err != nil {
		return nil, err
	}
	return row, f.agrees(row, told)
}

// agrees refuses computed values that are not what the others give.
func (f *keyForm) agrees(row, told schema.Row) error {
	next := 0
	for i, e := range f.expressions {
		if e == nil {
			continue
		}
		v := told[next]
		next++
		if is, err := e.Eval(row); err == nil && !v.IsNull() && v != is {
			return fmt.Errorf("column %s is %s, and %s gives %s: leave it out", f.groupBy.Columns()[i].Name, v, e, is)
		}
	}
	return nil
}

// computed are the columns with an expression, none of which has to be given.
func (f *keyForm) computed() *schema.Schema {
	var columns []schema.Column
	for _, c := range f.groupBy.Columns() {
		if c.Expression != "" {
			columns = append(columns, schema.Column{Name: c.Name, Type: c.Type})
		}
	}
	s, err := schema.New(columns)
	if err != nil {
		panic(err) // they are columns of a schema
	}
	return s
}

// encode encodes the columns of the key up to the first that the row does not
// determine, and names what is missing there.
func (f *keyForm) encode(row schema.Row) (key, missing string, err error) {
	var b []byte
	next := 0
	for i, column := range f.groupBy.Columns() {
		var v schema.Value
		switch e := f.expressions[i]; {
		case e == nil && next == len(row):
			return string(b), column.Name, nil
		case e == nil:
			v = row[next]
			next++
		default:
			for _, c := range e.Columns() {
				if c >= len(row) {
					return string(b), f.given.Columns()[c].Name, nil
				}
			}
			if v, err = e.Eval(row); err != nil {
				return "", "", fmt.Errorf("column %s of the key: %w", column.Name, err)
			}
		}
		b = schema.AppendKey(b, v)
	}
	return string(b), "", nil
}

func (f *keyForm) names() string { return strings.Join(f.given.Names(), ", ") }
