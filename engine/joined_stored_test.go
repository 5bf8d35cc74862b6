package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

// places is a table in a store that is mirrored, and what the mirror has to be.
type places struct {
	t     *testing.T
	store store.Tables
	name  string
	id    store.TableID
	form  *schema.Table
}

func newPlaces(t *testing.T, s store.Tables, nameOfKey string) *places {
	t.Helper()
	columns, err := schema.New([]schema.Column{
		{Name: "hash", Type: schema.TypeUint64, Expression: fmt.Sprintf("farm_hash(%s)", nameOfKey), SortOrder: "ascending"},
		{Name: nameOfKey, Type: schema.TypeString, SortOrder: "ascending"},
		{Name: "value", Type: schema.TypeInt64},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &places{t: t, store: s, name: "//places"}
	if p.form, err = schema.NewTable(columns); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *places) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// replace puts n rows with a value in place of all, as an import does.
func (p *places) replace(n int, value int64) {
	p.t.Helper()
	ctx := context.Background()
	id, err := p.store.CreateTable(ctx, p.name+"#import", p.form.String())
	p.must(err)
	p.id = id
	p.put(0, n, value)
	p.must(p.store.RenameTable(ctx, id, p.name))
}

// put writes some rows one by one; a value of 0 deletes them.
func (p *places) put(from, to int, value int64) {
	p.t.Helper()
	for i := from; i < to; i++ {
		key, row, err := p.form.Encode(schema.Row{{}, schema.String(fmt.Sprintf("k%03d", i)), schema.Int64(value)})
		p.must(err)
		if value == 0 {
			row = nil
		}
		p.must(p.store.WriteRows(context.Background(), []store.TableWrite{{Table: p.id, Key: key, Value: row}}))
	}
}

// want wants n rows to be mirrored.
func (m *mirrorRig) want(what string, n int) {
	m.t.Helper()
	m.pass()
	if got := m.states(); len(got) != n {
		m.t.Errorf("%s: %d keys are mirrored, want %d: %+v", what, len(got), n, m.Problems())
	}
}

// accept is what rondo table accept does.
func (m *mirrorRig) accept() {
	m.t.Helper()
	node, err := yson.Parse([]byte(`{path="//places"}`), yson.YSON)
	if err != nil {
		m.t.Fatal(err)
	}
	j, err := external.New(external.Options{
		Computation: "mirror", Name: "/source", Parameters: flow.NewParameters(node, "p"), DataDir: m.data,
		Now: func() time.Duration { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		m.t.Fatal(err)
	}
	defer j.Close()
	if version, err := j.Accept(m.t.Context()); err != nil || !strings.Contains(version, "of the store") {
		m.t.Fatal(version, err)
	}
}

// TestTablesInTheStoreAreJoinedLikeFiles mirrors a table in the store through all that
// may happen to it (KV-51 to KV-55).
func TestTablesInTheStoreAreJoinedLikeFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.NewModel()
		p := newPlaces(t, s, "key")
		m := startMirrorIn(t, s, `"//places"`, "unavailable_source_policy = mark_unreadable")
		m.want("there is no table", 0)
		if !m.says("source_unavailable", "//places", "rondo table create") {
			t.Errorf("that there is no table is not shown: %+v", m.Problems())
		}
		p.replace(100, 1)
		m.want("an import", 100)
		p.put(100, 120, 1)
		m.want("rows more", 120)
		p.put(0, 15, 0)
		m.want("rows less", 105)
		p.replace(60, 2)
		m.want("another import", 60)
		p.replace(20, 2)
		m.want("a short import", 60)
		if !m.says("/shrunk", "rows: 20") {
			t.Errorf("that it is short is not shown: %+v", m.Problems())
		}
		m.accept()
		m.want("it is accepted", 20)
		p.replace(5, 2)
		m.want("a shorter import", 20)
		p.put(5, 15, 2)
		m.want("it becomes longer", 15)
		if err := m.Tables().DropTable(t.Context(), p.id); !errors.Is(err, ErrTableInUse) || !strings.Contains(err.Error(), "external_state_joiners./source") {
			t.Errorf("a table that is joined may be dropped: %v", err)
		}
		refuseOtherTables(t, m.Tables(), p)
		if err := s.DropTable(t.Context(), p.id); err != nil {
			t.Fatal(err)
		}
		m.want("it is dropped", 15)
		p.replace(16, 2)
		m.want("it is there again", 16)
		if len(m.Problems()) > 0 {
			t.Errorf("%+v", m.Problems())
		}
		m.stop()
	})
}

// TestAcceptBelievesTheVersionThatIsDoubtedNow accepts a table that became another one,
// and remained too short, since it was first found to be short (KV-55).
func TestAcceptBelievesTheVersionThatIsDoubtedNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.NewModel()
		p := newPlaces(t, s, "key")
		p.replace(100, 1)
		m := startMirrorIn(t, s, `"//places"`, "")
		m.want("an import", 100)
		p.replace(20, 2)
		m.want("a short import", 100)
		p.put(20, 21, 2)
		m.want("a row more", 100)
		m.accept()
		m.want("what there is now is accepted", 21)
		p.replace(10, 2)
		m.want("another short import", 21)
		p.replace(9, 2)
		m.want("and a shorter one", 21)
		m.accept()
		m.want("the last one is accepted", 9)
		if len(m.Problems()) > 0 {
			t.Errorf("%+v", m.Problems())
		}
		m.stop()
	})
}

