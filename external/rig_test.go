package external

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// groupBy is the key of the tables here: a hash and a name.
func groupBy(t testing.TB) *schema.Schema {
	return mustSchema(t,
		schema.Column{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(name)"},
		schema.Column{Name: "name", Type: schema.TypeUTF8, Required: true})
}

func mustSchema(t testing.TB, columns ...schema.Column) *schema.Schema {
	t.Helper()
	s, err := schema.New(columns)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// formats are the ends of tables' names.
var formats = []string{".parquet", ".csv", ".jsonl"}

// writeTable sorts rows of a name and a number into a table.
func writeTable(t testing.TB, path string, rows map[string]int64) {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in.jsonl")
	var b strings.Builder
	for _, name := range sortedKeys(rows) {
		fmt.Fprintf(&b, "{\"name\":%q,\"value\":%d}\n", name, rows[name])
	}
	write(t, in, b.String())
	_, err := Sort(context.Background(), SortOptions{
		In: in, Out: path, Key: "hash=farm_hash(name),name", Memory: 64 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keyOf is the encoded key of a name.
func keyOf(t testing.TB, name string) string {
	t.Helper()
	h, err := schema.FarmHash(schema.String(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(schema.AppendKey(nil, schema.Uint64(h), schema.String(name)))
}

// rig is a joiner over a table, with a clock.
type rig struct {
	t      testing.TB
	joiner *Joiner
	now    time.Duration
	log    strings.Builder
}

func newRig(t testing.TB, path, dataDir, parameters string) *rig {
	t.Helper()
	r := &rig{t: t}
	node, err := yson.Parse([]byte(fmt.Sprintf("{path=%q;%s}", path, parameters)), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	r.joiner, err = New(Options{
		Computation: "routes", Name: "/source", Parameters: flow.NewParameters(node, "parameters"), GroupBy: groupBy(t),
		DataDir: dataDir, Now: func() time.Duration { return r.now }, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.joiner.Close)
	return r
}

func (r *rig) scan() *Scan {
	s := r.joiner.Scan()
	r.t.Cleanup(s.Close)
	return s
}

func whole() Slice { return Slice{MaxRows: 1 << 30, MaxBytes: 1 << 30} }

// readAll lists the whole table.
func readAll(t testing.TB, path string) map[string]int64 {
	t.Helper()
	r := newRig(t, path, "", "")
	a, err := r.scan().List(context.Background(), whole())
	if err != nil {
		t.Fatal(err)
	}
	return valuesOf(a.Entries)
}

func valuesOf(entries []*Entry) map[string]int64 {
	out := map[string]int64{}
	for _, e := range entries {
		name, _ := e.Columns.Index("name")
		value, _ := e.Columns.Index("value")
		out[e.Row[name].AsString()] = e.Row[value].AsInt64()
	}
	return out
}

func numbered(n int) map[string]int64 {
	rows := map[string]int64{}
	for i := range n {
		rows[fmt.Sprintf("k%06d", i)] = int64(i)
	}
	return rows
}

// disk that fails on demand.
type faultyDisk struct {
	osDisk
	fail func() error // called before each read
}

func (d *faultyDisk) open(path string) (file, error) {
	if err := d.fail(); err != nil {
		return nil, err
	}
	f, err := d.osDisk.open(path)
	return faultyFile{f, d}, err
}

type faultyFile struct {
	file
	disk *faultyDisk
}

func (f faultyFile) ReadAt(dst []byte, at int64) (int, error) {
	if err := f.disk.fail(); err != nil {
		return 0, err
	}
	return f.file.ReadAt(dst, at)
}

var _ io.ReaderAt = faultyFile{}

func openTable(t *testing.T, path string) *parquetTable {
	t.Helper()
	f, err := osDisk{}.open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	at, err := f.stamp()
	if err != nil {
		t.Fatal(err)
	}
	p, err := openParquet(f, at.size, "hash")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustKeyed(t *testing.T, s *schema.Schema) *keyed {
	t.Helper()
	k, err := newKeyed(groupBy(t), s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// emptyFirst answers with no rows at first.
type emptyFirst struct {
	parquet.Rows
	empty int
}

func (e *emptyFirst) ReadRows(rows []parquet.Row) (int, error) {
	if e.empty > 0 {
		e.empty--
		return 0, nil
	}
	return e.Rows.ReadRows(rows)
}
