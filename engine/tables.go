package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// ErrTableInUse says that a table cannot be dropped since the pipeline uses it.
var ErrTableInUse = errors.New("the table is in use")

// ErrTableRefused says that a table cannot be made, or renamed, as it was asked for.
var ErrTableRefused = errors.New("no such table can be made")

// ErrRowRefused says that a row cannot be written since it is none of its table.
var ErrRowRefused = errors.New("no such row can be written")

// Tables are the tables in the store of a running pipeline, nil before Run. Those
// that the pipeline uses cannot be dropped, renamed, or replaced by one of another schema.
// Rows may be written to them if they are rows of the table's schema, and an epoch that
// went by what they were runs again.
func (p *Pipeline) Tables() store.Tables {
	if env := p.environment(); env != nil {
		return usedTables{Rows: env.store, tables: env.store, plan: p.plan}
	}
	return nil
}

// usedTables are tables some of which a pipeline uses.
type usedTables struct {
	store.Rows
	tables store.Tables
	plan   *plan
}

// WriteRows refuses what is no row of its table: whoever sends rows may have encoded them
// by themselves.
func (t usedTables) WriteRows(ctx context.Context, rows []store.TableWrite) error {
	all, err := t.tables.Tables(ctx)
	if err != nil {
		return err
	}
	forms := map[store.TableID]*schema.Table{}
	for i := range rows {
		w := &rows[i]
		if len(w.Value) == 0 {
			continue // it is deleted
		}
		form := forms[w.Table]
		if form == nil {
			at := slices.IndexFunc(all, func(table store.Table) bool { return table.ID == w.Table })
			if at < 0 {
				return fmt.Errorf("%w: number %d", store.ErrNoTable, w.Table)
			}
			if form, err = schema.ParseTable(all[at].Schema); err != nil {
				return fmt.Errorf("%w: the schema of table %s cannot be read: %w", ErrRowRefused, all[at].Name, err)
			}
			forms[w.Table] = form
		}
		if err := form.CheckStored(w.Key, w.Value); err != nil {
			return fmt.Errorf("%w: row %d, with the key %x: %w", ErrRowRefused, i+1, w.Key, err)
		}
	}
	return t.Rows.WriteRows(ctx, rows)
}

// Tables describes all of them.
func (t usedTables) Tables(ctx context.Context) ([]store.Table, error) { return t.tables.Tables(ctx) }

// CreateTable refuses what is no name or no schema of a table.
func (t usedTables) CreateTable(ctx context.Context, name, text string) (store.TableID, error) {
	form, err := schema.ParseTable(text)
	if err != nil {
		err = fmt.Errorf("schema: %w", err)
	}
	if err := errors.Join(external.CheckStagedName(name), err); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrTableRefused, err)
	}
	return t.tables.CreateTable(ctx, name, form.String())
}

// RenameTable refuses to take a used table away, by its name or by its schema.
func (t usedTables) RenameTable(ctx context.Context, id store.TableID, name string) error {
	if err := external.CheckTableName(name); err != nil {
		return fmt.Errorf("%w: %w", ErrTableRefused, err)
	}
	all, err := t.tables.Tables(ctx)
	if err != nil {
		return err
	}
	from := slices.IndexFunc(all, func(table store.Table) bool { return table.ID == id })
	to := slices.IndexFunc(all, func(table store.Table) bool { return table.Name == name })
	if from < 0 || from == to {
		return t.tables.RenameTable(ctx, id, name) // which knows what to say
	}
	if user := t.plan.userOf(all[from].Name); user != "" {
		return fmt.Errorf("%w: %s is used by %s: stop the pipeline first", ErrTableInUse, all[from].Name, user)
	}
	if user := t.plan.userOf(name); user != "" && to >= 0 && all[from].Schema != all[to].Schema {
		return fmt.Errorf("%w: %s is used by %s, and %s has another schema: stop the pipeline first", ErrTableInUse, name, user, all[from].Name)
	}
	return t.tables.RenameTable(ctx, id, name)
}

// DropTable refuses a table that is used.
func (t usedTables) DropTable(ctx context.Context, id store.TableID) error {
	all, err := t.tables.Tables(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(table store.Table) bool { return table.ID == id })
	if i >= 0 {
		if user := t.plan.userOf(all[i].Name); user != "" {
			return fmt.Errorf("%w: %s is used by %s: stop the pipeline first", ErrTableInUse, all[i].Name, user)
		}
	}
	return t.tables.DropTable(ctx, id)
}

// userOf returns where the spec names a table, "" if it does not.
func (p *plan) userOf(table string) string {
	for _, n := range p.nodes {
		for _, m := range n.managers {
			if m.path == table {
				return m.at
			}
		}
		for i := range n.lookups {
			if n.lookups[i].path == table {
				return n.lookups[i].at
			}
		}
		for _, j := range n.joiners {
			if j.table.InStore() && j.table.Path() == table {
				return j.at
			}
		}
	}
	return ""
}
