package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

var _ store.Adopter = (*Store)(nil)

// adopted remembers which tables are users' own, and what those look like. What a
// table is never changes, and ids are never used again.
type adopted struct {
	lock  sync.Mutex
	known map[store.TableID]*relation // nil for one that is none of a user
}

func (a *adopted) get(id store.TableID) (r *relation, known bool) {
	a.lock.Lock()
	defer a.lock.Unlock()
	r, known = a.known[id]
	return r, known
}

// keep remembers a table. There are as many as the store has; those that were
// dropped are forgotten when there is another one.
func (a *adopted) keep(id store.TableID, r *relation) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.known == nil || len(a.known) >= 10_000 {
		a.known = map[store.TableID]*relation{}
	}
	a.known[id] = r
}

func (a *adopted) forget(id store.TableID) {
	a.lock.Lock()
	defer a.lock.Unlock()
	delete(a.known, id)
}

// relationName are the schema and the table that a name stands for.
func (s *Store) relationName(ctx context.Context, db pgsql.DBTX, name string) ([]string, error) {
	parts, err := s.sql.ParseName(ctx, db, name)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == "22023" {
		return nil, &callersError{fmt.Errorf("%q is no name of a table: it looks like public.accounts, or \"My Schema\".\"Accounts\"", name)}
	}
	if err != nil {
		return nil, err
	}
	if len(parts) == 1 {
		parts = []string{"public", parts[0]}
	}
	switch {
	case len(parts) != 2:
		return nil, &callersError{fmt.Errorf("%q is no name of a table in this database: it has a schema and a name, such as public.accounts", name)}
	case parts[0] == s.place.schema:
		return nil, &callersError{fmt.Errorf("table %s lies in the schema of the store itself: move it into another one", strings.Join(parts, "."))}
	}
	return parts, nil
}

// AdoptTable makes a table that stands for a user's own. What is missing to use it
// is told by CheckTable, since a hash column is filled only when it has a name here.
func (s *Store) AdoptTable(ctx context.Context, name, text, relation string) (id store.TableID, err error) {
	if err := store.ValidateTable(name); err != nil {
		return 0, err
	}
	form, err := schema.ParseTable(text)
	if err != nil {
		return 0, fmt.Errorf("schema: %w", err)
	}
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		parts, err := s.relationName(ctx, tx, relation)
		if err != nil {
			return err
		}
		f := finder{sql: s.sql, db: tx, name: parts, form: form}
		if _, err := f.find(ctx); err != nil {
			return err
		}
		id, err = s.insertTable(ctx, tx, &pgsql.InsertTableParams{Name: []byte(name), Schema: []byte(text), Relation: parts})
		return err
	})
	if err != nil {
		return 0, err
	}
	return id, nil
}

// insertTable numbers a table, or finds the one that is there already. The counter
// is held until the transaction ends, so that nobody makes one of the name meanwhile.
func (s *Store) insertTable(ctx context.Context, tx pgx.Tx, t *pgsql.InsertTableParams) (store.TableID, error) {
	if _, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterTable, N: 0}); err != nil {
		return 0, err
	}
	all, err := s.sql.Tables(ctx, tx)
	if err != nil {
		return 0, err
	}
	for i := range all {
		is := &all[i]
		sameRelation := slices.Equal(is.Relation, t.Relation)
		switch named := string(is.Name) == string(t.Name); {
		case named && string(is.Schema) != string(t.Schema):
			return 0, fmt.Errorf("table %q has another schema: %w", t.Name, store.ErrConflict)
		case named && !sameRelation:
			return 0, fmt.Errorf("table %q is there, and its rows are elsewhere, in %s: %w", t.Name, whereRows(is.Relation), store.ErrConflict)
		case named:
			return store.TableID(is.ID), nil
		case sameRelation && len(t.Relation) > 0:
			return 0, fmt.Errorf("the rows of table %q are in %s already: %w", is.Name, whereRows(is.Relation), store.ErrConflict)
		}
	}
	if t.ID, err = s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterTable, N: 1}); err != nil {
		return 0, err
	}
	return store.TableID(t.ID), s.sql.InsertTable(ctx, tx, t)
}

func whereRows(relation []string) string {
	if len(relation) == 0 {
		return "the store"
	}
	return strings.Join(relation, ".")
}

// CheckTable looks at a table anew.
func (s *Store) CheckTable(ctx context.Context, id store.TableID, writes bool) (doubts []string, err error) {
	s.adopted.forget(id)
	err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		r, err := s.relation(ctx, db, id)
		if err != nil {
			return err
		}
		if r != nil {
			if writes {
				doubts = r.doubts()
			}
			return r.may(writes)
		}
		there, err := s.sql.TableExists(ctx, db, int64(id))
		if err == nil && !there {
			err = noTable(id)
		}
		return err
	})
	return doubts, err
}

// relation is what a table of a user's looks like, nil for one that is none, or not
// there at all, which the statements that use it tell.
func (s *Store) relation(ctx context.Context, db pgsql.DBTX, id store.TableID) (*relation, error) {
	if r, known := s.adopted.get(id); known {
		return r, nil
	}
	t, err := s.sql.TableByID(ctx, db, int64(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(t.Relation) == 0 {
		s.adopted.keep(id, nil)
		return nil, nil
	}
	r, err := findRelation(ctx, s.sql, db, &t)
	if err == nil {
		s.adopted.keep(id, r)
	}
	return r, err
}

func findRelation(ctx context.Context, sql *pgsql.Queries, db pgsql.DBTX, t *pgsql.Table) (*relation, error) {
	form, err := schema.ParseTable(string(t.Schema))
	if err != nil {
		return nil, fmt.Errorf("%w: the schema of table %q cannot be read: %w", store.ErrCorrupt, t.Name, err)
	}
	f := finder{sql: sql, db: db, name: t.Relation, form: form}
	r, err := f.find(ctx)
	if r != nil {
		r.id = t.ID
	}
	return r, err
}

// use finds a user's table for reads or writes, nil if it is none.
func (s *Store) use(ctx context.Context, db pgsql.DBTX, id store.TableID, writes bool) (*relation, error) {
	r, err := s.relation(ctx, db, id)
	if err != nil || r == nil {
		return nil, err
	}
	if err := r.may(writes); err != nil {
		s.adopted.forget(id) // it may be mended
		return nil, &callersError{err}
	}
	return r, nil
}

// altered looks at a table anew, after a statement failed as those of one that was
// changed or dropped do, and tells what is wrong with it now. If nothing is, the
// statement may be tried again.
func (s *Store) altered(ctx context.Context, db pgsql.DBTX, id store.TableID, writes bool, err error) error {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.Code[:min(2, len(pg.Code))] != "42" && pg.Code != "3F000" && pg.Code != "0A000" {
		return err
	}
	s.adopted.forget(id)
	if _, now := s.use(ctx, db, id, writes); now != nil {
		return now
	}
	s.pool.Reset() // a session keeps the plans of triggers, which may not fit any more
	return fmt.Errorf("%w: a table was altered meanwhile: %w", store.ErrUnavailable, pg)
}
