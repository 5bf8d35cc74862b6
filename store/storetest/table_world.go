package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

// table makes a table, or finds it.
func (w *world) table(name string) store.TableID {
	w.t.Helper()
	id, err := w.CreateTable(w.ctx, name, "schema of "+name)
	w.check(err)
	return id
}

// row is a write as a test has it: "key=value", which deletes if value is empty, or
// "key:was=value", which is for a row that was so.
func row(table store.TableID, text string) store.TableWrite {
	place, value, _ := strings.Cut(text, "=")
	key, was, checked := strings.Cut(place, ":")
	return store.TableWrite{Table: table, Key: key, Value: []byte(value), Checked: checked, Was: []byte(was)}
}

func rowsOf(table store.TableID, texts ...string) (out []store.TableWrite) {
	for _, text := range texts {
		out = append(out, row(table, text))
	}
	return out
}

// writes adds rows to a commit.
func writes(table store.TableID, texts ...string) func(*store.Commit) {
	return func(c *store.Commit) { c.Rows = append(c.Rows, rowsOf(table, texts...)...) }
}

// write writes rows from outside.
func (w *world) write(table store.TableID, texts ...string) {
	w.t.Helper()
	w.check(w.WriteRows(w.ctx, rowsOf(table, texts...)))
}

// holds compares all rows of a table.
func (w *world) holds(id store.TableID, want string) {
	w.t.Helper()
	w.equal(fmt.Sprintf("table %d", id), w.rowsIn(id), want)
}

// replace puts another table in the place of one, some times over.
func (w *world) replace(name string, times int) error {
	for i := range times {
		id, err := w.CreateTable(w.ctx, name+".new", "")
		if err == nil {
			err = w.WriteRows(w.ctx, rowsOf(id, fmt.Sprintf("a=%d", i), fmt.Sprintf("b=%d", i)))
		}
		if err == nil {
			err = w.RenameTable(w.ctx, id, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// named is the table of a name, which has to be there.
func (w *world) named(name string) store.TableID {
	w.t.Helper()
	all, err := w.Tables(w.ctx)
	w.check(err)
	at := slices.IndexFunc(all, func(t store.Table) bool { return t.Name == name })
	if at < 0 {
		w.t.Fatalf("there is no table %s among %+v", name, all)
	}
	return all[at].ID
}

func (w *world) rowsIn(id store.TableID) string {
	w.t.Helper()
	a, err := w.ListRows(w.ctx, id, store.ListRequest{})
	w.check(err)
	words := make([]string, len(a.Keys))
	for i, k := range a.Keys {
		words[i] = fmt.Sprintf("%s=%s", k.Key, k.Rows[0].Value)
	}
	return strings.Join(words, " ")
}

// dumpTables prints all tables with their rows.
func (w *world) dumpTables() string {
	w.t.Helper()
	ts, err := w.Tables(w.ctx)
	w.check(err)
	var b strings.Builder
	for _, t := range ts {
		a, err := w.ListRows(w.ctx, t.ID, store.ListRequest{})
		w.check(err)
		fmt.Fprintf(&b, "table %d %s %q: %s\n", t.ID, t.Name, t.Schema, describeAnswer(a))
	}
	return b.String()
}
