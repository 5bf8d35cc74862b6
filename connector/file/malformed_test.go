package file

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flowtest"
)

// badInput is each line that is no row of badInputColumns, with what is to be
// said about it.
var badInput = map[string]struct{ line, want string }{
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
	"an integer with a fraction":  {`{"id":1.5}`, `in.jsonl:2:7: column id: 1.5 has a fraction, want int64`},
	"a double out of range":       {`{"id":1,"d":1e309}`, `in.jsonl:2:13: column d: "1e309" is out of range of double`},
	"bytes in a utf8 column":      {`{"id":1,"t":"` + "\xff" + `"}`, `in.jsonl:2:13: column t: "\xff" is not valid UTF-8: declare the column as string to keep any bytes`},
	"a row too long":              {`{"id":1,"s":"` + strings.Repeat("x", 100) + `"}`, `in.jsonl:2:1: the row is longer than max_row_bytes = 64`},
}

var badInputColumns = []string{"id int64 required", "b int8", "u uint64", "d double", "s string", "t utf8"}

func TestBadInputSaysWhereAndWhatAndStopsThePipeline(t *testing.T) {
	for name, c := range badInput {
		t.Run(name, func(t *testing.T) {
			_, err := readAll(t, "in.jsonl", `{"id":0}`+"\n"+c.line+"\n", badInputColumns, "max_row_bytes=64")
			if err == nil || err.Error() != c.want {
				t.Errorf("error\n%v\nwant\n%s", err, c.want)
			}
			if !errors.Is(err, connector.ErrMalformed) {
				t.Errorf("%v is not malformed input, so it would be tried for ever", err)
			}
		})
	}
}

// readAll reads a file of that content to the end or the first error.
func readAll(t *testing.T, name, content string, columns []string, more string) ([]string, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir+"/"+name, content)
	src, err := NewSource(connector.Setup{
		Parameters: parameters(t, `{path="`+name+`"; finite=%true;`+more+`}`), Schema: flowtest.Schema(t, columns...), SpecDir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
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
