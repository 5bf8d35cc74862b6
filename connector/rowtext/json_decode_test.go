package rowtext

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// TestJSONTranscript: "schema" takes a column a line, "decode" prints a row
// or the error of each line, which stands there in Go quotes if it needs them.
func TestJSONTranscript(t *testing.T) {
	datadriven.RunTest(t, "testdata/json", func(t *testing.T, td *datadriven.TestData) string {
		return runDecode(t, td)
	})
}

func runDecode(t *testing.T, td *datadriven.TestData) string {
	columns := strings.Split(td.Input, "\n")
	lines := columns
	if i := strings.Index(td.Input, "\n\n"); i >= 0 {
		columns, lines = strings.Split(td.Input[:i], "\n"), strings.Split(td.Input[i+2:], "\n")
	}
	s := flowtest.Schema(t, columns...)
	d := NewJSONDecoder(s)
	var b strings.Builder
	for _, line := range lines {
		row := make(schema.Row, s.Len())
		if err := decodeRow(d, unquote(t, line), row); err != nil {
			fmt.Fprintln(&b, "error:", err)
			continue
		}
		if err := s.Check(row); err != nil {
			t.Errorf("%s:\nthe row of %s does not fit its schema: %v", td.Pos, line, err)
		}
		fmt.Fprintln(&b, row)
	}
	return b.String()
}

// unquote lets transcripts hold bytes that are no text.
func unquote(t *testing.T, line string) string {
	if !strings.HasPrefix(line, "`") {
		return line
	}
	var s string
	if _, err := fmt.Sscanf(`"`+strings.Trim(line, "`")+`"`, "%q", &s); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return s
}

func TestNestingIsBounded(t *testing.T) {
	d := NewJSONDecoder(flowtest.Schema(t, "n int64"))
	deep := func(levels int) string {
		return `{"other":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	}
	if err := decodeRow(d, deep(maxDepth-1), make(schema.Row, 1)); err != nil {
		t.Errorf("%d levels: %v", maxDepth, err)
	}
	err := decodeRow(d, deep(maxDepth), make(schema.Row, 1))
	if want := "byte 10009: more than 10000 levels of nesting"; err == nil || err.Error() != want {
		t.Errorf("%d levels: error %v, want %s", maxDepth+1, err, want)
	}
}

// The order of fields is only guessed from the lines before.
func TestFieldsInAnyOrder(t *testing.T) {
	s := flowtest.Schema(t, "a int64", "b int64", "c int64")
	d := NewJSONDecoder(s)
	lines := map[string]string{
		`{"a":1,"b":2,"c":3}`:                "[1, 2, 3]",
		`{"c":3,"b":2,"a":1}`:                "[1, 2, 3]",
		`{"x":0,"a":1,"y":[{}],"b":2,"c":3}`: "[1, 2, 3]",
		`{"b":2}`:                            "[null, 2, null]",
		`{"a":1,"\u0062":2}`:                 "[1, 2, null]",
		`{}`:                                 "[null, null, null]",
	}
	for before := range lines {
		for line, want := range lines {
			row := make(schema.Row, 3)
			if err := decodeRow(d, before, make(schema.Row, 3)); err != nil {
				t.Fatal(err)
			}
			if err := decodeRow(d, line, row); err != nil || row.String() != want {
				t.Errorf("%s after %s: row %v, error %v, want %s", line, before, row, err, want)
			}
		}
	}
}

func TestLinesWithVeryManyFieldsTakeBoundedMemory(t *testing.T) {
	d := NewJSONDecoder(flowtest.Schema(t, "last int64"))
	var b strings.Builder
	for i := range 10 * maxPlaces {
		fmt.Fprintf(&b, `"f%d":%d,`, i, i)
	}
	row := make(schema.Row, 1)
	if err := decodeRow(d, "{"+b.String()+`"last":7}`, row); err != nil || row[0] != schema.Int64(7) {
		t.Errorf("row %v, error %v", row, err)
	}
	if len(d.places) != maxPlaces {
		t.Errorf("%d places remembered, want %d", len(d.places), maxPlaces)
	}
}

var errNoRow = errors.New("no row")

// decodeRow decodes what must be a row.
func decodeRow(d Decoder, text string, row schema.Row) error {
	ok, err := d.Decode(text, row)
	if err == nil && !ok {
		err = errNoRow
	}
	return err
}
