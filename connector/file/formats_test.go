package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/connectortest"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// folder is files to read: contents by path.
type folder map[string]string

// source returns a source of the folder with columns n and s, and its path.
func (f folder) source(t testing.TB, params string) (connector.Source, string) {
	t.Helper()
	dir := t.TempDir()
	for path, content := range f {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, path), content)
	}
	src, err := NewSource(connector.Setup{Parameters: parameters(t, params), Schema: flowtest.Schema(t, "n int64 required", "s string"), SpecDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return src, dir
}

func column(rows []schema.Row) []int64 {
	var n []int64
	for _, row := range rows {
		n = append(n, row[0].AsInt64())
	}
	return n
}

func TestCSVFilesKeepTheContract(t *testing.T) {
	long := strings.Repeat("long ", chunkSize/4)
	for name, c := range map[string]struct {
		content, params string
		want            int
	}{
		"usual":                       {"n,s\n0,a\n1,\n2,\"b\"\n", "", 3},
		"header in another order":     {"s,other,n\n,x,0\na,x,1\n", "", 2},
		"no rows":                     {"n,s\n", "", 0},
		"nothing":                     {"", "", 0},
		"last row without end":        {"n\n0\n1", "", 2},
		"last header without end":     {"n", "", 0},
		"blank lines":                 {"\n\r\n\nn,s\n\n0,a\n\r\n\n1,b\n\n", "", 2},
		"lines end as on DOS":         {"n,s\r\n0,a\r\n1,\"b\r\nc\"\r\n", "", 2},
		"byte order mark":             {byteOrderMark + "n,s\n0,a\n1,b\n", "", 2},
		"rows of several lines":       {"n,s\n0,\"a\n\nb\n\"\n1,\"\n\"\n2,c\n", "", 3},
		"rows beyond a chunk":         {"n,s\n0,\"" + long + "\n" + long + "\"\n1," + long + "\n2,\"\"\n", "", 3},
		"a header beyond a chunk":     {"n,\"" + long + "\n" + long + "\"\n0,a\n1,b\n2,c\n", "", 3},
		"no header":                   {"0,a\n1,b\n", "header=%false", 2},
		"columns of the spec":         {"x;0\nx;1\n", `delimiter=";"; columns=[skipped;n]`, 2},
		"malformed rows passed over":  {"n,s\nx,a\n0,a\n1\n\n1,b\"c\n\"1\"x,c\n1,d\n1.5,\n2,e\n2,\"f\n", "on_malformed=skip", 3},
		"only malformed rows":         {"n,s\nx,\ny,\nz,\n", "on_malformed=skip", 0},
		"long rows passed over":       {"n,s\n0,a\n1," + long + long + "\n1,\"" + long + "\n" + long + "\n,\"\n1,b\n2,c\n" + long, "on_malformed=skip; max_row_bytes=50", 3},
		"a quote open to the end":     {"n,s\nx,\"a\n0,a\n1,\"\"\n2,\"b\"\"c\"\n3,\"d\ne\"\n4,", "on_malformed=skip", 5},
		"a quote closed by another":   {"n,s\nx,\"a\n0,a\n1,b\n2,\"c\"\n3,d\n", "on_malformed=skip", 4},
		"only a quote":                {"n,s\n\"", "on_malformed=skip", 0},
		"two open quotes far apart":   {"n,s\nx,\"\n0,a\n" + strings.Repeat("\n", 99) + "1,b\nx,\"a\n2,c\n", "on_malformed=skip; max_row_bytes=50", 3},
		"a quote open beyond a chunk": {"n,s\n0,\nx,\"" + strings.Repeat("\n", chunkSize) + "1,b\n2,c\n", "on_malformed=skip; max_row_bytes=50", 3},
		"a header with blanks":        {" s\t, n \n a,0\n,1\n", "", 2},
		"rows of several passed over": {"n,s\n0,a\n\"x\n\n\",b\n1,c\n", "on_malformed=skip", 2},
	} {
		t.Run(name, func(t *testing.T) {
			src, _ := folder{"in.csv": c.content}.source(t, `{path="in.csv"; format=csv; finite=%true;`+c.params+`}`)
			rows := connectortest.Source(t, src, flowtest.Schema(t, "n int64 required", "s string"))["in.csv"]
			if got := column(rows); len(got) != c.want || !inOrder(got) {
				t.Errorf("rows %v, want %d from 0 on", got, c.want)
			}
		})
	}
}

func inOrder(n []int64) bool {
	for i, n := range n {
		if n != int64(i) {
			return false
		}
	}
	return true
}

func TestJSONFilesWithMalformedRowsKeepTheContract(t *testing.T) {
	long := `{"n":1,"s":"` + strings.Repeat("long ", chunkSize/4) + `"}`
	for name, content := range map[string]string{
		"some":          "x\n" + lines(0, 3) + "{}\n[1]\n\n" + lines(3, 2) + "{",
		"all":           strings.Repeat("x\n", 9),
		"long ones":     long + "\n" + lines(0, 2) + long + long + "\n" + long + "\n" + lines(2, 1) + long,
		"end of a long": strings.Repeat("y", chunkSize) + "\n" + lines(0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			src, _ := folder{"in.jsonl": content}.source(t, `{path="in.jsonl"; finite=%true; on_malformed=skip; max_row_bytes=100}`)
			rows := connectortest.Source(t, src, flowtest.Schema(t, "n int64 required", "s string"))["in.jsonl"]
			if got, want := column(rows), strings.Count(content, "row "); len(got) != want || !inOrder(got) {
				t.Errorf("rows %v, want %d from 0 on", got, want)
			}
		})
	}
}

