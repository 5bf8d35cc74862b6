package storetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/store"
)

// tableSteps are the steps of a history that concern tables.
func (g *history) tableSteps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"table create": g.createTable,
		"table drop":   g.dropTable,
		"table rename": g.renameTable,
		"table write":  g.writeRows,
		"table get":    g.getRows,
		"table list":   g.listRows,
	}
}

// tableID is that of a table: mostly one that is there.
func (g *history) tableID(t *rapid.T) store.TableID {
	ts, err := g.model.Tables(g.model.ctx)
	g.model.check(err)
	if len(ts) == 0 || rapid.IntRange(0, 19).Draw(t, "absent") == 0 {
		return store.TableID(rapid.Uint64Range(1, 9).Draw(t, "table"))
	}
	return rapid.SampledFrom(ts).Draw(t, "table").ID
}

func tableNames() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"t", "tt", "//home/t", "\xff", ""})
}

func (g *history) createTable(t *rapid.T) {
	name, schema := tableNames().Draw(t, "name"), rapid.SampledFrom([]string{"s", "s", "other"}).Draw(t, "schema")
	g.same(t, fmt.Sprintf("create table %q %q", name, schema), func(w *world) string {
		id, err := w.CreateTable(w.ctx, name, schema)
		return fmt.Sprint(id, outcome(err))
	})
}

func (g *history) dropTable(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rarely") > 0 {
		return
	}
	id := g.tableID(t)
	g.same(t, fmt.Sprintf("drop table %d", id), func(w *world) string { return outcome(w.DropTable(w.ctx, id)) })
}

func (g *history) renameTable(t *rapid.T) {
	id, name := g.tableID(t), tableNames().Draw(t, "name")
	g.same(t, fmt.Sprintf("rename table %d %q", id, name), func(w *world) string { return outcome(w.RenameTable(w.ctx, id, name)) })
}

// tableRows draws rows, of which some are checked, mostly rightly.
func (g *history) tableRows(t *rapid.T, most int) (rows []store.TableWrite) {
	for range rapid.IntRange(0, most).Draw(t, "table rows") {
		r := store.TableWrite{
			Table: g.tableID(t), Key: rawKey().Draw(t, "key"),
			Value:   []byte(rapid.SampledFrom([]string{"", "v", "ww", "\x00\xff", strings.Repeat("long", 30)}).Draw(t, "value")),
			Checked: rapid.Bool().Draw(t, "checked"),
		}
		is, err := g.model.GetRows(g.model.ctx, r.Table, []string{r.Key})
		if err == nil {
			r.Was = is[0]
		}
		if rapid.IntRange(0, 9).Draw(t, "wrong") == 0 {
			r.Was = []byte("wrong")
		}
		rows = append(rows, r)
	}
	return rows
}

func (g *history) writeRows(t *rapid.T) {
	rows := g.tableRows(t, 5)
	g.same(t, fmt.Sprintf("write %+v", rows), func(w *world) string { return outcome(w.WriteRows(w.ctx, rows)) })
}

// drawRows adds rows of tables to a commit.
func (g *history) drawRows(t *rapid.T, c *store.Commit) { c.Rows = g.tableRows(t, 2) }

func (g *history) getRows(t *rapid.T) {
	id, keys := g.tableID(t), rapid.SliceOfN(rawKey(), 0, 8).Draw(t, "keys")
	g.same(t, fmt.Sprintf("get rows %d %q", id, keys), func(w *world) string {
		got, err := w.GetRows(w.ctx, id, keys)
		return fmt.Sprintf("%q %s", got, outcome(err))
	})
}

func (g *history) listRows(t *rapid.T) {
	id, r := g.tableID(t), drawList(t)
	r.KeysOnly = rapid.Bool().Draw(t, "keys only")
	g.same(t, fmt.Sprintf("list rows %d %+v", id, r), func(w *world) string {
		a, err := w.ListRows(w.ctx, id, r)
		if err != nil {
			return outcome(err)
		}
		return describeAnswer(a)
	})
}
