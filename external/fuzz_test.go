package external

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzTables lists files of any bytes in every format, with and without knowing their
// columns. No bytes end the process, and what is listed is rows of a table: in strict
// order of keys, each with its hash.
func FuzzTables(f *testing.F) {
	for i, format := range formats {
		path := filepath.Join(f.TempDir(), "t"+format)
		writeTable(f, path, numbered(20))
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), data)
		f.Add(uint8(i), data[:len(data)/2])
	}
	const columns = "schema=[{name=hash;type=uint64};{name=name;type=utf8};{name=value;type=int64}]"
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		path := filepath.Join(t.TempDir(), "t"+formats[int(kind)%len(formats)])
		write(t, path, string(data))
		parameters := ""
		if kind&1 == 1 {
			parameters = columns
		}
		r := newRig(t, path, "", parameters)
		a, err := r.scan().List(context.Background(), whole())
		if err != nil {
			if !errors.Is(err, ErrMalformed) || len(a.Entries) > 0 {
				t.Errorf("a bad table is not malformed: %d rows, %v", len(a.Entries), err)
			}
			return
		}
		last := ""
		for _, e := range a.Entries {
			name, _ := e.Columns.Index("name")
			if key := keyOf(t, e.Row[name].AsString()); e.Key != key || key <= last {
				t.Errorf("%s is listed behind %s", showKey(e.Key), showKey(last))
			}
			last = e.Key
		}
	})
}

// FuzzSpoiledTables changes and cuts tables that say how many rows they have: all of
// them are listed, or none.
func FuzzSpoiledTables(f *testing.F) {
	const rows = 300
	dir := f.TempDir()
	sound := make([][]byte, len(formats))
	for i, format := range formats {
		path := filepath.Join(dir, "t"+format)
		writeTable(f, path, numbered(rows))
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		sound[i] = data
		f.Add(uint8(i), uint32(len(data)/2), uint32(0), []byte{0xff})
		f.Add(uint8(i), uint32(0), uint32(len(data)/2), []byte{})
	}
	f.Fuzz(func(t *testing.T, kind uint8, at, cut uint32, with []byte) {
		i := int(kind) % len(formats)
		path := filepath.Join(t.TempDir(), "t"+formats[i])
		data := append([]byte(nil), sound[i]...)
		for n := 0; n < len(with) && int(at)+n < len(data); n++ {
			data[int(at)+n] ^= with[n]
		}
		write(t, path, string(data[:len(data)-int(cut)%len(data)]))
		if meta, err := os.ReadFile(filepath.Join(dir, "t"+formats[i]) + MetaSuffix); err == nil {
			write(t, path+MetaSuffix, string(meta))
		}
		a, err := newRig(t, path, "", "").scan().List(context.Background(), whole())
		if err == nil && len(a.Entries) != rows {
			t.Errorf("%d of %d rows are listed", len(a.Entries), rows)
		}
	})
}