func TestSkippedRowsAreCountedAndTheFirstIsTold(t *testing.T) {
	src, _ := folder{"in.jsonl": lines(0, 1) + "x\n{}\n" + strings.Repeat("y", 101) + "\n" + lines(1, 1) + "z"}.source(t,
		`{path="in.jsonl"; finite=%true; on_malformed=skip; max_row_bytes=100}`)
	r := openAt(t, src, "in.jsonl", nil)
	for _, want := range []struct {
		rows    []int64
		skipped int
		first   string
		end     bool
	}{
		{[]int64{0}, 2, `in.jsonl:2:1: found 'x', want a row as a JSON object`, false}, // a row too long begins a batch
		{[]int64{1}, 2, `in.jsonl:4:1: the row is longer than max_row_bytes = 100`, true},
	} {
		b, err := r.Read(t.Context(), unlimited)
		if err != nil {
			t.Fatal(err)
		}
		if got := column(b.Rows); !slices.Equal(got, want.rows) || b.Skipped != want.skipped || b.End != want.end {
			t.Errorf("rows %v, %d skipped, end %v, want %v", got, b.Skipped, b.End, want)
		}
		if b.SkippedFirst == nil || b.SkippedFirst.Error() != want.first || !errors.Is(b.SkippedFirst, connector.ErrMalformed) {
			t.Errorf("the first: %v, want %s", b.SkippedFirst, want.first)
		}
	}
}

// TestAStrayQuoteTakesOneLineAway, wherever the file is cut into chunks.
func TestAStrayQuoteTakesOneLineAway(t *testing.T) {
	rows := ""
	for i := range 30 {
		rows += fmt.Sprintf("%d,\"\"\n", i)
	}
	for before := chunkSize - 70; before <= chunkSize; before += 7 {
		for _, limit := range []int{20, 60, 1 << 20} {
			src, _ := folder{"in.csv": strings.Repeat("\n", before) + "x,\"stray\n" + rows}.source(t,
				fmt.Sprintf(`{path="in.csv"; format=csv; finite=%%true; header=%%false; on_malformed=skip; max_row_bytes=%d}`, limit))
			b, err := openAt(t, src, "in.csv", nil).Read(t.Context(), unlimited)
			if err != nil {
				t.Fatal(err)
			}
			if got := column(b.Rows); len(got) != 30 || !inOrder(got) || b.Skipped != 1 {
				t.Errorf("stray quote behind %d lines, rows up to %d bytes: rows %v, %d skipped, want 30 and one", before, limit, got, b.Skipped)
			}
			if want := fmt.Sprintf("in.csv:%d:3: the quote at the beginning of the field is not closed", before+1); b.SkippedFirst == nil || b.SkippedFirst.Error() != want {
				t.Errorf("skipped for %v, want %q", b.SkippedFirst, want)
			}
		}
	}
}

// TestAHeaderThatDoesNotFitIsNotPassedOver: no row could be read.
func TestAHeaderThatDoesNotFitIsNotPassedOver(t *testing.T) {
	for header, want := range map[string]string{
		"s,x\n":      `in.csv:2:1: column n: it is required, and none of the 2 fields has this name: the first row has to name the columns, and is s,x`,
		"n,s,n\n":    `in.csv:2:1: column n: it is named twice: the first row has to name the columns, and is n,s,n`,
		"n,\"a\nb\"": `in.csv:3:3: found 'c' behind the quote that closes a field, want ',' or the end of the row: write two quotes for each inside`,
	} {
		src, _ := folder{"in.csv": "\n" + header + "c\n1,a\n"}.source(t, `{path="in.csv"; format=csv; finite=%true; on_malformed=skip}`)
		r := openAt(t, src, "in.csv", nil)
		for range 2 {
			if b, err := r.Read(t.Context(), unlimited); err == nil || err.Error() != want || !errors.Is(err, connector.ErrMalformed) {
				t.Errorf("header %q: %d rows, error %v, want %s", header, len(b.Rows), err, want)
			}
		}
	}
}

