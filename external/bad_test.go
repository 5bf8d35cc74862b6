package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

// writeRaw writes rows as they are: in any order, with any hashes.
func writeRaw(t testing.TB, path string, columns *schema.Schema, rows []schema.Row) {
	t.Helper()
	o, err := create(path, columns)
	for i := 0; i < len(rows) && err == nil; i++ {
		err = o.write(rows[i])
	}
	if err == nil {
		err = o.finish()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// badTables are tables with one fault each, and what must be said of it.
func badTables(t *testing.T) []badTable {
	plain := []schema.Column{{Name: "hash", Type: schema.TypeUint64}, {Name: "name", Type: schema.TypeUTF8}, {Name: "value", Type: schema.TypeInt64}}
	with := func(name string, to schema.Type) *schema.Schema {
		var out []schema.Column
		for _, c := range plain {
			if c.Name == name {
				c.Type = to
			}
			out = append(out, c)
		}
		return mustSchema(t, out...)
	}
	hash := func(name string) uint64 {
		h, err := schema.FarmHash(schema.String(name))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first, second, _ := sorted3([]string{"a", "b", "c"}, hash)
	row := func(name string) schema.Row {
		return schema.Row{schema.Uint64(hash(name)), schema.String(name), schema.Int64(1)}
	}
	shown := func(name string) string { return fmt.Sprintf("[%du, %q]", hash(name), name) }
	columns := mustSchema(t, plain...)
	return []badTable{
		{"unsorted", columns, []schema.Row{row(second), row(first)}, []string{"row 2", shown(first), "belongs before " + shown(second), "of row 1"}},
		{"duplicate", columns, []schema.Row{row(first), row(first)}, []string{"row 2", shown(first), "as row 1"}},
		{"null in a key", columns, []schema.Row{row(first), {schema.Uint64(1<<64 - 1), schema.Null(), schema.Int64(1)}}, []string{"row 2", "name", "null"}},
		{"null in the hash", columns, []schema.Row{row(first), {schema.Null(), schema.String(second), schema.Int64(1)}}, []string{"row 2", "hash", "null"}},
		{"a hash that does not match", columns, []schema.Row{row(first), {schema.Uint64(hash(second) + 1), schema.String(second), schema.Int64(1)}},
			[]string{"row 2", fmt.Sprint(hash(second)), fmt.Sprint(hash(second) + 1), "farm_hash(name)"}},
		{"a key column of another type", with("name", schema.TypeInt64), []schema.Row{{schema.Uint64(1), schema.Int64(1), schema.Int64(1)}}, []string{"column name is int64, and utf8 in group_by_schema"}},
		{"a hash of another type", with("hash", schema.TypeInt64), []schema.Row{{schema.Int64(1), schema.String("a"), schema.Int64(1)}}, []string{"column hash is int64, and uint64 in group_by_schema"}},
		{"another schema", mustSchema(t, schema.Column{Name: "id", Type: schema.TypeUint64}), []schema.Row{{schema.Uint64(1)}}, []string{"no column hash", "no column name", "its columns are [id]"}},
	}
}

type badTable struct {
	name    string
	columns *schema.Schema
	rows    []schema.Row
	want    []string
}

// TestBadTablesAreErrorsInEveryFormat writes each bad table in each format. With the
// policy retry it is an error with the place and both values; with the other one the
// slice is unknown. Nothing is absent, and nothing is listed.
func TestBadTablesAreErrorsInEveryFormat(t *testing.T) {
	for _, bad := range badTables(t) {
		for _, format := range formats {
			path := filepath.Join(t.TempDir(), "t"+format)
			writeRaw(t, path, bad.columns, bad.rows)
			mustFail(t, bad.name, path, "", append(bad.want, path)...)
		}
	}
}

// mustFail lists a table that is bad, by both policies.
func mustFail(t *testing.T, name, path, parameters string, want ...string) {
	t.Helper()
	a, err := newRig(t, path, "", parameters).scan().List(context.Background(), whole())
	if err == nil || len(a.Entries) > 0 {
		t.Errorf("%s in %s: %d rows, %v", name, filepath.Ext(path), len(a.Entries), err)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s in %s: %v\nwithout %q", name, filepath.Ext(path), err, w)
		}
	}
	a, err = newRig(t, path, "", "unavailable_source_policy=mark_unreadable;"+parameters).scan().List(context.Background(), whole())
	if err != nil || !a.Unreadable || len(a.Entries) > 0 {
		t.Errorf("%s in %s: with mark_unreadable %+v, %v", name, filepath.Ext(path), a, err)
	}
}

func TestBadTextsAreErrors(t *testing.T) {
	const columns = "schema=[{name=hash;type=uint64};{name=name;type=utf8};{name=value;type=int64}];"
	h, err := schema.FarmHash(schema.String("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, file, text, parameters string
		want                         []string
	}{
		{"a value of another type", "t.csv", fmt.Sprintf("hash,name,value\n%d,a,x\n", h), columns, []string{"row 1 (line 2)", "value", "x", "int64"}},
		{"a value of another type", "t.jsonl", fmt.Sprintf("{\"hash\":%d,\"name\":\"a\",\"value\":\"x\"}\n", h), columns, []string{"row 1 (line 1)", "value", "int64"}},
		{"more fields than the header", "t.csv", fmt.Sprintf("hash,name,value\n%d,a,1,2\n", h), columns, []string{"row 1 (line 2)", "4 fields, want 3"}},
		{"a column more", "t.csv", fmt.Sprintf("hash,name,value,more\n%d,a,1,2\n", h), columns, []string{"its header", `column "more"`, "its columns are hash, name, value"}},
		{"a column more", "t.jsonl", fmt.Sprintf("{\"hash\":%d,\"name\":\"a\",\"value\":1,\"more\":2}\n", h), columns, []string{"row 1 (line 1)", `column "more"`, "its columns are hash, name, value"}},
		{"a column less", "t.csv", fmt.Sprintf("hash,name\n%d,a\n", h), columns, []string{"no column value", "the columns are hash, name"}},
		{"no schema", "t.jsonl", "{}\n", "", []string{"the types of its columns are not known", "rondo table sort"}},
		{"no header", "t.csv", "", "", []string{"its header"}},
		{"no JSON", "t.jsonl", "hash\n", columns, []string{"row 1 (line 1)"}},
		{"a quote that is open", "t.csv", "hash,name,value\n1,\"a,1\n", columns, []string{"the last line has no end"}},
	} {
		path := filepath.Join(t.TempDir(), c.file)
		write(t, path, c.text)
		mustFail(t, c.name, path, c.parameters, append(c.want, path)...)
	}
}

func TestTablesThatAreNotThereAreErrors(t *testing.T) {
	dir := t.TempDir()
	for _, format := range formats {
		mustFail(t, "missing", filepath.Join(dir, "gone"+format), "", "gone"+format, "no such file")
		folder := filepath.Join(dir, "folder"+format)
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		mustFail(t, "a folder", folder, "", folder, "it is no regular file")
	}
}

// TestATextThatIsNotTheOneOfItsMetaFileIsAnError changes a text and leaves its .meta
// file: the size or the checksum says so.
func TestATextThatIsNotTheOneOfItsMetaFileIsAnError(t *testing.T) {
	for _, format := range formats[1:] {
		path := filepath.Join(t.TempDir(), "t"+format)
		writeTable(t, path, valuesFrom(30, 100))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, strings.Replace(string(data), "100", "900", 1))
		mustFail(t, "another value", path, "", "do not belong together", "the checksum of the text is")
		lines := strings.SplitAfter(string(data), "\n")
		write(t, path, strings.Join(append(lines[:3:3], lines[4:]...), ""))
		mustFail(t, "a line less", path, "", "do not belong together", fmt.Sprintf("and %d are written there", len(data)))
		write(t, path, string(data))
		if n := len(readAll(t, path)); n != 30 {
			t.Errorf("%s: %d rows", format, n)
		}
		write(t, path+MetaSuffix, "{")
		mustFail(t, "no JSON in .meta", path, "", MetaSuffix+" cannot be read")
		write(t, path+MetaSuffix, `{"version":9}`)
		mustFail(t, "a newer .meta", path, "", "is of version 9")
		if err := os.Remove(path + MetaSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// TestATextThatIsMalformedIsReadOnce lets many ask for it: at the same time, and when
// it is time to look again.
func TestATextThatIsMalformedIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	writeTable(t, path, numbered(1000))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(data), ",7\n", ",8\n", 1)) // not what its .meta file says
	r := newRig(t, path, "", "")
	for round := range int64(3) {
		for range 5 {
			if _, _, err := r.joiner.acquire(context.Background()); !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
		}
		if got, want := r.joiner.Status().BytesRead, (round+1)*int64(len(data)); got != want {
			t.Errorf("round %d: %d bytes were read, want %d", round, got, want)
		}
		r.now += 5 * time.Minute
	}
	write(t, path, string(data))
	if a := listAll(t, r.scan()); len(a.Entries) != 1000 {
		t.Errorf("%d rows when it is whole again", len(a.Entries))
	}
}

// TestTextsOfOthersHaveTheSchemaOfTheSpec reads texts without a .meta file.
func TestTextsOfOthersHaveTheSchemaOfTheSpec(t *testing.T) {
	h, err := schema.FarmHash(schema.String("a"))
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"t.csv":    fmt.Sprintf("hash,name,value\n%d,a,7\n", h),
		"t.jsonl":  fmt.Sprintf("{\"hash\":%d,\"value\":7,\"name\":\"a\"}\n", h),
		"t.ndjson": fmt.Sprintf("{\"hash\":%d,\"value\":7,\"name\":\"a\"}\n", h),
	} {
		path := filepath.Join(t.TempDir(), file)
		write(t, path, text)
		r := newRig(t, path, "", "schema=[{name=hash;type=uint64};{name=name;type=utf8};{name=value;type=int64}]")
		if a := listAll(t, r.scan()); len(a.Entries) != 1 || a.Entries[0].Row[2] != schema.Int64(7) {
			t.Errorf("%s: %+v", file, a)
		}
	}
	for parameters, want := range map[string]string{
		"schema=[{name=a;type=nothing}]": "nothing",
		"schema=[{name=hash;type=uint64;expression=\"farm_hash(name)\"};{name=name;type=utf8}]": "column hash has an expression",
	} {
		node, err := yson.Parse([]byte("{path=\"t.csv\";"+parameters+"}"), yson.YSON)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(Options{Parameters: flow.NewParameters(node, "p"), GroupBy: groupBy(t)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", parameters, err)
		}
	}
}
