package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/store"
)

// The SQLSTATEs that Rondo's own functions raise.
const (
	stateFenced   = "RO001"
	stateConflict = "RO002"
	stateNoQueue  = "RO003"
	stateDefect   = "RO004"
	stateNoTable  = "RO005"
)

// classify gives an error the class that its SQLSTATE stands for; one that is not
// PostgreSQL's means that the server cannot be reached. It is for calls that
// changed nothing, or may be made again; see classifyChange.
func classify(err error) error {
	var pg *pgconn.PgError
	var own *callersError
	switch {
	case err == nil || hasClass(err):
		return err
	case errors.As(err, &own):
		return own.error
	case errors.As(err, &pg):
		return classifyState(pg)
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, withoutSecrets(err))
}

// classifyState sorts SQLSTATEs. Those that are not named come from a statement
// that asks for what cannot be, like a key that no index can hold: they have no
// class, and nothing was changed.
func classifyState(pg *pgconn.PgError) error {
	class := func(c error) error { return fmt.Errorf("%w: PostgreSQL says: %w", c, pg) }
	switch pg.Code {
	case stateFenced:
		return fmt.Errorf("%w: %s", store.ErrFenced, pg.Message)
	case stateConflict:
		if strings.Contains(pg.Where, "write_rows(") || strings.Contains(pg.Where, "rows_are_as_read(") {
			return fmt.Errorf("%w: %s", store.ErrRowChanged, pg.Message)
		}
		return fmt.Errorf("%w: %s", store.ErrConflict, pg.Message)
	case stateNoQueue:
		return fmt.Errorf("%w: %s", store.ErrNoQueue, pg.Message)
	case stateNoTable:
		return fmt.Errorf("%w: %s", store.ErrNoTable, pg.Message)
	case stateDefect:
		return errors.New(pg.Message)
	case "42P01", "42703", "42883", "3F000": // a table, column, function or schema that is not there
		return fmt.Errorf("%w: the schema is not as rondo migrate up left it: %w", store.ErrCorrupt, pg)
	case "23505": // a row that is there already
		return fmt.Errorf("the epoch writes a row that is there already: %w", pg)
	case "42501": // no right to do this
		return noEntry{class(store.ErrUnavailable)}
	case "40001", "40P01", // serialization failure, deadlock: undone, and may be repeated
		"55P03", "57014", "25P03": // a lock, statement or transaction took too long
		return class(store.ErrUnavailable)
	}
	switch pg.Code[:min(2, len(pg.Code))] {
	case "XX": // internal errors, damaged data among them
		if pg.Code == "XX000" && severity(pg) != "ERROR" {
			return class(store.ErrUnavailable) // it ends the session, such as one that finds no room for a file
		}
		return class(store.ErrCorrupt)
	case "28", "3D": // not let in, no such database
		return noEntry{class(store.ErrUnavailable)}
	case "08", "53", "57", "58", // connection, resources, operator, system
		"25": // a read-only server, as one that follows another
		return class(store.ErrUnavailable)
	}
	return fmt.Errorf("PostgreSQL refuses it: %w", pg)
}

// noEntry is an error of class unavailable that only somebody who gives rights, or
// another URL, can end.
type noEntry struct{ error }

func (e noEntry) Unwrap() error { return e.error }

// classifyChange is classify for a transaction that was on its way. Only an answer
// that says that it was undone is believed: a connection that breaks, and a server
// that goes, may have committed before (D-3).
func classifyChange(err error) error {
	var pg *pgconn.PgError
	switch {
	case err == nil || hasClass(err):
		return err
	case errors.As(err, &pg) && severity(pg) == "ERROR":
		return classifyState(pg)
	case pgconn.SafeToRetry(err): // nothing was sent
		return classify(err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnknownOutcome, withoutSecrets(err))
}

// severity is how grave an error is, in a form that does not depend on the language
// in which the server speaks.
func severity(pg *pgconn.PgError) string { return cmp.Or(pg.SeverityUnlocalized, pg.Severity) }

// inTheWay tells that the server undid a transaction because of others, and that it
// may go well the next time: a serialization failure or a deadlock.
func inTheWay(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && severity(pg) == "ERROR" && (pg.Code == "40001" || pg.Code == "40P01")
}

// callersError is an error that is none of the server's, and is returned as it is.
type callersError struct{ error }

func hasClass(err error) bool {
	for _, class := range []error{
		store.ErrUnavailable, store.ErrUnknownOutcome, store.ErrFenced, store.ErrConflict,
		store.ErrNoQueue, store.ErrNoTable, store.ErrRefused, store.ErrCorrupt, store.ErrLocked, store.ErrNewerFormat,
	} {
		if errors.Is(err, class) {
			return true
		}
	}
	return false
}

// withoutSecrets keeps what a connection error says and drops the URL that it was
// made from, which may hold a password.
func withoutSecrets(err error) error {
	var parse *pgconn.ParseConfigError
	if errors.As(err, &parse) {
		text := err.Error()
		if i := strings.LastIndex(text, "`: "); i >= 0 {
			text = text[i+len("`: "):]
		}
		return fmt.Errorf("the URL of the store cannot be read: %s", text)
	}
	return err
}

// ended tells a context that has ended before anything was sent.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return nil
}
