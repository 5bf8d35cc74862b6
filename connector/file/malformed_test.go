package file

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flowtest"
)

// badJSON and badCSV are texts that are no row of badInputColumns, with what is
// to be said about them when they are the second row of a file.
var badJSON = map[string]struct{ line, want string }{
	"no JSON":                     {`{"id":1,"s":x}`, `in.jsonl:2:13: found 'x', want a JSON value`},
	"the beginning of a row":      {`{"id":1,"s":`, `in.jsonl:2:13: the line ends, want a JSON value`},
	"another JSON value":          {`[1]`, `in.jsonl:2:1: found '[', want a row as a JSON object`},
	"two rows":                    {`{"id":1}{"id":2}`, `in.jsonl:2:9: found '{' after the row, want the end of the line`},
	"a field twice":               {`{"id":1,"id":2}`, `in.jsonl:2:9: field "id" comes twice`},
	"a string for a number":       {`{"id":"1"}`, `in.jsonl:2:7: column id: "1" is a string, want int64`},
	"a number for a string":       {`{"id":1,"s":2}`, `in.jsonl:2:13: column s: 2 is a number, want string`},
	"a required column missing":   {`{"s":"x"}`, `in.jsonl:2:10: column id: it is required, and the row has no such field`},
	"null in a required column":   {`{"id":null}`, `in.jsonl:2:7: column id: null in a required column`},
	"an integer out of range":     {`{"id":9223372036854775808}`, `in.jsonl:2:7: column id: 9223372036854775808 is out of range of int64`},
	"a narrow one out of range":   {`{"id":1,"b":-129}`, `in.jsonl:2:13: column b: -129 is out of range of int8`},
	"a negative unsigned integer": {`{"id":1,"u":-1}`, `in.jsonl:2:13: column u: -1 is negative, want uint64`},
	"an integer with a fraction":  {`{"id":1.5}`, `in.jsonl:2:7: column id: "1.5" has a fraction, want int64`},
	"a double out of range":       {`{"id":1,"d":1e309}`, `in.jsonl:2:13: column d: "1e309" is out of range of double`},
	"bytes in a utf8 column":      {`{"id":1,"t":"` + "\xff" + `"}`, `in.jsonl:2:13: column t: "\xff" is not valid UTF-8: declare the column as string to keep any bytes`},
	"a row too long":              {`{"id":1,"s":"` + strings.Repeat("x", 100) + `"}`, `in.jsonl:2:1: the row is longer than max_row_bytes = 64`},
}

var badCSV = map[string]struct{ line, want string }{
	"text for a number":             {`x,,,,,,`, `in.csv:3:1: column id: "x" is no number, want int64`},
	"a Go literal for a double":     {`1,,,0x1p3,,,`, `in.csv:3:5: column d: "0x1p3" is no number, want double`},
	"digits in groups":              {`1,,,1_0.5,,,`, `in.csv:3:5: column d: "1_0.5" is no number, want double`},
	"a bare carriage return":        {"1,,,,a\rb,,", `in.csv:3:7: a carriage return outside quotes: end lines with a line feed, and put fields that hold one in quotes`},
	"text for a boolean":            {`1,,,,,,1`, `in.csv:3:8: column f: "1" is neither true nor false, want boolean`},
	"a required column empty":       {`"",,,,,,`, `in.csv:3:1: column id: the field is empty, and the column is required`},
	"an integer out of range":       {`-9223372036854775809,,,,,,`, `in.csv:3:1: column id: "-9223372036854775809" is out of range of int64`},
	"a narrow one out of range":     {`1,128,,,,,`, `in.csv:3:3: column b: 128 is out of range of int8`},
	"a negative unsigned integer":   {`1,,-1,,,,`, `in.csv:3:4: column u: -1 is negative, want uint64`},
	"an integer with a fraction":    {`1.5,,,,,,`, `in.csv:3:1: column id: "1.5" has a fraction, want int64`},
	"bytes in a utf8 column":        {"1,,,,,\xff,", `in.csv:3:7: column t: "\xff" is not valid UTF-8: declare the column as string to keep any bytes`},
	"behind a field of three lines": {"1,,,,\"a\n\nb\",\xff,", `in.csv:5:4: column t: "\xff" is not valid UTF-8: declare the column as string to keep any bytes`},
	"too few fields":                {`1,2`, `in.csv:3:1: the row has 2 fields, want 7: a delimiter inside a field needs quotes around the field`},
	"a quote inside a field":        {`1,2,3,4,x"y,,`, `in.csv:3:10: a quote inside a field that does not begin with one: put the whole field in quotes, and write two for each inside`},
	"a quote that is not closed":    {"1,,,,\"a\n\n", `in.csv:3:6: the quote at the beginning of the field is not closed`},
	"a row too long":                {`1,,,,` + strings.Repeat("x", 100) + `,,`, `in.csv:3:1: the row is longer than max_row_bytes = 64`},
}

