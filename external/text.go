package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
)

// text is a table in JSON Lines or CSV. Where keys lie is found by reading it
// once when it is opened (KV-51).
type text struct {
	columns *schema.Schema
	format  Format
	src     io.ReaderAt
	size    int64
	header  string // of CSV
	index   []mark
	rows    int64
}

// mark is a row of which it is known where it begins.
type mark struct {
	key    string
	offset int64
	at     place
}

// The index has a mark every minStep bytes at least, and maxMarks at most, so
// that what is read in vain before a bucket is little of any table.
const (
	minStep  = 8 << 10
	maxMarks = 4096
	// maxLine is the longest row of a text.
	maxLine   = 16 << 20
	chunkSize = 32 << 10
)

func (t *text) decoder() (rowtext.Decoder, error) {
	if t.format == FormatCSV {
		return rowtext.NewCSVDecoder(t.columns, rowtext.CSV{Delimiter: ',', Header: true})
	}
	d := rowtext.NewJSONDecoder(t.columns)
	d.Unknown = func(name string) error { return wider("the row", name, t.columns) }
	return d, nil
}

// wider is that a row, or a header, has more than the schema: that may be of another table.
func wider(what, name string, s *schema.Schema) error {
	return fmt.Errorf("%s has a column %q, and the table does not: its columns are %s; add it to the schema, or leave it out of the rows", what, name, strings.Join(s.Names(), ", "))
}

func (t *text) schema() *schema.Schema { return t.columns }

// build reads the whole table, checks it, and marks rows on the way.
func (t *text) build(ctx context.Context, k *keyed) error {
	c, err := t.open(mark{})
	if err != nil {
		return err
	}
	w := &walk{cursor: c, keyed: k}
	step := max(minStep, t.size/maxMarks)
	next := int64(0)
	for {
		e, err := w.next(ctx)
		if err == io.EOF {
			t.rows = w.at.row
			return nil
		}
		if err != nil {
			return err
		}
		if c.began >= next {
			t.index = append(t.index, mark{strings.Clone(e.Key), c.began, w.at})
			next = c.began + step
		}
	}
}

// before returns the last mark before a bound, or the first.
func (t *text) before(lower string) (m mark) {
	i := sort.Search(len(t.index), func(i int) bool { return t.index[i].key >= lower })
	if i > 0 {
		return t.index[i-1]
	}
	return m
}

func (t *text) seek(lower string) (cursor, error) { return t.open(t.before(lower)) }

func (t *text) skippable(row int64, lower string) bool { return t.before(lower).at.row > row }

// open returns a cursor at a mark; the zero one is the beginning.
func (t *text) open(m mark) (*textCursor, error) {
	d, err := t.decoder()
	if err != nil {
		return nil, &malformed{err}
	}
	c := &textCursor{text: t, decoder: d}
	if m.key == "" {
		return c, nil
	}
	if t.format == FormatCSV {
		if _, err := d.Decode(t.header, nil); err != nil {
			return nil, &malformed{err}
		}
	}
	c.base, c.line, c.row = m.offset, m.at.line-1, m.at.row-1
	return c, nil
}

// textCursor reads rows of a text from a place on.
type textCursor struct {
	text    *text
	decoder rowtext.Decoder
	chunk   string
	base    int64 // of the chunk in the file
	from    int   // where in the chunk the next row begins
	scanned int   // how much from there on has no end of a row
	row     int64 // rows before it
	line    int64 // lines before it
	began   int64 // where the last row that was returned begins
}

// take passes the next row, of a size.
func (c *textCursor) take(size int) (text string) {
	text = c.chunk[c.from : c.from+size]
	c.began = c.base + int64(c.from)
	c.from, c.scanned = c.from+size, 0
	if c.began == 0 {
		text = strings.TrimPrefix(text, "\uFEFF")
	}
	return text
}

// next implements cursor.
func (c *textCursor) next(ctx context.Context) (schema.Row, place, error) {
	for {
		size, err := c.find(ctx)
		if err != nil {
			return nil, place{}, err
		}
		text := c.take(size)
		at := place{c.row + 1, c.line + 1}
		c.line += int64(strings.Count(text, "\n"))
		header := !c.decoder.Ready()
		row := make(schema.Row, c.text.columns.Len())
		is, err := c.decoder.Decode(text, row)
		if err != nil {
			return nil, at, malformedf("%s: %w", at, err)
		}
		if header && c.text.header == "" { // by build, before anybody shares the table
			c.text.header = strings.Clone(text)
		}
		if is {
			c.row++
			return own(row), at, nil
		}
	}
}

// own copies what a row has of the chunk it was read from: rows that wait for
// their visit must not hold chunks.
func own(row schema.Row) schema.Row {
	for i, v := range row {
		switch v.Kind() {
		case schema.KindString:
			row[i] = schema.String(strings.Clone(v.AsString()))
		case schema.KindAny:
			row[i] = schema.Any(strings.Clone(v.AsString()))
		}
	}
	return row
}

var errLineTooLong = errors.New("a row is longer than 16 MiB: is there a quote that is not closed?")

// find returns the size of the next row, its line end included.
func (c *textCursor) find(ctx context.Context) (int, error) {
	for {
		if rest := c.chunk[c.from+c.scanned:]; rest != "" {
			if n := c.decoder.Scan(rest); n >= 0 {
				return c.scanned + n, nil
			}
			c.scanned += len(rest)
		}
		end := c.base + int64(len(c.chunk))
		switch {
		case c.scanned > maxLine:
			return 0, &malformed{errLineTooLong}
		case end == c.text.size && c.scanned > 0:
			return 0, malformedf("the last line has no end: the file seems to be cut off; if it is whole, add the end of the line")
		case end == c.text.size:
			return 0, io.EOF
		}
		if err := c.fill(ctx); err != nil {
			return 0, err
		}
	}
}

func (c *textCursor) fill(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rest := c.chunk[c.from:]
	end := c.base + int64(len(c.chunk))
	buf := make([]byte, len(rest)+int(min(int64(max(chunkSize, len(rest))), c.text.size-end)))
	copy(buf, rest)
	n, err := c.text.src.ReadAt(buf[len(rest):], end)
	if err != nil && !(err == io.EOF && n == len(buf)-len(rest)) {
		return err
	}
	c.base, c.chunk, c.from = c.base+int64(c.from), string(buf), 0
	return nil
}

func (c *textCursor) close() error { return nil }
