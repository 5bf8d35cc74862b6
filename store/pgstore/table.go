package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// CreateTable makes a table whose rows are in the store.
func (s *Store) CreateTable(ctx context.Context, name, schema string) (id store.TableID, err error) {
	if err := store.ValidateTable(name); err != nil {
		return 0, err
	}
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		id, err = s.insertTable(ctx, tx, &pgsql.InsertTableParams{Name: []byte(name), Schema: []byte(schema)})
		return err
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
			out = append(out, store.Table{Name: string(t.Name), ID: store.TableID(t.ID), Schema: string(t.Schema), Relation: strings.Join(t.Relation, ".")})
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
				if len(t.Relation) > 0 {
					return fmt.Errorf("%w: the rows of table %q are in %s, a table of yours, in whose place nothing is put", store.ErrConflict, t.Name, whereRows(t.Relation))
				}
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
	defer s.adopted.forget(id)
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

// rowsToWrite are rows of tables, told apart by where they are.
type rowsToWrite struct {
	stored []store.TableWrite
	own    []ownRows // in order of the tables
}

// ownRows are those of a user's table, in order of their keys.
type ownRows struct {
	relation *relation
	rows     []store.TableWrite
}

// sortRows finds out where rows are.
func (s *Store) sortRows(ctx context.Context, rows []store.TableWrite) (out rowsToWrite, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	ordered := slices.Clone(rows)
	slices.SortFunc(ordered, func(a, b store.TableWrite) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Key, b.Key))
	})
	for len(ordered) > 0 {
		id, n := ordered[0].Table, 1
		for n < len(ordered) && ordered[n].Table == id {
			n++
		}
		r, err := s.use(ctx, s.pool, id, true)
		switch {
		case err != nil:
			return out, classify(err)
		case r == nil:
			out.stored = append(out.stored, ordered[:n]...)
		default:
			out.own = append(out.own, ownRows{r, ordered[:n:n]})
		}
		ordered = ordered[n:]
	}
	return out, nil
}

// fillRows queues the statements that write rows, in order of tables and keys: first
// those of the store.
func (s *Store) fillRows(ctx context.Context, e *epoch, w *rowsToWrite) error {
	if rows := w.stored; len(rows) > 0 {
		_ = s.sql.WriteRows(ctx, e, &pgsql.WriteRowsParams{
			Tables: numbers(rows, func(w *store.TableWrite) int64 { return int64(w.Table) }),
			Keys:   texts(rows, func(w *store.TableWrite) string { return w.Key }),
			Vals:   valuesOf(rows, func(w *store.TableWrite) []byte { return some(w.Value) }),
			Checks: numbers(rows, func(w *store.TableWrite) bool { return w.Checked }),
			Were:   valuesOf(rows, func(w *store.TableWrite) []byte { return some(w.Was) }),
		})
	}
	if len(w.own) == 0 {
		return nil
	}
	_ = s.sql.HoldTables(ctx, e, numbers(w.own, func(o *ownRows) int64 { return o.relation.id }))
	for i := range w.own {
		if err := w.own[i].fill(ctx, e); err != nil {
			return err
		}
	}
	return nil
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
	w, err := s.sortRows(ctx, rows)
	if err != nil {
		return err
	}
	e := &epoch{}
	if err := s.fillRows(ctx, e, &w); err != nil {
		return err
	}
	return s.explain(ctx, &w, s.send(ctx, e))
}

// GetRows asks for all keys at once.
func (s *Store) GetRows(ctx context.Context, id store.TableID, keys []string) ([][]byte, error) {
	found := make(map[string][]byte, len(keys))
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		r, err := s.use(ctx, db, id, false)
		if err != nil {
			return err
		}
		if r != nil {
			found, err = s.getOwn(ctx, db, r, onceEach(keys))
			return s.altered(ctx, db, id, false, err)
		}
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
		own, err := s.use(ctx, db, id, false)
		if err != nil {
			return err
		}
		if own != nil {
			return s.listOwn(ctx, db, &l, own)
		}
		pager := rowsPager{store: s, db: db, id: int64(id), keysOnly: r.KeysOnly}
		err = l.pages(func(p *pgsql.StatesPageParams) ([]pgsql.StatesPageRow, error) { return pager.page(ctx, p) })
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
	store    *Store
	db       pgsql.DBTX
	id       int64
	keysOnly bool
	beyond   bool
}

func (r *rowsPager) page(ctx context.Context, p *pgsql.StatesPageParams) (out []pgsql.StatesPageRow, err error) {
	from := slices.Clone(p.AfterKey)
	if r.beyond {
		from = append(from, 0)
	}
	r.beyond = true
	sql := r.store.sql
	if len(p.Upper) == 0 {
		rows, err := sql.RowsPageOpen(ctx, r.db, &pgsql.RowsPageOpenParams{KeysOnly: r.keysOnly, ID: r.id, FromKey: from, MaxRows: p.MaxRows, MaxBytes: p.MaxBytes})
		for _, row := range rows {
			out = append(out, pgsql.StatesPageRow{Key: row.Key, Value: row.Value})
		}
		return out, err
	}
	rows, err := sql.RowsPage(ctx, r.db, &pgsql.RowsPageParams{KeysOnly: r.keysOnly, ID: r.id, FromKey: from, Upper: p.Upper, MaxRows: p.MaxRows, MaxBytes: p.MaxBytes})
	for _, row := range rows {
		out = append(out, pgsql.StatesPageRow{Key: row.Key, Value: row.Value})
	}
	return out, err
}
