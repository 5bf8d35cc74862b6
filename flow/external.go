package flow

import (
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/schema"
)

// ExternalRow is the row that a table has under the key of an input, as an external
// state: it may be read, written and removed, and is stored when the epoch ends. All
// inputs of a key in an epoch see what the former ones saved (KV-29). It is for the
// call in which it was opened.
type ExternalRow struct {
	name string
	key  Key
	cell *Cell
	form *schema.Table
	err  error
}

// OpenExternal returns the row of the input's key in the table of an external state
// manager of the computation. What is wrong with it comes out of Get, Save and Clear.
func OpenExternal(rt Runtime, name string, of Keyed) ExternalRow {
	r := ExternalRow{name: name, key: KeyOf(of)}
	if r.cell, r.form, r.err = rt.External(name, r.key); r.err != nil {
		r.err = r.failed(r.err)
	}
	return r
}

func (r ExternalRow) failed(err error) error { return fmt.Errorf("external state %s: %w", r.name, err) }

// Get returns the row, which must not be changed, and false when there is none.
func (r ExternalRow) Get() (row Payload, present bool, err error) {
	if r.err != nil {
		return Payload{}, false, r.err
	}
	b, err := r.cell.Bytes()
	if err != nil || len(b) == 0 {
		return Payload{}, false, err
	}
	values, ok := r.cell.Value().(schema.Row)
	if !ok {
		if values, err = r.form.Decode(r.key.Encoded(), b); err != nil {
			return Payload{}, false, r.failed(fmt.Errorf("the row of %s: %w", r.key, err))
		}
		r.cell.Remember(values)
	}
	return NewPayload(r.form.Columns(), values), true, nil
}

// Clear removes the row.
func (r ExternalRow) Clear() error {
	if r.err == nil {
		r.cell.SetBytes(nil)
	}
	return r.err
}

// Edit begins to change the row, or to make it if there is none: then all columns
// but those of the key are null at first. Nothing happens until Save.
func (r ExternalRow) Edit() *RowEdit {
	e := &RowEdit{of: r}
	present, there, err := r.Get()
	switch {
	case err != nil:
		e.err = err
	case there:
		e.row = slices.Clone(present.Row())
	default:
		e.row = make(schema.Row, r.form.Columns().Len())
		key, err := schema.DecodeKey(r.key.Encoded())
		e.err = err
		copy(e.row, key)
	}
	return e
}

// RowEdit is a row that is being changed. Errors are kept and returned by Save, so
// that calls can be chained.
type RowEdit struct {
	of  ExternalRow
	row schema.Row
	err error
}

// Set sets a column from a Go value, as [MessageBuilder.Set] does. Those of the key
// stay as they are.
func (e *RowEdit) Set(column string, v any) *RowEdit {
	if e.err != nil {
		return e
	}
	columns := e.of.form.Columns()
	i, ok := columns.Index(column)
	switch {
	case !ok:
		e.err = e.of.failed(fmt.Errorf("the table has no column %q", column))
	case i < e.of.form.Key().Len():
		e.err = e.of.failed(fmt.Errorf("column %s belongs to the key: send a message to change another row", column))
	default:
		var err error
		if e.row[i], err = columns.Columns()[i].Convert(v); err != nil {
			e.err = e.of.failed(err)
		}
	}
	return e
}

// Save checks the row against the table's columns and puts it in place of the former
// one.
func (e *RowEdit) Save() error {
	if e.err != nil {
		return e.err
	}
	key, value, err := e.of.form.Encode(e.row)
	switch {
	case err != nil:
		return e.of.failed(fmt.Errorf("the row of %s: %w", e.of.key, err))
	case key != e.of.key.Encoded():
		return e.of.failed(fmt.Errorf("the table computes another key for the row of %s: make its expressions those of group_by_schema", e.of.key))
	}
	e.of.cell.SetBytes(value)
	return nil
}
