package rowtext

import (
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/schema"
)

// CSV is a dialect of CSV.
type CSV struct {
	// Delimiter stands between fields: any ASCII character but a quote and the
	// ends of lines.
	Delimiter byte
	// Header tells that the first row of a text names the columns.
	Header bool
	// Columns names the fields of a text without a header, in order; nil stands
	// for the columns of the schema. Names that are no column are passed over.
	Columns []string
}

// check refuses a dialect in which rows of the schema cannot be read.
func (o CSV) check(s *schema.Schema) error {
	if err := o.checkDelimiter(); err != nil {
		return err
	}
	if o.Header {
		if o.Columns != nil {
			return fmt.Errorf("columns are given, and a header which names them too: leave one out")
		}
		return nil
	}
	_, err := places(o.names(s), s)
	return err
}

func (o CSV) checkDelimiter() error {
	switch d := o.Delimiter; {
	case d == 0 || d == '"' || d == '\r' || d == '\n' || d >= 0x80:
		return fmt.Errorf("the delimiter %q cannot be used: take one ASCII character that is neither a quote nor the end of a line", d)
	default:
		return nil
	}
}

// names are those of the fields when there is no header.
func (o CSV) names(s *schema.Schema) []string {
	if o.Columns != nil {
		return o.Columns
	}
	return s.Names()
}

// places returns for each field the place of its column in the schema, or -1.
func places(names []string, s *schema.Schema) ([]int, error) {
	places := make([]int, len(names))
	for i, name := range names {
		place, known := s.Index(name)
		if !known {
			place = -1
		} else if slices.Contains(places[:i], place) {
			return nil, fmt.Errorf("column %s: it is named twice", name)
		}
		places[i] = place
	}
	for i, c := range s.Columns() {
		if c.MustNotBeNull() && !slices.Contains(places, i) {
			return nil, fmt.Errorf("column %s: it is required, and none of the %d fields has this name", c.Name, len(names))
		}
	}
	if s.Len() > 0 && !slices.ContainsFunc(places, func(p int) bool { return p >= 0 }) {
		return nil, fmt.Errorf("none of the %d fields is named as a column of the stream is", len(names))
	}
	return places, nil
}