func TestFilesArePartitions(t *testing.T) {
	f := folder{"in/b.jsonl": lines(0, 2), "in/a.jsonl": lines(0, 3), "in/c.csv": "x", "in/d.jsonl/deeper": "x", "other/a.jsonl": lines(0, 1), "[x].jsonl": lines(0, 4)}
	for params, want := range map[string]map[string]int{
		`path="in/*.jsonl"`:         {"in/a.jsonl": 3, "in/b.jsonl": 2},
		`path="*/?.jsonl"`:          {"in/a.jsonl": 3, "in/b.jsonl": 2, "other/a.jsonl": 1},
		`path="./in/../in/a.jsonl"`: {"in/a.jsonl": 3},
		`paths=["other/a.jsonl"; "in/a.jsonl"; "./in/a.jsonl"]`: {"in/a.jsonl": 3, "other/a.jsonl": 1},
		`paths=["in/b.jsonl"; "in/[ab].jsonl"]`:                 {"in/a.jsonl": 3, "in/b.jsonl": 2},
		`path="\\[x].jsonl"`:                                    {"[x].jsonl": 4},
	} {
		t.Run(params, func(t *testing.T) {
			src, _ := f.source(t, "{finite=%true;"+params+"}")
			got := connectortest.Source(t, src, flowtest.Schema(t, "n int64 required", "s string"))
			if len(got) != len(want) {
				t.Errorf("%d partitions, want %d", len(got), len(want))
			}
			for path, n := range want {
				if len(got[path]) != n {
					t.Errorf("%d rows of %s, want %d", len(got[path]), path, n)
				}
			}
			if paths, err := src.Partitions(t.Context()); err != nil || !slices.IsSorted(paths) {
				t.Errorf("partitions %q, error %v, want them sorted", paths, err)
			}
		})
	}
}

func TestPatternsWithASpecFolderOfSpecialName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `a[b]*\?`)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "x.jsonl"), "")
	src, err := NewSource(connector.Setup{Parameters: parameters(t, `{path="*.jsonl"; finite=%true}`), Schema: flowtest.Schema(t, "n int64"), SpecDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if paths, err := src.Partitions(t.Context()); err != nil || !slices.Equal(paths, []string{"x.jsonl"}) {
		t.Errorf("partitions %q, error %v", paths, err)
	}
}

func TestAbsolutePatterns(t *testing.T) {
	f := folder{"a.jsonl": lines(0, 1), "b.jsonl": lines(0, 2)}
	_, dir := f.source(t, `{path="x"}`)
	src, _ := folder{}.source(t, fmt.Sprintf(`{path=%q; finite=%%true}`, dir+"/*.jsonl"))
	got := connectortest.Source(t, src, flowtest.Schema(t, "n int64 required", "s string"))
	if len(got) != 2 || len(got[dir+"/a.jsonl"]) != 1 || len(got[dir+"/b.jsonl"]) != 2 {
		t.Errorf("partitions %v", got)
	}
}

func TestMissingFilesAreAllNamed(t *testing.T) {
	src, dir := folder{"there.jsonl": ""}.source(t, `{paths=["gone.jsonl"; "there.jsonl"; "in/lost.jsonl"]; finite=%true}`)
	_, err := src.Partitions(t.Context())
	want := fmt.Sprintf("there is no file %[1]s/gone.jsonl: the path %[2]q is relative to the folder of the spec file, %[1]s: file does not exist\n"+
		"there is no file %[1]s/in/lost.jsonl: the path %[3]q is relative to the folder of the spec file, %[1]s: file does not exist", dir, "gone.jsonl", "in/lost.jsonl")
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
	src, dir = folder{}.source(t, `{path="*.jsonl"}`)
	_, err = src.Partitions(t.Context())
	want = "no file matches *.jsonl, which is relative to the folder of the spec file, " + dir + ": file does not exist"
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
}

// TestACancelledReadOfMuchThatIsNoRowEnds: blank lines alone give no batch.
func TestACancelledReadOfMuchThatIsNoRowEnds(t *testing.T) {
	src, _ := folder{"in.jsonl": strings.Repeat("\n", 3*chunkSize)}.source(t, `{path="in.jsonl"; finite=%true}`)
	r := openAt(t, src, "in.jsonl", nil)
	ctx := &countdown{Context: t.Context(), left: 3}
	if _, err := r.Read(ctx, unlimited); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// countdown is a context that ends when it was asked a few times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