// TestTablesInTheStoreWithAnotherKeyAreRefused starts a mirror of one.
func TestTablesInTheStoreWithAnotherKeyAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.NewModel()
		newPlaces(t, s, "place").replace(1, 1)
		m := startMirrorIn(t, s, `"//places"`, "")
		err := <-m.done
		for _, want := range []string{"joiner /source: table //places: ", "column 2 of the key is place string in the table and key utf8"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, without %s", err, want)
			}
		}
	})
}

// TestATableWithoutAReadableSchemaIsUnavailable mirrors one: it may be replaced, so this
// does not end the pipeline.
func TestATableWithoutAReadableSchemaIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.NewModel()
		if _, err := s.CreateTable(t.Context(), "//places", "{format=1000}"); err != nil {
			t.Fatal(err)
		}
		m := startMirrorIn(t, s, `"//places"`, "")
		m.want("a table of a newer format", 0)
		if !m.says("source_unavailable", "//places", "its schema cannot be read", "format 1000") {
			t.Errorf("it is not shown: %+v", m.Problems())
		}
		newPlaces(t, s, "key").replace(5, 1)
		m.want("a table in its place", 5)
		m.stop()
	})
}

// TestTheClusterIsPartOfATablesName mirrors each of two tables with the same path.
func TestTheClusterIsPartOfATablesName(t *testing.T) {
	for path, n := range map[string]int{`"//places"`: 5, `<append=%true; cluster=away>"//places"`: 7} {
		synctest.Test(t, func(t *testing.T) {
			s := storetest.NewModel()
			newPlaces(t, s, "key").replace(5, 1)
			other := newPlaces(t, s, "key")
			other.name = "away://places"
			other.replace(7, 1)
			m := startMirrorIn(t, s, path, "")
			m.want(path, n)
			m.stop()
		})
	}
}

// TestSlicesOfATableInTheStore lists with every limit on rows: what is given out is
// below what it is complete to, and all of it.
func TestSlicesOfATableInTheStore(t *testing.T) {
	s := storetest.NewModel()
	p := newPlaces(t, s, "key")
	p.replace(20, 1)
	for rows := 1; rows < 23; rows++ {
		got, lower := 0, ""
		for {
			n, last := 0, ""
			more, err := storedTables{s}.List(t.Context(), uint64(p.id), external.Slice{Lower: lower, MaxRows: rows, MaxBytes: 1 << 20}, func(key string, _ []byte) error {
				n, last = n+1, key
				return nil
			})
			if err != nil || n > rows || more != "" && (n == 0 || more <= last) {
				t.Fatalf("%d rows of at most %d up to %x, more at %x: %v", n, rows, last, more, err)
			}
			if got += n; more == "" {
				break
			}
			lower = more
		}
		if got != 20 {
			t.Errorf("%d rows with lists of %d", got, rows)
		}
	}
}

// watchedTables count how often the catalogue is read, and do something before the next
// list.
type watchedTables struct {
	tablesOnly
	catalogue  int
	beforeList func()
}

// tablesOnly is store.Tables under a name that its method Tables does not hide.
type tablesOnly interface{ store.Tables }

func (w *watchedTables) Tables(ctx context.Context) ([]store.Table, error) {
	w.catalogue++
	return w.tablesOnly.Tables(ctx)
}

func (w *watchedTables) ListRows(ctx context.Context, id store.TableID, r store.ListRequest) (*store.ListAnswer, error) {
	if do := w.beforeList; do != nil {
		w.beforeList = nil
		do()
	}
	return w.tablesOnly.ListRows(ctx, id, r)
}

