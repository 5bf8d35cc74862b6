package pgstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/store"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is a step of the schema's format. Applied is when it was made, zero if
// it was not yet.
type Migration struct {
	Version int
	Name    string
	Applied time.Time

	up, down string
}

// String is the name of its files.
func (m *Migration) String() string { return fmt.Sprintf("%04d_%s", m.Version, m.Name) }

func (m *Migration) sum() string {
	sum := sha256.Sum256([]byte(m.up))
	return hex.EncodeToString(sum[:])
}

// migrations returns the steps that this Rondo knows, from version 1 on.
func migrations() ([]Migration, error) {
	ups, err := fs.Glob(migrationFiles, "migrations/*.up.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(ups)
	all := make([]Migration, len(ups))
	for i, path := range ups {
		up, err := migrationFiles.ReadFile(path)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(path, ".up.sql")
		down, err := migrationFiles.ReadFile(base + ".down.sql")
		if err != nil {
			return nil, err
		}
		number, name, _ := strings.Cut(strings.TrimPrefix(base, "migrations/"), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s has not number %d", path, i+1)
		}
		all[i] = Migration{Version: version, Name: name, up: string(up), down: string(down)}
	}
	return all, nil
}

// The versions made so far. print is the fingerprint of the schema after the step.
const versionsTable = `CREATE TABLE IF NOT EXISTS migrations (
	version integer PRIMARY KEY, name text NOT NULL, sum text NOT NULL, print text NOT NULL, applied timestamptz NOT NULL DEFAULT now()
)`

// fingerprint comes to the same for schemas with the same columns, indexes and
// functions.
const fingerprint = `
	SELECT md5(coalesce(string_agg(part, E'\n' ORDER BY part COLLATE "C"), '')) FROM (
		SELECT 'column ' || table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable AS part
		FROM information_schema.columns WHERE table_schema = $1
		UNION ALL
		SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = $1
		UNION ALL
		SELECT 'function ' || proname || ' ' || md5(prosrc)
		FROM pg_proc f JOIN pg_namespace n ON n.oid = f.pronamespace WHERE n.nspname = $1
	) parts`

// applied is a row of the versions table.
type applied struct {
	version          int
	name, sum, print string
	at               time.Time
}

// migrator works on one connection.
type migrator struct {
	place *place
	conn  *pgx.Conn
	known []Migration
}

// withMigrator connects and lets do work.
func withMigrator(ctx context.Context, url string, o Options, do func(m *migrator) error) error {
	p, err := locate(url, o)
	if err != nil {
		return err
	}
	if err := migrate(ctx, p, do); err != nil {
		return fmt.Errorf("%s: %w", p, classify(err))
	}
	return nil
}

func migrate(ctx context.Context, p *place, do func(m *migrator) error) error {
	known, err := migrations()
	if err != nil {
		return &callersError{err}
	}
	conn, err := pgx.ConnectConfig(ctx, p.config.ConnConfig)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	if _, err := conn.Exec(ctx, "SELECT set_config('search_path', $1, false)", pgx.Identifier{p.schema}.Sanitize()); err != nil {
		return err
	}
	return do(&migrator{p, conn, known})
}

// MigrateUp makes the schema, if it is not there, and brings it to the version of
// this Rondo: each step in a transaction of its own, together with its version
// row. It returns the steps made. Whoever migrates at the same time waits.
func MigrateUp(ctx context.Context, url string, o Options) (made []Migration, err error) {
	err = withMigrator(ctx, url, o, func(m *migrator) error {
		for {
			step, err := m.up(ctx)
			if step == nil || err != nil {
				return err
			}
			made = append(made, *step)
		}
	})
	return made, err
}

// MigrateDown takes the last step back, with the data that it holds, and returns
// it; nil if there is none. The store must not be in use.
func MigrateDown(ctx context.Context, url string, o Options) (undone *Migration, err error) {
	err = withMigrator(ctx, url, o, func(m *migrator) error {
		held, err := hold(ctx, m.place, false)
		if err != nil {
			return err
		}
		defer held.release()
		undone, err = m.down(ctx)
		return err
	})
	return undone, err
}

// MigrationStatus returns the steps that this Rondo knows, and those of a newer one
// that were made, with when they were. An error that comes with them says what is
// wrong with those made: ErrNewerFormat, ErrCorrupt.
func MigrationStatus(ctx context.Context, url string, o Options) (all []Migration, err error) {
	err = withMigrator(ctx, url, o, func(m *migrator) error {
		made, err := m.applied(ctx, m.conn)
		if err != nil {
			return err
		}
		all = slices.Clone(m.known)
		for _, a := range made {
			if a.version > len(m.known) {
				all = append(all, Migration{Version: a.version, Name: a.name, Applied: a.at})
			} else if a.version > 0 {
				all[a.version-1].Applied = a.at
			}
		}
		return m.checkMade(made)
	})
	return all, err
}

// MigrationValidate makes sure that the schema is as this Rondo's steps have left
// it: all of them made, as they are now, and nothing changed since by hand.
func MigrationValidate(ctx context.Context, url string, o Options) error {
	return withMigrator(ctx, url, o, func(m *migrator) error {
		made, err := m.applied(ctx, m.conn)
		if err != nil {
			return err
		}
		if err := m.check(made); err != nil {
			return err
		}
		var print string
		err = m.conn.QueryRow(ctx, fingerprint, m.place.schema).Scan(&print)
		if err == nil && print != made[len(made)-1].print {
			err = fmt.Errorf("%w: the schema has been changed since %s: compare it with one that rondo migrate up makes in another schema; a table of yours that was made in it belongs elsewhere (ALTER TABLE … SET SCHEMA public)", store.ErrCorrupt, made[len(made)-1].name)
		}
		return err
	})
}

// checkFormat makes sure that this Rondo can use the schema.
func checkFormat(ctx context.Context, p *place) error {
	return migrate(ctx, p, func(m *migrator) error {
		made, err := m.applied(ctx, m.conn)
		if err != nil {
			return err
		}
		return m.check(made)
	})
}

// locked runs a step in a transaction, alone.
func (m *migrator) locked(ctx context.Context, do func(tx pgx.Tx, made []applied) error) error {
	return pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1, hashtext('migrate ' || $2))`, int32(lockSpace), m.place.schema); err != nil {
			return err
		}
		made, err := m.applied(ctx, tx)
		if err != nil {
			return err
		}
		return do(tx, made)
	})
}

func (m *migrator) up(ctx context.Context) (step *Migration, err error) {
	err = m.locked(ctx, func(tx pgx.Tx, made []applied) error {
		if err := m.checkMade(made); err != nil || len(made) == len(m.known) {
			return err
		}
		if len(made) == 0 {
			schema := "CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{m.place.schema}.Sanitize() + "; " + versionsTable
			if _, err := tx.Exec(ctx, schema, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		step = &m.known[len(made)]
		if _, err := tx.Exec(ctx, step.up, pgx.QueryExecModeSimpleProtocol); err != nil {
			return step.failed(err)
		}
		const record = `INSERT INTO migrations (version, name, sum, print) SELECT $2, $3, $4, (` + fingerprint + `) RETURNING applied`
		return tx.QueryRow(ctx, record, m.place.schema, step.Version, step.Name, step.sum()).Scan(&step.Applied)
	})
	return step, err
}

// failed explains a step up that the server does not take. One that makes what is there
// already was taken before, and its row is lost, or somebody has made tables here.
func (m *Migration) failed(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && slices.Contains([]string{"42P07", "42701", "42710", "42723"}, pg.Code) { // a table, column, object, function
		return &callersError{fmt.Errorf("step %s makes what is there already (%s): %s; if somebody else made it, rename it", m, pg.Message, lostRows)}
	}
	return fmt.Errorf("migration %s: %w", m, err)
}

// lostRows says what to do about rows of the table of migrations that are not there.
const lostRows = "if rows of table migrations were lost, put them back from a backup, or make a store in another schema, with rondo_schema=NAME in the URL"

func (m *migrator) down(ctx context.Context) (step *Migration, err error) {
	err = m.locked(ctx, func(tx pgx.Tx, made []applied) error {
		if err := m.checkMade(made); err != nil || len(made) == 0 {
			return err
		}
		step = &m.known[len(made)-1]
		if _, err := tx.Exec(ctx, step.down, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("migration %s: %w", step, err)
		}
		_, err := tx.Exec(ctx, `DELETE FROM migrations WHERE version = $1`, step.Version)
		return err
	})
	return step, err
}

// applied returns the steps made, in order; none where there is no schema. Tables
// without a single step are ErrCorrupt.
func (m *migrator) applied(ctx context.Context, db interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}) (made []applied, err error) {
	is := func(table string) (there bool, err error) {
		rows, err := db.Query(ctx, `SELECT to_regclass($1) IS NOT NULL`, pgx.Identifier{m.place.schema, table}.Sanitize())
		if err == nil {
			there, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
		}
		return there, err
	}
	recorded, err := is("migrations")
	if err != nil {
		return nil, err
	}
	if recorded {
		rows, err := db.Query(ctx, `SELECT version, name, sum, print, applied FROM migrations ORDER BY version`)
		if err != nil {
			return nil, err
		}
		if made, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a applied, err error) {
			err = row.Scan(&a.version, &a.name, &a.sum, &a.print, &a.at)
			return a, err
		}); err != nil || len(made) > 0 {
			return made, err
		}
	}
	if used, err := is("heads"); err != nil || used {
		return nil, cmp.Or(err, fmt.Errorf("%w: the schema has the tables of a store, and table migrations tells of no step that made them: %s", store.ErrCorrupt, lostRows))
	}
	return nil, nil
}

// checkMade makes sure that the steps made are known ones.
func (m *migrator) checkMade(made []applied) error {
	for i, a := range made {
		switch last := made[len(made)-1].version; {
		case last > len(m.known):
			return fmt.Errorf("%w: it has version %d, this Rondo knows %d: use the newer one", store.ErrNewerFormat, last, len(m.known))
		case a.version != i+1:
			return fmt.Errorf("%w: table migrations tells of step %d, %s, and not of step %d: %s", store.ErrCorrupt, a.version, a.name, i+1, lostRows)
		case a.name != m.known[i].Name || a.sum != m.known[i].sum():
			return fmt.Errorf("%w: step %d, %s, was not made as this Rondo makes it", store.ErrCorrupt, a.version, a.name)
		}
	}
	return nil
}

// check makes sure that all steps are made.
func (m *migrator) check(made []applied) error {
	if err := m.checkMade(made); err != nil {
		return err
	}
	switch n := len(made); {
	case n == 0:
		return &callersError{errors.New("there is no store yet: make it with rondo migrate up")}
	case n < len(m.known):
		return &callersError{fmt.Errorf("the store has version %d, this Rondo needs %d: stop what uses it and run rondo migrate up", n, len(m.known))}
	}
	return nil
}
