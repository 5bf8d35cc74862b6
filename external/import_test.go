package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/schema"
)

// fleet is the form of a table of planes.
func fleet(t *testing.T) *schema.Table {
	t.Helper()
	s, err := schema.New([]schema.Column{
		{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(tail)", SortOrder: "ascending"},
		{Name: "tail", Type: schema.TypeUTF8, SortOrder: "ascending"},
		{Name: "seats", Type: schema.TypeInt32, Required: true},
		{Name: "range", Type: schema.TypeDouble},
	})
	if err != nil {
		t.Fatal(err)
	}
	table, err := schema.NewTable(s)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// stored is a table in memory.
type stored struct {
	table  *schema.Table
	rows   map[string][]byte
	puts   int
	unique bool
}

func (s *stored) put(_ context.Context, rows []StoredRow) error {
	s.puts++
	for _, r := range rows {
		s.rows[r.Key] = r.Value
	}
	return nil
}

func (s *stored) load(t *testing.T, path string, batch int) (int64, error) {
	t.Helper()
	o := ImportOptions{In: path, Table: s.table, BatchBytes: batch, Unique: s.unique}
	o.Put = func(ctx context.Context, rows []StoredRow) error {
		for _, r := range rows {
			if s.unique && s.rows[r.Key] != nil {
				return o.Twice(ctx, r)
			}
		}
		return s.put(ctx, rows)
	}
	return Import(t.Context(), o)
}

// A key that comes twice is one thing wherever its rows are: the later one stays, or both
// are told.
func TestAKeyThatComesTwiceIsTheSameFarAndNear(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("tail,seats\nN1,5\nN2,6\nN3,1\nN1,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{1, 1 << 20} {
		s := &stored{table: fleet(t), rows: map[string][]byte{}}
		n, err := s.load(t, path, batch)
		if err != nil || n != 4 || len(s.rows) != 3 {
			t.Fatalf("batches of %d: %d rows, %v", batch, n, err)
		}
		for key, value := range s.rows {
			if row, err := s.table.Decode(key, value); err != nil || row[1].AsString() == "N1" && row[2].AsInt64() != 7 {
				t.Errorf("batches of %d: %v, %v", batch, row, err)
			}
		}
		s = &stored{table: fleet(t), rows: map[string][]byte{}, unique: true}
		if _, err = s.load(t, path, batch); !errors.Is(err, ErrKeyTwice) || !strings.Contains(err.Error(), `a.csv: row 4 (line 5): the key`) || !strings.Contains(err.Error(), `"N1"] is also at row 1 (line 2)`) {
			t.Errorf("batches of %d: %v", batch, err)
		}
	}
}

// next gives the rows in order.
func (s *stored) next() func(context.Context) (schema.Row, error) {
	var keys []string
	for k := range s.rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return func(context.Context) (schema.Row, error) {
		if len(keys) == 0 {
			return nil, io.EOF
		}
		k := keys[0]
		keys = keys[1:]
		return s.table.Decode(k, s.rows[k])
	}
}

// TestWhatIsExportedIsImportedAsItWas: through all formats, in few rows at a time.
func TestWhatIsExportedIsImportedAsItWas(t *testing.T) {
	first := &stored{table: fleet(t), rows: map[string][]byte{}}
	var csv strings.Builder
	csv.WriteString("range,tail,seats\n")
	for i := range 1000 {
		fmt.Fprintf(&csv, "%v,N%d,%d\n", float64(i)/8, i, i%300)
	}
	path := filepath.Join(t.TempDir(), "fleet.csv")
	if err := os.WriteFile(path, []byte(csv.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := first.load(t, path, 2000); err != nil || n != 1000 || first.puts < 20 {
		t.Fatalf("%d rows in %d puts, %v", n, first.puts, err)
	}
	for _, name := range []string{"out.csv", "out.jsonl", "out.parquet"} {
		out := filepath.Join(t.TempDir(), name)
		if n, err := Export(t.Context(), out, first.table.Columns(), first.next()); err != nil || n != 1000 {
			t.Fatalf("%s: %d rows, %v", name, n, err)
		}
		again := &stored{table: first.table, rows: map[string][]byte{}}
		if n, err := again.load(t, out, 1<<20); err != nil || n != 1000 || again.puts != 1 {
			t.Fatalf("%s: %d rows in %d puts, %v", name, n, again.puts, err)
		}
		for k, v := range first.rows {
			if !bytes.Equal(again.rows[k], v) {
				t.Fatalf("%s: row %x is %x, was %x", name, k, again.rows[k], v)
			}
		}
	}
}

func TestRowsThatCannotBeImportedAreToldByTheirPlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "tail,seats\nN1,5\nN2,many\n", "line 3"},
		{"a.csv", "tail,seats\nN1,5\nN2,\n", "row 2 (line 3): column seats: null in a required column"},
		{"a.csv", "tail,seat\nN1,5\n", "the table has no column seat: did you mean seats?"},
		{"a.csv", "hash,tail,seats\n7,N1,5\n", "column hash: it is 7u, and farm_hash(tail) gives"},
		{"a.jsonl", `{"tail":"N1","seats":5,"wings":2}` + "\n", `the row has a column "wings", and the table does not`},
		{"a.jsonl", `{"tail":"N1","seats":1.5}` + "\n", "seats"},
		{"a.csv", "seats,range\n5,1\n", "the file has no column tail, which is part of the key"},
		{"a.jsonl", `{"tail":"N1","seats":5}` + "\n" + `{"seats":6}` + "\n", "row 2 (line 2): column tail: it is part of the key"},
		{"a.jsonl", `{"tail":null,"seats":5}` + "\n", "row 1 (line 1): column tail: it is part of the key"},
		{"a.parquet", "PAR1", "Parquet"},
		{"a.txt", "", "the format of a table"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &stored{table: fleet(t), rows: map[string][]byte{}}
		_, err := s.load(t, path, 1<<20)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
		if len(s.rows) > 0 {
			t.Errorf("%q: %d rows were put", c.text, len(s.rows))
		}
	}
}
