package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/connectortest"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// parameters parses YSON parameters that stand at "p".
func parameters(t testing.TB, text string) flow.Parameters {
	t.Helper()
	node, err := yson.Parse([]byte(text), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	return flow.NewParameters(node, "p")
}

// newSource returns the source of a file with that content, with columns n and
// s, and the file's path.
func newSource(t testing.TB, content, more string) (connector.Source, string) {
	t.Helper()
	setup := connector.Setup{
		Parameters: parameters(t, `{path="in/rows.jsonl"; finite=%true;`+more+`}`),
		Schema:     flowtest.Schema(t, "n int64", "s string"),
		SpecDir:    t.TempDir(),
	}
	path := filepath.Join(setup.SpecDir, "in", "rows.jsonl")
	if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, path, content)
	src, err := NewSource(setup)
	if err != nil {
		t.Fatal(err)
	}
	return src, path
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// lines is a text of n rows numbered from first.
func lines(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, `{"n":%d,"s":"row %d"}`+"\n", i, i)
	}
	return b.String()
}

func TestSourceKeepsTheContract(t *testing.T) {
	long := strings.Repeat("long ", chunkSize/4)
	for name, c := range map[string]struct {
		content string
		want    int
	}{
		"usual":                  {lines(0, 30), 30},
		"empty":                  {"", 0},
		"last line without end":  {lines(0, 3) + `{"n":3}`, 4},
		"blank lines":            {"\n \n" + lines(0, 2) + "\t\r\n\n" + lines(2, 2) + "\n\n", 4},
		"only blank lines":       {"\n\n \n", 0},
		"lines end as on DOS":    {strings.ReplaceAll(lines(0, 4), "\n", "\r\n"), 4},
		"byte order mark":        {byteOrderMark + lines(0, 4), 4},
		"only a byte order mark": {byteOrderMark, 0},
		"lines beyond a chunk":   {lines(0, 2) + `{"s":"` + long + `"}` + "\n" + lines(2, 1) + `{"s":"` + long + long + `"}`, 5},
	} {
		t.Run(name, func(t *testing.T) {
			src, _ := newSource(t, c.content, "")
			rows := connectortest.Source(t, src, flowtest.Schema(t, "n int64", "s string"))
			if got := len(rows["in/rows.jsonl"]); len(rows) != 1 || got != c.want {
				t.Errorf("%d rows in %d partitions, want %d in one", got, len(rows), c.want)
			}
		})
	}
}

