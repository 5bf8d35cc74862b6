package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

type modelTable struct {
	name, schema string
	rows         map[string][]byte
}

func (t *modelTable) clone() *modelTable {
	return &modelTable{t.name, t.schema, maps.Clone(t.rows)}
}

func (d *modelData) table(id store.TableID) (*modelTable, error) {
	if t := d.tables[id]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%w: number %d", store.ErrNoTable, id)
}

func (d *modelData) tableNamed(name string) (store.TableID, *modelTable) {
	for id, t := range d.tables {
		if t.name == name {
			return id, t
		}
	}
	return 0, nil
}

// CreateTable numbers the table.
func (m *Model) CreateTable(ctx context.Context, name, schema string) (id store.TableID, err error) {
	if err := store.ValidateTable(name); err != nil {
		return 0, err
	}
	err = m.do(ctx, func(d *modelData) error {
		var t *modelTable
		if id, t = d.tableNamed(name); t == nil {
			d.lastTable++
			id = d.lastTable
			d.tables[id] = &modelTable{name, schema, map[string][]byte{}}
		} else if t.schema != schema {
			id = 0
			return fmt.Errorf("table %q has another schema: %w", name, store.ErrConflict)
		}
		return nil
	})
	return id, err
}

// Tables describes all tables.
func (m *Model) Tables(ctx context.Context) (out []store.Table, err error) {
	err = m.do(ctx, func(d *modelData) error {
		for id, t := range d.tables {
			out = append(out, store.Table{Name: t.name, ID: id, Schema: t.schema})
		}
		slices.SortFunc(out, func(a, b store.Table) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
	return out, err
}

// RenameTable drops the one that has the name.
func (m *Model) RenameTable(ctx context.Context, id store.TableID, name string) error {
	if err := store.ValidateTable(name); err != nil {
		return err
	}
	return m.do(ctx, func(d *modelData) error {
		t, err := d.table(id)
		if err != nil || t.name == name {
			return err
		}
		former, _ := d.tableNamed(name)
		delete(d.tables, former)
		t.name = name
		return nil
	})
}

// DropTable forgets the table.
func (m *Model) DropTable(ctx context.Context, id store.TableID) error {
	return m.do(ctx, func(d *modelData) error {
		_, err := d.table(id)
		delete(d.tables, id)
		return err
	})
}

// GetRows looks every key up.
func (m *Model) GetRows(ctx context.Context, id store.TableID, keys []string) (out [][]byte, err error) {
	err = m.do(ctx, func(d *modelData) error {
		t, err := d.table(id)
		if err != nil {
			return err
		}
		for _, key := range keys {
			out = append(out, t.rows[key])
		}
		return nil
	})
	return out, err
}

// ListRows walks over all rows of the range.
func (m *Model) ListRows(ctx context.Context, id store.TableID, r store.ListRequest) (a *store.ListAnswer, err error) {
	err = m.do(ctx, func(d *modelData) error {
		t, err := d.table(id)
		if err != nil {
			return err
		}
		var rows []modelRow
		for _, key := range slices.Sorted(maps.Keys(t.rows)) {
			if key >= r.Lower && (r.Upper == "" || key < r.Upper) {
				row := modelRow{key: key}
				if !r.KeysOnly {
					row.Value = t.rows[key]
				}
				rows = append(rows, row)
			}
		}
		r.Names = nil
		a = list(rows, r)
		return nil
	})
	return a, err
}

// WriteRows checks everything, then writes everything.
func (m *Model) WriteRows(ctx context.Context, rows []store.TableWrite) error {
	if err := store.ValidateRows(rows); err != nil {
		return err
	}
	return m.do(ctx, func(d *modelData) error {
		err := d.checkRows(rows)
		if err == nil {
			d.writeRows(rows)
		}
		return err
	})
}

func (d *modelData) checkRows(rows []store.TableWrite) error {
	for i := range rows {
		if _, err := d.table(rows[i].Table); err != nil {
			return err
		}
	}
	for i := range rows {
		if err := rows[i].Check(d.tables[rows[i].Table].rows[rows[i].Key]); err != nil {
			return err
		}
	}
	return nil
}

func (d *modelData) writeRows(rows []store.TableWrite) {
	for i := range rows {
		put(d.tables[rows[i].Table].rows, rows[i].Key, rows[i].Value)
	}
}
