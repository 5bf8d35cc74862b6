package rowtext

import (
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/schema"
)

// JSONDecoder is the [Decoder] of JSON Lines. The lines of a file mostly have the
// same fields in the same order, so it first compares a field's name with the
// one that stood at the same place in the line before.
type JSONDecoder struct {
	// Unknown is asked about each field that the schema does not name, if it is
	// given; its error is the row's.
	Unknown func(name string) error

	columns  []schema.Column
	required int
	index    *schema.Schema
	places   []place
	seen     []uint64 // per column: the line in which it was last set
	line     uint64
}

// place is a position in a line: the field that stood there, and its column or
// -1 for a field that no column has.
type place struct {
	name   string
	column int
}

// maxPlaces bounds what is remembered of lines with very many fields.
const maxPlaces = 256

// NewJSONDecoder returns a decoder of rows of the schema.
func NewJSONDecoder(s *schema.Schema) *JSONDecoder {
	d := &JSONDecoder{columns: s.Columns(), index: s, seen: make([]uint64, s.Len())}
	for _, c := range d.columns {
		if c.MustNotBeNull() {
			d.required++
		}
	}
	return d
}

// Scan finds the end of the line.
func (d *JSONDecoder) Scan(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return -1
}

// GiveUp does nothing: no line end is inside quotes.
func (d *JSONDecoder) GiveUp() bool { return false }

// Restart does nothing: each line stands for itself.
func (d *JSONDecoder) Restart() {}

// Ready is true: there is no header.
func (d *JSONDecoder) Ready() bool { return true }

// Decode reads a line. Fields that the schema does not name are checked and
// ignored; a field of the schema that comes twice is refused. A blank line is no
// row.
func (d *JSONDecoder) Decode(line string, row schema.Row) (bool, error) {
	c := cursor{text: strings.TrimSuffix(line, "\n")}
	if c.space(); c.at == len(c.text) {
		return false, nil
	}
	return true, d.decode(c, row)
}

func (d *JSONDecoder) decode(c cursor, row schema.Row) error {
	d.line++
	if err := c.expect('{', "a row as a JSON object"); err != nil {
		return err
	}
	missing := d.required
	for field, more := 0, c.peek() != '}'; more; field++ {
		required, err := d.field(&c, field, row)
		if err != nil {
			return err
		}
		missing -= required
		if c.space(); c.peek() != ',' {
			break
		}
		c.at++
		c.space()
	}
	if err := c.expect('}', "',' or '}'"); err != nil {
		return err
	}
	if c.at < len(c.text) {
		return c.fail("%s after the row, want the end of the line", c.found())
	}
	if missing > 0 {
		return d.missing(&c)
	}
	return nil
}

// field reads one field. It returns 1 if its column is a required one.
func (d *JSONDecoder) field(c *cursor, field int, row schema.Row) (int, error) {
	start := c.at
	name, err := c.name()
	if err != nil {
		return 0, err
	}
	i := d.column(field, name)
	if i < 0 {
		if d.Unknown != nil {
			if err := d.Unknown(name); err != nil {
				return 0, at(start, err)
			}
		}
		return 0, c.skip(1)
	}
	if d.seen[i] == d.line {
		c.at = start
		return 0, c.fail("field %q comes twice", name)
	}
	d.seen[i] = d.line
	start = c.at
	if row[i], err = readValue(c, &d.columns[i]); err != nil {
		return 0, at(start, err)
	}
	if d.columns[i].MustNotBeNull() {
		return 1, nil
	}
	return 0, nil
}

// at gives an error about a value the place where the value begins; a syntax
// error knows its own.
func at(start int, err error) error {
	if _, ok := err.(*Error); ok {
		return err
	}
	return &Error{Offset: start, Err: err}
}

// column returns the column of the field that is the field-th of the line, -1
// if there is none.
func (d *JSONDecoder) column(field int, name string) int {
	if field < len(d.places) && d.places[field].name == name {
		return d.places[field].column
	}
	i, ok := d.index.Index(name)
	if !ok {
		i = -1
	}
	d.remember(field, place{name, i})
	return i
}

func (d *JSONDecoder) remember(field int, p place) {
	if field >= maxPlaces {
		return
	}
	p.name = strings.Clone(p.name) // it is a part of the file's text
	for len(d.places) <= field {
		d.places = append(d.places, place{column: -1})
	}
	d.places[field] = p
}

func (d *JSONDecoder) missing(c *cursor) error {
	for i, col := range d.columns {
		if col.MustNotBeNull() && d.seen[i] != d.line {
			return &Error{Offset: c.at, Err: fmt.Errorf("column %s: it is required, and the row has no such field", col.Name)}
		}
	}
	return nil
}