func TestSourceReadsFilesOfManyChunks(t *testing.T) {
	const rows = 3 * chunkSize / 20
	src, _ := newSource(t, lines(0, rows), "")
	r := open(t, src, nil)
	for n, end := 0, false; !end; {
		b, err := r.Read(t.Context(), connector.Limit{Rows: 1009, Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range b.Rows {
			if row[0] != schema.Int64(int64(n)) || row[1] != schema.String(fmt.Sprint("row ", n)) {
				t.Fatalf("row %d is %v", n, row)
			}
			n++
		}
		if end = b.End; end && n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

func open(t testing.TB, src connector.Source, offset []byte) connector.Reader {
	t.Helper()
	return openAt(t, src, "in/rows.jsonl", offset)
}

// openAt opens a partition until the test ends.
func openAt(t testing.TB, src connector.Source, partition string, offset []byte) connector.Reader {
	t.Helper()
	r, err := src.Open(t.Context(), partition, offset)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// read returns the values of column n in the next rows.
func read(t testing.TB, r connector.Reader, limit int) (n []int64, b connector.Batch, err error) {
	t.Helper()
	b, err = r.Read(t.Context(), connector.Limit{Rows: limit, Bytes: 1 << 20})
	for _, row := range b.Rows {
		n = append(n, row[0].AsInt64())
	}
	return n, b, err
}

func TestRowsBeforeAMalformedLineAreReadAndTheErrorSaysWhere(t *testing.T) {
	src, path := newSource(t, lines(0, 2)+"\n"+`{"n":2,"s":"x"`+"\n"+lines(3, 1), "")
	r := open(t, src, nil)
	n, b, err := read(t, r, 100)
	if err != nil || len(n) != 2 {
		t.Fatalf("rows %v, error %v, want the two before the malformed line", n, err)
	}
	const want = `in/rows.jsonl:4:15: the line ends, want ',' or '}'`
	for range 2 {
		if n, _, err := read(t, r, 100); err == nil || err.Error() != want || len(n) > 0 {
			t.Fatalf("rows %v, error %v, want %s", n, err, want)
		}
	}
	if _, _, err := read(t, open(t, src, b.Offset), 100); err == nil || err.Error() != want {
		t.Errorf("opened again: error %v, want %s", err, want)
	}

	// Somebody corrects the line, which makes the file shorter.
	write(t, path, lines(0, 2)+"\n{}\n"+lines(3, 1))
	if n, _, err := read(t, open(t, src, b.Offset), 100); err != nil || len(n) != 2 || n[1] != 3 {
		t.Errorf("after the correction: rows %v, error %v", n, err)
	}
}

func TestChangedFilesAreRefused(t *testing.T) {
	content := lines(0, 10)
	for name, c := range map[string]struct{ content, want string }{
		"shorter than what was read":  {content[:50], "the file has become shorter: it has 50 bytes, and 100 of it were read"},
		"empty":                       {"", "the file has become shorter"},
		"another one":                 {strings.Replace(content, "row 0", "ROW 0", 1), "the file is another one, or was changed, in what was read already (up to line 5)"},
		"changed right before":        {strings.Replace(content, "row 4", "ROW 4", 1), "the file is another one"},
		"with a line more in between": {lines(7, 1) + content, "the file is another one"},
	} {
		t.Run(name, func(t *testing.T) {
			src, path := newSource(t, content, "")
			_, b, err := read(t, open(t, src, nil), 5)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, c.content)
			r, err := src.Open(t.Context(), "in/rows.jsonl", b.Offset)
			if err == nil {
				t.Fatal(r.Close(), "opened a changed file")
			}
			if !strings.HasPrefix(err.Error(), path+": "+c.want) || !strings.Contains(err.Error(), "start over") {
				t.Errorf("error %v, want it to begin with the path and %q", err, c.want)
			}
			if !errors.Is(err, connector.ErrMalformed) {
				t.Errorf("%v is not malformed input, so it would be tried for ever", err)
			}
		})
	}
}

func TestCopiedAndGrownFilesAreTheSame(t *testing.T) {
	src, path := newSource(t, lines(0, 10), "")
	_, b, err := read(t, open(t, src, nil), 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, lines(0, 12))
	if n, _, err := read(t, open(t, src, b.Offset), 100); err != nil || len(n) != 7 {
		t.Errorf("rows %v, error %v, want 7 more", n, err)
	}
}

func TestStoredOffsetsThatMakeNoSenseAreErrors(t *testing.T) {
	src, _ := newSource(t, lines(0, 3), "")
	for _, offset := range []string{"", "7", "{}", `{"version":1,"position":-1}`, `{"version":1,"position":5,"head":{"length":6}}`,
		`{"version":1,"position":5,"tail":{"length":-1}}`, `{"version":1,"position":999999999999999,"head":{"length":999999999999999}}`} {
		if r, err := src.Open(t.Context(), "in/rows.jsonl", []byte(offset)); err == nil {
			t.Error(r.Close(), "opened at offset", offset)
		}
	}
	_, err := src.Open(t.Context(), "in/rows.jsonl", []byte(`{"version":2}`))
	if !errors.Is(err, connector.ErrMalformed) || !strings.Contains(err.Error(), "version 2, this program reads up to 1") {
		t.Errorf("a newer version: error %v", err)
	}
}

func TestAnUnknownPartitionIsAnError(t *testing.T) {
	src, _ := newSource(t, "", "")
	if r, err := src.Open(t.Context(), "other", nil); err == nil {
		t.Error(r.Close(), "opened a partition that does not exist")
	}
}

func TestMissingFileSaysWhereItWasLookedFor(t *testing.T) {
	src, path := newSource(t, "", "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err := src.Partitions(t.Context())
	want := fmt.Sprintf("there is no file %s: the path %q is relative to the folder of the spec file, %s", path, "in/rows.jsonl", filepath.Dir(filepath.Dir(path)))
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want it to begin with\n%s", err, want)
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := src.Partitions(t.Context()); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: error %v", err)
	}
}

func TestAbsolutePathsAreTakenAsTheyAre(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	write(t, path, lines(0, 1))
	src, err := NewSource(connector.Setup{
		Parameters: parameters(t, fmt.Sprintf(`{path=%q; finite=%%true}`, path)),
		Schema:     flowtest.Schema(t, "n int64"),
		SpecDir:    "elsewhere",
	})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := src.Partitions(t.Context()); err != nil || len(p) != 1 || p[0] != path {
		t.Errorf("partitions %q, error %v", p, err)
	}
}

func TestMaxRowBytesBoundsALine(t *testing.T) {
	row := lines(0, 1)
	limit := len(row) - 1 // without the end of the line
	for _, long := range []string{`{"n":1,"s":"row 10"}`, strings.Repeat("x", 2*chunkSize)} {
		for _, end := range []string{"", "\n", "\n" + row} {
			src, _ := newSource(t, row+long+end, fmt.Sprintf("max_row_bytes=%d", limit))
			r := open(t, src, nil)
			if n, _, err := read(t, r, 100); err != nil || len(n) != 1 {
				t.Fatalf("rows %v, error %v, want the first", n, err)
			}
			_, _, err := read(t, r, 100)
			want := fmt.Sprintf("in/rows.jsonl:2:1: the row is longer than max_row_bytes = %d", limit)
			if err == nil || err.Error() != want {
				t.Errorf("a line of %d bytes and then %q: error %v, want %s", len(long), end, err, want)
			}
		}
	}
}

func TestValuesOfManyMegabytes(t *testing.T) {
	big := strings.Repeat("0123456789", 1<<20)
	src, _ := newSource(t, lines(0, 1)+`{"s":"`+big+`","n":7}`, "")
	b, err := open(t, src, nil).Read(t.Context(), connector.Limit{Rows: 10, Bytes: 1 << 30})
	if err != nil || len(b.Rows) != 2 || b.Rows[1][1] != schema.String(big) || b.Rows[1][0] != schema.Int64(7) {
		t.Errorf("%d rows, error %v", len(b.Rows), err)
	}
}

func TestSourceParametersAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`{finite=%true}`:                                       `1:1: p: path is missing: name a file, relative to the folder of the spec file, or several as paths`,
		`{paths=[]}`:                                           `1:1: p: path is missing`,
		`{path=""}`:                                            `1:7: p.path: the path is empty: name a file, relative to the folder of the spec file`,
		`{paths=["x";""]}`:                                     `1:13: p.paths[1]: the path is empty`,
		`{path="x"; paths=["y"]}`:                              `1:18: p.paths: path is given too: keep one of them`,
		`{path="x["}`:                                          `1:7: p.path: "x[" is no pattern: each [ needs its ], or a backslash before it where it stands for itself`,
		`{path="x"; format="xml"}`:                             `1:19: p.format: "xml" is not one of jsonl, csv`,
		`{path="x"; on_malformed="ignore"}`:                    `1:25: p.on_malformed: "ignore" is not one of fail, skip`,
		`{path="x"; max_row_bytes=0}`:                          `1:26: p.max_row_bytes: must be > 0`,
		`{path="x"; poll_interval=0}`:                          `1:26: p.poll_interval: must be >= 1ms`,
		`{path="x"; paht="y"}`:                                 `1:12: p.paht: unknown field: did you mean path`,
		`{path="x"; header=%true}`:                             `1:19: p.header: this is for format = csv`,
		`{path="x"; delimiter=";"}`:                            `1:22: p.delimiter: this is for format = csv`,
		`{path="x"; columns=[n]}`:                              `1:20: p.columns: this is for format = csv`,
		`{path="x"; format=csv; delimiter=""}`:                 `1:1: p: the delimiter "" is not one ASCII character`,
		`{path="x"; format=csv; delimiter="\""}`:               `1:1: p: the delimiter '"' cannot be used`,
		`{path="x"; format=csv; columns=[s]}`:                  `1:1: p: column n: it is required, and none of the 1 fields has this name`,
		`{path="x"; format=csv; columns=[n;n]}`:                `1:1: p: column n: it is named twice`,
		`{path="x"; format=csv; columns=[n]; header=%true}`:    `1:1: p: columns are given, and a header which names them too: leave one out`,
		`{path="x"; format=csv; header=%false}`:                ``,
		`{path="x"; format=csv; columns=[a;n]; delimiter="|"}`: ``,
		`{paths=["a*.jsonl"; "b"]; on_malformed=skip}`:         ``,
	} {
		_, err := NewSource(connector.Setup{Parameters: parameters(t, text), Schema: flowtest.Schema(t, "n int64 required")})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: error %v", text, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%s: error %v, want it to begin with %s", text, err, want)
		}
	}
}

func TestColumnsWithAnExpressionAreRefused(t *testing.T) {
	s, err := schema.New([]schema.Column{{Name: "n", Type: schema.TypeUint64, Expression: "farm_hash(n)"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewSource(connector.Setup{Parameters: parameters(t, `{path="x"; finite=%true}`), Schema: s})
	if err == nil || !strings.Contains(err.Error(), "column n of the stream has an expression") {
		t.Errorf("error %v", err)
	}
}

func TestTrailIsTheBeginningAndTheEnd(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	for _, step := range []int{1, 7, tailLength - 1, tailLength, tailLength + 1, headLength, 9000, 16000} {
		var got trail
		for at := 0; at < len(content); at += step {
			pass(&got, content[at:min(at+step, len(content))])
		}
		want, err := readTrail(bytes.NewReader(content), int64(len(content)))
		if err != nil || !bytes.Equal(got.head, want.head) || !bytes.Equal(got.tail, want.tail) {
			t.Errorf("in steps of %d bytes the trail is not that of the whole (%v)", step, err)
		}
	}
}
