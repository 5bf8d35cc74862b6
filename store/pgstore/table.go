package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// CreateTable numbers the table. The counter is held until the transaction ends, so
// that nobody makes one of the name meanwhile.
func (s *Store) CreateTable(ctx context.Context, name, schema string) (id store.TableID, err error) {
	if err := store.ValidateTable(name); err != nil {
		return 0, err
	}
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterTable, N: 0}); err != nil {
			return err
		}
		t, err := s.sql.TableNamed(ctx, tx, []byte(name))
		switch {
		case err == nil && string(t.Schema) != schema:
			return fmt.Errorf("table %q has another schema: %w", name, store.ErrConflict)
		case err == nil || !errors.Is(err, pgx.ErrNoRows):
			id = store.TableID(t.ID)
			return err
		}
		n, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterTable, N: 1})
		if err != nil {
			return err
		}
		id = store.TableID(n)
		return s.sql.InsertTable(ctx, tx, &pgsql.InsertTableParams{ID: n, Name: []byte(name), Schema: []byte(schema)})
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// Tables reads the tables as of one moment.
func (s *Store) Tables(ctx context.Context) (out []store.Table, err error) {
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		rows, err := s.sql.Tables(ctx, db)
		for _, t := range rows {
			out = append(out, store.Table{Name: string(t.Name), ID: store.TableID(t.ID), Schema: string(t.Schema)})
		}
		return err
	})
	return out, err
}

// RenameTable waits for the transactions that write to either table. The counter is
// held as by CreateTable.
func (s *Store) RenameTable(ctx context.Context, id store.TableID, name string) error {
	if err := store.ValidateTable(name); err != nil {
		return err
	}
	defer s.cleaner.drops()
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterTable, N: 0}); err != nil {
			return err
		}
		locked, err := s.sql.LockTables(ctx, tx, &pgsql.LockTablesParams{ID: int64(id), Name: []byte(name)})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(locked, func(t pgsql.Table) bool { return t.ID == int64(id) }) {
			return noTable(id)
		}
		for _, t := range locked {
			if t.ID != int64(id) {
				if err := s.sql.DeleteTable(ctx, tx, t.ID); err != nil {
					return err
				}
			}
		}
		return s.sql.RenameTable(ctx, tx, &pgsql.RenameTableParams{ID: int64(id), Name: []byte(name)})
	})
}

// DropTable waits for the transactions that write to it, and lets none begin. The
// rows, which nobody reads any more, go later.
func (s *Store) DropTable(ctx context.Context, id store.TableID) error {
	defer s.cleaner.drops()
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		locked, err := s.sql.LockTables(ctx, tx, &pgsql.LockTablesParams{ID: int64(id), Name: []byte{}})
		if err == nil && len(locked) == 0 {
			err = noTable(id)
		}
		if err != nil {
			return err
		}
		return s.sql.DeleteTable(ctx, tx, int64(id))
	})
}

func noTable(id store.TableID) error { return fmt.Errorf("%w: number %d", store.ErrNoTable, id) }

// fillRows queues the statement that writes rows, in order of their keys.
func (s *Store) fillRows(ctx context.Context, e *epoch, rows []store.TableWrite) {
	if len(rows) == 0 {
		return
	}
	ordered := slices.Clone(rows)
	slices.SortFunc(ordered, func(a, b store.TableWrite) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key))
	})
	_ = s.sql.WriteRows(ctx, e, &pgsql.WriteRowsParams{
		Tables: numbers(ordered, func(w *store.TableWrite) int64 { return int64(w.Table) }),
		Keys:   texts(ordered, func(w *store.TableWrite) string { return w.Key }),
		Vals:   valuesOf(ordered, func(w *store.TableWrite) []byte { return some(w.Value) }),
		Checks: numbers(ordered, func(w *store.TableWrite) bool { return w.Checked }),
		Were:   valuesOf(ordered, func(w *store.TableWrite) []byte { return some(w.Was) }),
	})
}

// WriteRows writes in a transaction of its own.
func (s *Store) WriteRows(ctx context.Context, rows []store.TableWrite) error {
	if err := store.ValidateRows(rows); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if len(rows) == 0 {
		return nil
	}
	e := &epoch{}
	s.fillRows(ctx, e, rows)
	return s.send(ctx, e)
}

// GetRows asks for all keys at once.
func (s *Store) GetRows(ctx context.Context, id store.TableID, keys []string) ([][]byte, error) {
	found := make(map[string][]byte, len(keys))
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		rows, err := s.sql.TableRows(ctx, db, &pgsql.TableRowsParams{ID: int64(id), Keys: onceEach(keys)})
		for _, r := range rows {
			found[string(r.Key)] = r.Value
		}
		if _, there := found[""]; err == nil && !there {
			err = noTable(id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, key := range keys {
		out[i] = found[key]
	}
	return out, nil
}

// ListRows reads a range page by page, as ListStates. The rows of a table go after it:
// if it is there in the end, no page lacked any.
func (s *Store) ListRows(ctx context.Context, id store.TableID, r store.ListRequest) (*store.ListAnswer, error) {
	r.Names = nil
	l := lister{request: r, answer: &store.ListAnswer{}}
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		pager := rowsPager{store: s, db: db, id: int64(id)}
		err := l.pages(func(p *pgsql.StatesPageParams) ([]pgsql.StatesPageRow, error) { return pager.page(ctx, p) })
		if err != nil {
			return err
		}
		there, err := s.sql.TableExists(ctx, db, int64(id))
		if err == nil && !there {
			err = noTable(id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return l.answer, nil
}

// rowsPager reads pages of a table. The first one begins at its key, others beyond.
type rowsPager struct {
	store  *Store
	db     pgsql.DBTX
	id     int64
	beyond bool
}

func (r *rowsPager) page(ctx context.Context, p *pgsql.StatesPageParams) (out []pgsql.StatesPageRow, err error) {
	from := slices.Clone(p.AfterKey)
	if r.beyond {
		from = append(from, 0)
	}
	r.beyond = true
	sql := r.store.sql
	if len(p.Upper) == 0 {
		rows, err := sql.RowsPageOpen(ctx, r.db, &pgsql.RowsPageOpenParams{ID: r.id, FromKey: from, MaxRows: p.MaxRows, MaxBytes: p.MaxBytes})
		for _, row := range rows {
			out = append(out, pgsql.StatesPageRow{Key: row.Key, Value: row.Value})
		}
		return out, err
	}
	rows, err := sql.RowsPage(ctx, r.db, &pgsql.RowsPageParams{ID: r.id, FromKey: from, Upper: p.Upper, MaxRows: p.MaxRows, MaxBytes: p.MaxBytes})
	for _, row := range rows {
		out = append(out, pgsql.StatesPageRow{Key: row.Key, Value: row.Value})
	}
	return out, err
}
