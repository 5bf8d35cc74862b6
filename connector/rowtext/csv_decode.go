package rowtext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/schema"
)

// CSVDecoder is the [Decoder] of CSV.
type CSVDecoder struct {
	csvScan
	schema  *schema.Schema
	columns []schema.Column
	dialect CSV
	places  []int      // of the fields' columns; nil while the header is awaited
	fields  []csvField // of the row in hand
}

// csvField is a field of a row: where it begins, and its text without quotes.
type csvField struct {
	at     int
	text   string
	quoted bool
}

// NewCSVDecoder returns a decoder of rows of the schema. It is an error if the
// dialect cannot be read, or its columns lack a required one.
func NewCSVDecoder(s *schema.Schema, dialect CSV) (*CSVDecoder, error) {
	if err := dialect.check(s); err != nil {
		return nil, err
	}
	d := &CSVDecoder{csvScan: csvScan{delimiter: dialect.Delimiter}, schema: s, columns: s.Columns(), dialect: dialect}
	d.Restart()
	return d, nil
}

// Restart awaits the header again, if the dialect has one.
func (d *CSVDecoder) Restart() {
	d.state, d.places = atField, nil
	if !d.dialect.Header {
		d.places, _ = places(d.dialect.names(d.schema), d.schema) // checked before
	}
}

// Ready reports whether the names of the fields are known.
func (d *CSVDecoder) Ready() bool { return d.places != nil }

// Scan finds the end of the row, which is the first line end outside quotes.
func (d *CSVDecoder) Scan(text string) int { return d.scan(text) }

// GiveUp forgets the row that Scan has begun.
func (d *CSVDecoder) GiveUp() bool {
	unclosed := d.state == inQuotes
	d.state = atField
	return unclosed
}

// Decode reads a row, or the header. A blank line is no row.
func (d *CSVDecoder) Decode(text string, row schema.Row) (bool, error) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	if text == "" {
		return false, nil
	}
	if err := d.split(text); err != nil {
		return false, d.header(quotes(err))
	}
	if !d.Ready() {
		return false, d.header(d.readHeader())
	}
	if len(d.fields) != len(d.places) {
		return false, &Error{Err: fmt.Errorf("the row has %d fields, want %d: a delimiter inside a field needs quotes around the field", len(d.fields), len(d.places))}
	}
	for i, place := range d.places {
		if place < 0 {
			continue
		}
		v, err := d.fields[i].value(&d.columns[place])
		if err != nil {
			return false, &Error{Offset: d.fields[i].at, Err: err}
		}
		row[place] = v
	}
	return true, nil
}

// split cuts a row into its fields.
func (d *CSVDecoder) split(text string) error {
	d.fields = d.fields[:0]
	plain := strings.IndexByte(text, '"') < 0 && strings.IndexByte(text, '\r') < 0
	for at := 0; ; {
		f, end, err := d.field(text, at, plain)
		if err != nil {
			return err
		}
		d.fields = append(d.fields, f)
		if end == len(text) {
			return nil
		}
		at = end + 1
	}
}

// field reads the field at a place and returns where it ends: at a delimiter or
// at the end of the row. plain tells that there is nothing to look out for.
func (d *CSVDecoder) field(text string, at int, plain bool) (f csvField, end int, err error) {
	if !plain && at < len(text) && text[at] == '"' {
		return d.quoted(text, at)
	}
	end = len(text)
	if i := strings.IndexByte(text[at:], d.delimiter); i >= 0 {
		end = at + i
	}
	if !plain {
		if i := strings.IndexByte(text[at:end], '\r'); i >= 0 {
			return f, 0, &Error{Offset: at + i, Err: errors.New("a carriage return outside quotes: end lines with a line feed, and put fields that hold one in quotes")}
		}
		if i := strings.IndexByte(text[at:end], '"'); i >= 0 {
			return f, 0, &Error{Offset: at + i, Err: errors.New("a quote inside a field that does not begin with one: put the whole field in quotes, and write two for each inside")}
		}
	}
	return csvField{at: at, text: text[at:end]}, end, nil
}

func (d *CSVDecoder) quoted(text string, at int) (f csvField, end int, err error) {
	doubled := false
	for end = at + 1; ; end += 2 {
		i := strings.IndexByte(text[end:], '"')
		if i < 0 {
			return f, 0, &Error{Offset: at, Err: errors.New("the quote at the beginning of the field is not closed")}
		}
		if end += i; end+1 == len(text) || text[end+1] != '"' {
			break
		}
		doubled = true
	}
	f = csvField{at: at, text: text[at+1 : end], quoted: true}
	if doubled {
		f.text = strings.ReplaceAll(f.text, `""`, `"`)
	}
	if end++; end < len(text) && text[end] != d.delimiter {
		c := cursor{text: text, at: end}
		return f, 0, c.fail("%s behind the quote that closes a field, want %q or the end of the row: write two quotes for each inside", c.found(), d.delimiter)
	}
	return f, end, nil
}

// readHeader takes the row in hand as the names of the columns.
func (d *CSVDecoder) readHeader() error {
	names := d.names()
	found, err := places(names, d.schema)
	if err != nil {
		return &Error{Err: fmt.Errorf("%w: the first row has to name the columns, and is %s", err, brief(strings.Join(names, string(d.delimiter))))}
	}
	d.places = found
	return nil
}

// quotes marks an error in how a row is split into fields.
func quotes(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Quotes = true
	}
	return err
}

// header marks an error that comes before the header is known.
func (d *CSVDecoder) header(err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Header = !d.Ready()
	}
	return err
}

// CSVHeader returns the names of the columns in the header that a text begins
// with.
func CSVHeader(text string, delimiter byte) ([]string, error) {
	d := CSVDecoder{csvScan: csvScan{delimiter: delimiter}}
	text = strings.TrimPrefix(text, "\uFEFF")
	n := d.Scan(text)
	if n < 0 {
		return nil, errors.New("the first line, which has to name the columns, has no end")
	}
	if err := d.split(strings.TrimSuffix(strings.TrimSuffix(text[:n], "\n"), "\r")); err != nil {
		return nil, err
	}
	return d.names(), nil
}

// names are the fields of the row in hand, as names. Blanks around them are for
// the eye: a name never has any.
func (d *CSVDecoder) names() []string {
	names := make([]string, len(d.fields))
	for i, f := range d.fields {
		names[i] = strings.Clone(strings.Trim(f.text, " \t"))
	}
	return names
}
