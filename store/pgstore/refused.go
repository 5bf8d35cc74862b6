package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// refusing is the answer of a server that does not take a row as it is: one that
// breaks a constraint, or has a value that does not fit its column. Nil for other
// errors.
func refusing(err error) *pgconn.PgError {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && severity(pg) == "ERROR" && (strings.HasPrefix(pg.Code, "23") || strings.HasPrefix(pg.Code, "22") || pg.Code == "P0001") {
		return pg
	}
	return nil
}

// advice says what to do about a SQLSTATE, and what was broken.
func advice(pg *pgconn.PgError) (what, do string) {
	constraint := func(kind string) string { return fmt.Sprintf("%s %s", kind, pg.ConstraintName) }
	switch pg.Code {
	case "23505":
		return constraint("unique constraint"), "write other values, or remove the row that has these"
	case "23P01":
		return constraint("exclusion constraint"), "write other values, or remove the row that excludes these"
	case "23514":
		return constraint("check constraint"), "write what it allows, or change it"
	case "23502":
		return "not null of column " + pg.ColumnName, "write a value; if the schema does not name the column, give it a default in the database"
	case "23503":
		return constraint("foreign key"), "write the row that is referred to first, or remove those that refer to this one; ON DELETE does so by itself"
	case "P0001":
		return "a trigger", "write what it allows, or change it so that it does not keep rows from being written"
	}
	return "the type of a column", "write values that fit it, or change it"
}

// guilty finds the row that the server does not take: rows are written once more, one
// after the other, in a transaction that is undone.
func (s *Store) guilty(ctx context.Context, w *rowsToWrite, pg *pgconn.PgError) error {
	what, do := advice(pg)
	table, row := pg.TableName, ""
	if len(w.own) == 1 {
		table = w.own[0].relation.name
	}
	if of, key, found := s.probe(ctx, w); found != nil {
		pg, table, row = found, of.name, ", row "+of.keyTextOf(key)
		what, do = advice(pg)
		if keptAsBefore(pg) {
			what += guards(ctx, s.sql, s.pool, of)
		}
	}
	said := pg.Message
	if pg.Detail != "" {
		said += " (" + pg.Detail + ")"
	}
	return fmt.Errorf("table %s%s: %w by %s: %s: %s", table, row, store.ErrRefused, what, said, do)
}

// keptAsBefore tells that a trigger kept rows from being written without a word, which
// rows_are_written found out.
func keptAsBefore(pg *pgconn.PgError) bool {
	return pg.Code == "P0001" && strings.Contains(pg.Where, "rows_are_written")
}

// guards names the triggers that may keep rows of a table as they are.
func guards(ctx context.Context, sql *pgsql.Queries, db pgsql.DBTX, r *relation) string {
	names, err := sql.RelationGuards(ctx, db, &pgsql.RelationGuardsParams{Schema: r.at[0], Name: r.at[1]})
	if err != nil || len(names) == 0 {
		return "" // the table is told anyway
	}
	return fmt.Sprintf(" that returns null (%s)", strings.Join(names, " or "))
}

func (s *Store) probe(ctx context.Context, w *rowsToWrite) (of *relation, key string, pg *pgconn.PgError) {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return nil, "", nil
	}
	defer func() { _ = tx.Rollback(ctx) }() // the server does it too, once the connection is gone
	e := &epoch{}
	queue(ctx, e, "SET CONSTRAINTS ALL IMMEDIATE", nil)
	type place struct {
		relation *relation
		key      string
	}
	places := []place{{}}
	for _, own := range w.own {
		for i := range own.rows {
			one := ownRows{own.relation, own.rows[i : i+1]}
			if one.fill(ctx, e) != nil {
				return nil, "", nil
			}
			for len(places) < len(e.statements) {
				places = append(places, place{own.relation, own.rows[i].Key})
			}
		}
	}
	results := tx.SendBatch(ctx, e.batch())
	defer results.Close()
	for _, at := range places {
		if _, err := results.Exec(); err != nil {
			if at.relation == nil {
				return nil, "", nil
			}
			return at.relation, at.key, refusing(err)
		}
	}
	return nil, "", nil
}
