package store

import (
	"context"
	"errors"
)

// Adopter is a store that lies in a database in which users have tables of their
// own. One that was adopted is a table like others from then on: it has a name, an
// id and a schema, whose columns are those of the user's table that have the same
// names; it may have more, which nobody here reads or writes. A row is found by its
// key, and what is read and written are bytes as schema.Table makes them.
//
// Its owner goes on using it. Reads see what is committed at that moment. A
// TableWrite that is Checked compares all columns of the schema with Was under a
// lock on the row, so that what others have written is never written over unawares
// (KV-22).
type Adopter interface {
	// AdoptTable gives a user's table a name and a schema, or does nothing if it has
	// both already, and returns its id. ErrConflict: the name, or the table, is taken.
	// ErrNoTable: the database has no such table. ErrRefused: it does not fit.
	AdoptTable(ctx context.Context, name, schema, relation string) (TableID, error)
	// CheckTable looks at a table anew and makes sure that its rows can be read, and
	// written if writes says so; one that is not a user's need only be there. The
	// errors are those of AdoptTable; doubts are about what may keep some rows from being
	// written, and need not.
	CheckTable(ctx context.Context, id TableID, writes bool) (doubts []string, err error)
}

// ErrRefused: a table of a user does not fit its schema, does not have what is
// needed, or has a constraint that rows would break. Nothing was changed, and
// nothing else heals it than a change of the table, of its rows or of what is
// written.
var ErrRefused = errors.New("refused by a table of the database")