// TestATableReplacedWhileASliceIsListedMakesThatSliceUnknown replaces it between
// look-up and list, and then counts look-ups.
func TestATableReplacedWhileASliceIsListedMakesThatSliceUnknown(t *testing.T) {
	s := storetest.NewModel()
	p := newPlaces(t, s, "key")
	p.replace(20, 1)
	w := &watchedTables{tablesOnly: s}
	groupBy, err := schema.New([]schema.Column{{Name: "hash", Type: schema.TypeUint64, Expression: "farm_hash(key)"}, {Name: "key", Type: schema.TypeUTF8}})
	p.must(err)
	path, err := yson.Parse([]byte(`{path="//places"}`), yson.YSON)
	p.must(err)
	j, err := external.New(external.Options{
		Computation: "c", Name: "/source", Parameters: flow.NewParameters(path, "p"), GroupBy: groupBy,
		Now: func() time.Duration { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
	p.must(err)
	defer j.Close()
	j.Bind(storedTables{w})
	scan := j.Scan()
	defer scan.Close()
	list := func() external.Answer {
		a, err := scan.List(t.Context(), external.Slice{MaxRows: 100, MaxBytes: 1 << 20})
		p.must(err)
		return a
	}
	if a := list(); len(a.Entries) != 20 || a.Unreadable {
		t.Fatalf("%+v", a)
	}
	w.beforeList = func() { p.replace(7, 2) }
	if a := list(); !a.Unreadable || len(a.Entries) > 0 {
		t.Errorf("the slice in which the table is replaced: %+v", a)
	}
	if a := list(); len(a.Entries) != 7 || a.Unreadable || a.Doubtful {
		t.Errorf("the next slice: %+v", a)
	}
	w.catalogue = 0
	for range 10 {
		list()
	}
	if w.catalogue != 10 {
		t.Errorf("the catalogue is read %d times for 10 slices", w.catalogue)
	}
}

// TestATableHasOneWriterAndAnyReaders joins a table that the same computation writes.
func TestATableHasOneWriterAndAnyReaders(t *testing.T) {
	t.Run("VAL-14 a manager and a reader", func(t *testing.T) {
		text := strings.Replace(fmt.Sprintf(mirrorSpec, `"//places"`, ""), "external_state_joiners =",
			`external_state_managers = {"/rows" = {class_name = simple; parameters = {path = "//places"}}}; external_state_joiners =`, 1)
		s, err := spec.Parse("mirror.yson", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var functions flow.Registry
		if err := function.Register(&functions); err != nil {
			t.Fatal(err)
		}
		if _, err := Prepare(t.Context(), Options{Spec: s, Functions: &functions, DataDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}); err != nil {
			t.Error(err)
		}
	})
}

// refuseOtherTables tries to make tables that are none, and to put others in the place
// of a used one.
func refuseOtherTables(t *testing.T, tables store.Tables, p *places) {
	t.Helper()
	ctx := t.Context()
	for _, c := range []struct{ name, schema string }{{"//other", "[]"}, {"//other/", p.form.String()}} {
		if _, err := tables.CreateTable(ctx, c.name, c.schema); !errors.Is(err, ErrTableRefused) {
			t.Errorf("table %s is made with the schema %s: %v", c.name, c.schema, err)
		}
	}
	other, err := tables.CreateTable(ctx, "//other", `{format=1;columns=[{name=k;type=utf8;sort_order=ascending}]}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := tables.RenameTable(ctx, other, p.name); !errors.Is(err, ErrTableInUse) || !strings.Contains(err.Error(), "another schema") {
		t.Errorf("a table of another schema takes the place of a joined one: %v", err)
	}
	if err := tables.RenameTable(ctx, p.id, "//away"); !errors.Is(err, ErrTableInUse) {
		t.Errorf("a joined table is renamed: %v", err)
	}
	if err := tables.DropTable(ctx, other); err != nil {
		t.Error(err)
	}
	key, value, err := p.form.Encode(schema.Row{{}, schema.String("k"), schema.Int64(1)})
	p.must(err)
	for what, w := range map[string]store.TableWrite{
		"of other columns": {Table: p.id, Key: key, Value: schema.AppendRow(nil, schema.Row{schema.Int64(1), schema.Int64(2)})},
		"of another hash":  {Table: p.id, Key: string(schema.AppendKey(nil, schema.Uint64(1), schema.String("k"))), Value: value},
		"without a key":    {Table: p.id, Key: string(schema.AppendKey(nil, schema.Uint64(1), schema.Null())), Value: value},
		"of no encoding":   {Table: p.id, Key: "k", Value: value},
	} {
		good := store.TableWrite{Table: p.id, Key: key, Value: value}
		if err := tables.WriteRows(ctx, []store.TableWrite{good, w}); !errors.Is(err, ErrRowRefused) || !strings.Contains(err.Error(), "row 2") {
			t.Errorf("a row %s is written: %v", what, err)
		}
	}
}
