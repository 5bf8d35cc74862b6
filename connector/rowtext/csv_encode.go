package rowtext

import (
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/schema"
)

// CSVEncoder is the [Encoder] of CSV with a header: what it writes a
// [CSVDecoder] with the same delimiter reads back as it was.
type CSVEncoder struct {
	schema    *schema.Schema
	delimiter byte
	special   string // bytes that a field has to have quotes for
}

// NewCSVEncoder returns an encoder of rows of the schema. It is an error if the
// delimiter cannot be used, or if rows could not be told from blank lines.
func NewCSVEncoder(s *schema.Schema, delimiter byte) (*CSVEncoder, error) {
	if err := (CSV{Delimiter: delimiter}).checkDelimiter(); err != nil {
		return nil, err
	}
	switch columns := s.Columns(); {
	case len(columns) == 0:
		return nil, fmt.Errorf("a CSV row needs at least one column")
	case len(columns) == 1 && columns[0].Type.Kind() == schema.KindString && !columns[0].MustNotBeNull():
		return nil, fmt.Errorf("column %s: a row of one string cannot tell null from an empty one in CSV: make the column required, or write jsonl", columns[0].Name)
	}
	return &CSVEncoder{schema: s, delimiter: delimiter, special: "\"\r\n" + string(delimiter)}, nil
}

// AppendHeader appends the names of the columns.
func (e *CSVEncoder) AppendHeader(dst []byte) []byte {
	for i, c := range e.schema.Columns() {
		dst = e.appendField(e.delimit(dst, i), c.Name)
	}
	return append(dst, '\n')
}

// AppendRow appends the row, with its line end.
func (e *CSVEncoder) AppendRow(dst []byte, row schema.Row) ([]byte, error) {
	if len(row) != e.schema.Len() {
		return nil, fmt.Errorf("a row of %d values for a schema of %d columns", len(row), e.schema.Len())
	}
	for i, v := range row {
		dst = e.delimit(dst, i)
		switch v.Kind() {
		case schema.KindNull:
			if len(row) == 1 { // or it would be a blank line
				dst = append(dst, `""`...)
			}
		case schema.KindString:
			dst = e.appendField(dst, v.AsString())
		case schema.KindAny:
			text, err := appendAny(nil, v.AsString())
			if err != nil {
				return nil, fmt.Errorf("column %s: the value is no YSON: %w", e.schema.Columns()[i].Name, err)
			}
			dst = e.appendField(dst, string(text))
		default:
			dst = e.appendField(dst, strings.Trim(string(appendValue(nil, v)), `"`))
		}
	}
	return append(dst, '\n'), nil
}

func (e *CSVEncoder) delimit(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, e.delimiter)
	}
	return dst
}

// appendField puts what is empty in quotes too: nothing at all is null.
func (e *CSVEncoder) appendField(dst []byte, text string) []byte {
	if text != "" && !strings.ContainsAny(text, e.special) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}
