package external

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/schema"
)

func TestTablesComeBackAsTheyWereSorted(t *testing.T) {
	for _, format := range formats {
		for _, n := range []int{0, 1, 7, 20_000} {
			path := filepath.Join(t.TempDir(), "table"+format)
			if n == 0 && format != ".parquet" {
				continue // a text without rows has no types to find
			}
			if n == 0 {
				writeEmpty(t, path)
			} else {
				writeTable(t, path, numbered(n))
			}
			if got := readAll(t, path); !maps.Equal(got, numbered(n)) {
				t.Errorf("%s of %d rows: %d came back", format, n, len(got))
			}
		}
	}
}

func writeEmpty(t *testing.T, path string) {
	t.Helper()
	o, err := create(path, mustSchema(t,
		schema.Column{Name: "hash", Type: schema.TypeUint64, Required: true},
		schema.Column{Name: "name", Type: schema.TypeUTF8, Required: true},
		schema.Column{Name: "value", Type: schema.TypeInt64}))
	if err == nil {
		err = o.finish()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestEveryTypeIsKept sends the ends of all ranges through every format.
func TestEveryTypeIsKept(t *testing.T) {
	columns := []schema.Column{{Name: "hash", Type: schema.TypeUint64, Required: true}, {Name: "name", Type: schema.TypeUTF8, Required: true}}
	low := schema.Row{schema.Null(), schema.String("low")}
	high := schema.Row{schema.Null(), schema.String("high")}
	none := schema.Row{schema.Null(), schema.String("none")}
	add := func(name string, a, b schema.Value) {
		typ, err := schema.ParseType(name)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, schema.Column{Name: "z" + name, Type: typ})
		low, high, none = append(low, a), append(high, b), append(none, schema.Null())
	}
	add("int8", schema.Int64(-128), schema.Int64(127))
	add("int16", schema.Int64(-1<<15), schema.Int64(1<<15-1))
	add("int32", schema.Int64(-1<<31), schema.Int64(1<<31-1))
	add("int64", schema.Int64(-1<<63), schema.Int64(1<<63-1))
	add("uint8", schema.Uint64(0), schema.Uint64(255))
	add("uint16", schema.Uint64(0), schema.Uint64(1<<16-1))
	add("uint32", schema.Uint64(0), schema.Uint64(1<<32-1))
	add("uint64", schema.Uint64(0), schema.Uint64(1<<64-1))
	add("float", schema.Double(-1.5), schema.Double(float64(float32(3.1))))
	add("double", schema.Double(-0.1), schema.Double(1e300))
	add("boolean", schema.Boolean(false), schema.Boolean(true))
	add("string", schema.String(""), schema.String("\xff\x00\"\n"))
	add("utf8", schema.String("ü"), schema.String("a,b"))
	add("any", schema.Any(`{"a"=1}`), schema.Any(`["x";%true]`))
	add("date", schema.Uint64(0), schema.Uint64(49672))
	add("datetime", schema.Uint64(0), schema.Uint64(49672*86400))
	add("timestamp", schema.Uint64(0), schema.Uint64(49672*86400*1e6))
	add("interval", schema.Int64(-5), schema.Int64(5))
	s := mustSchema(t, columns...)
	rows := map[string]schema.Row{}
	for _, row := range []schema.Row{low, high, none} {
		h, _ := schema.FarmHash(row[1])
		row[0] = schema.Uint64(h)
		rows[row[1].AsString()] = row
	}
	for _, format := range formats {
		dir := t.TempDir()
		in, path := filepath.Join(dir, "in"+format), filepath.Join(dir, "out"+format)
		o, err := create(in, s)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range []schema.Row{low, high, none} {
			if err := o.write(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.finish(); err != nil {
			t.Fatal(err)
		}
		res, err := Sort(context.Background(), SortOptions{In: in, Out: path, Key: "hash=farm_hash(name),name", Memory: MinSortMemory})
		if err != nil {
			t.Fatal(format, err)
		}
		if !res.Columns.Equal(s) {
			t.Errorf("%s: the columns became %s", format, res.Columns.Names())
		}
		r := newRig(t, path, "", "")
		a, err := r.scan().List(context.Background(), whole())
		if err != nil {
			t.Fatal(format, err)
		}
		for i, c := range a.Entries[0].Columns.Columns() {
			if c != s.Columns()[i] {
				t.Errorf("%s: column %+v became %+v", format, s.Columns()[i], c)
			}
		}
		for _, e := range a.Entries {
			want := rows[e.Row[1].AsString()]
			if e.Row.String() != want.String() {
				t.Errorf("%s:\n got %s\nwant %s", format, e.Row, want)
			}
		}
		if len(a.Entries) != 3 {
			t.Errorf("%s: %d rows", format, len(a.Entries))
		}
	}
}

// TestFaultsOfTablesAreNamed spoils tables, one way each.
func TestFaultsOfTablesAreNamed(t *testing.T) {
	hash := func(name string) uint64 {
		h, _ := schema.FarmHash(schema.String(name))
		return h
	}
	names := []string{"a", "b", "c"}
	first, second, third := sorted3(names, hash)
	line := func(h uint64, name, value string) string {
		return strings.Join([]string{schema.Uint64(h).String()[:len(schema.Uint64(h).String())-1], name, value}, ",") + "\n"
	}
	good := func(n string) string { return line(hash(n), n, "1") }
	for _, c := range []struct{ name, text, want string }{
		{"unsorted", good(second) + good(first), `row 2 (line 3) has the key [` + schema.Uint64(hash(first)).String() + `, "` + first + `"], which belongs before [` + schema.Uint64(hash(second)).String() + `, "` + second + `"] of row 1 (line 2)`},
		{"duplicate", good(first) + good(first), `row 2 (line 3) has the key [` + schema.Uint64(hash(first)).String() + `, "` + first + `"], as row 1 (line 2) has`},
		{"null key", good(first) + ",b,1\n", "row 2 (line 3)"},
		{"hash", good(first) + line(7, second, "1"), "row 2 (line 3): its column hash is 7, and farm_hash(name) gives " + strings.TrimSuffix(schema.Uint64(hash(second)).String(), "u")},
		{"wrong type", good(first) + "x,b,1\n", "row 2 (line 3)"},
		{"too many fields", good(first) + strings.TrimSuffix(good(second), "\n") + ",9\n", "row 2 (line 3)"},
		{"cut off", good(first) + good(second) + strings.TrimSuffix(good(third), ",1\n"), "the last line has no end"},
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		write(t, path, "hash,name,value\n"+c.text)
		r := newRig(t, path, "", "")
		a, err := r.scan().List(context.Background(), whole())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if len(a.Entries) > 0 {
			t.Errorf("%s: rows were listed", c.name)
		}
		if n := r.joiner.Status().FailedReads; n != 1 {
			t.Errorf("%s: a table that is wrong was read %d times", c.name, n)
		}
	}
}

func sorted3(names []string, hash func(string) uint64) (a, b, c string) {
	for i := range names {
		for k := range i {
			if hash(names[i]) < hash(names[k]) {
				names[i], names[k] = names[k], names[i]
			}
		}
	}
	return names[0], names[1], names[2]
}

// TestACutParquetFileIsAnError cuts a file at many places.
func TestACutParquetFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.parquet")
	writeTable(t, path, numbered(5000))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.parquet")
	for n := 0; n < len(data); n += max(1, len(data)/100) {
		write(t, cut, string(data[:n]))
		r := newRig(t, cut, "", "")
		if a, err := r.scan().List(context.Background(), whole()); err == nil {
			t.Fatalf("%d of %d bytes were read as %d rows", n, len(data), len(a.Entries))
		}
	}
}

// TestSpoiledParquetFilesDoNotPanic flips bytes: what is listed without an error has
// all the rows.
func TestSpoiledParquetFilesDoNotPanic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.parquet")
	writeTable(t, path, numbered(500))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spoiled := filepath.Join(dir, "spoiled.parquet")
	for at := 0; at < len(data); at += 13 {
		changed := append([]byte(nil), data...)
		changed[at] ^= 0x55
		write(t, spoiled, string(changed))
		r := newRig(t, spoiled, "", "")
		a, err := r.scan().List(context.Background(), whole())
		if err == nil && len(a.Entries) != 500 {
			t.Errorf("byte %d flipped: %d rows without an error", at, len(a.Entries))
		}
	}
}