var badInputColumns = []string{"id int64 required", "b int8", "u uint64", "d double", "s string", "t utf8", "f boolean"}

func TestBadInputSaysWhereAndWhatAndStopsThePipeline(t *testing.T) {
	for name, c := range badJSON {
		t.Run("json/"+name, func(t *testing.T) {
			_, err := readAll(t, "in.jsonl", `{"id":0}`+"\n"+c.line+"\n", "max_row_bytes=64")
			checkMalformed(t, err, c.want)
		})
	}
	for name, c := range badCSV {
		t.Run("csv/"+name, func(t *testing.T) {
			_, err := readAll(t, "in.csv", "id,b,u,d,s,t,f\n0,,,,,,\n"+c.line+"\n", "format=csv; max_row_bytes=64")
			checkMalformed(t, err, c.want)
		})
	}
}

// TestLinesThatEndWithACarriageReturnAloneAreNoRows: nor are they a header that
// nothing follows.
func TestLinesThatEndWithACarriageReturnAloneAreNoRows(t *testing.T) {
	rows, err := readAll(t, "in.csv", "id,s\r1,a\r2,b\r", "format=csv; on_malformed=skip")
	if len(rows) > 0 {
		t.Errorf("rows %q", rows)
	}
	checkMalformed(t, err, "in.csv:1:5: a carriage return outside quotes: end lines with a line feed, and put fields that hold one in quotes")
}

func checkMalformed(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
	if !errors.Is(err, connector.ErrMalformed) {
		t.Errorf("%v is not malformed input, so it would be tried for ever", err)
	}
}

// readAll reads a file of that content to the end or the first error.
func readAll(t *testing.T, name, content, more string) ([]string, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, name), content)
	src, err := NewSource(connector.Setup{
		Parameters: parameters(t, `{path="`+name+`"; finite=%true;`+more+`}`), Schema: flowtest.Schema(t, badInputColumns...), SpecDir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := openAt(t, src, name, nil)
	var rows []string
	for {
		b, err := r.Read(t.Context(), connector.Limit{Rows: 100, Bytes: 1 << 30})
		for _, row := range b.Rows {
			rows = append(rows, row.String())
		}
		if err != nil || b.End {
			return rows, err
		}
	}
}

func TestADiskThatCannotBeReadIsTriedAgain(t *testing.T) {
	src, path := newSource(t, lines(0, 1), "")
	r, err := src.Open(t.Context(), "in/rows.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil { // each read of the file fails from here on
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), unlimited); !errors.Is(err, os.ErrClosed) || errors.Is(err, connector.ErrMalformed) {
		t.Errorf("error %v, want that of the disk, not malformed input", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := src.Open(t.Context(), "in/rows.jsonl", nil); !errors.Is(err, os.ErrNotExist) || errors.Is(err, connector.ErrMalformed) {
		t.Errorf("error %v, want a missing file, not malformed input", err)
	}
}

var unlimited = connector.Limit{Rows: 1 << 30, Bytes: 1 << 40}
