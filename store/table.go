package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// Tables keeps tables: rows of bytes under keys, in order of the keys. A key is
// encoded as those of states are (schema.AppendKey), so that its first column may
// be the hash that partitions are cut by; what the bytes of a row mean is told by
// the table's schema, which the store keeps and does not read. A table outlives
// the pipelines that use it.
//
// A table is made and found by its name and used by its id: one that was dropped
// and made anew has another id, and what was meant for the former one is
// ErrNoTable. Rows that an epoch writes come through Commit.Rows.
//
// Errors of calls that change something are as those of Committer.Commit: after
// ErrUnknownOutcome, read what is true.
type Tables interface {
	Rows
	// CreateTable makes a table, or does nothing if there is one with the same
	// schema, and returns its id; ErrConflict if it has another schema.
	CreateTable(ctx context.Context, name, schema string) (TableID, error)
	// Tables describes all tables, ordered by name, as they are at one moment.
	Tables(ctx context.Context) ([]Table, error)
	// RenameTable gives a table another name; if there was one of that name, it is
	// dropped in the same transaction. ErrNoTable: there is none to be renamed.
	RenameTable(ctx context.Context, id TableID, name string) error
	// DropTable removes a table with everything in it. ErrNoTable: there is none.
	DropTable(ctx context.Context, id TableID) error
}

// Rows reads and writes the rows of tables.
type Rows interface {
	// GetRows returns, for each key in the order given, the value of its row, which
	// is empty if there is none. Duplicate keys are allowed. ErrNoTable.
	GetRows(ctx context.Context, id TableID, keys []string) ([][]byte, error)
	// ListRows reads a range as ListStates does. A row is the only one of its key
	// and has no name; Computation and Names of the request do not matter. ErrNoTable.
	ListRows(ctx context.Context, id TableID, r ListRequest) (*ListAnswer, error)
	// WriteRows writes rows from outside a pipeline, all or none, durably, in order.
	// ErrNoTable and ErrConflict as for Commit.Rows.
	WriteRows(ctx context.Context, rows []TableWrite) error
}

// TableID identifies a table. Ids are never reused; 0 is none.
type TableID uint64

// Table describes a table. Schema is text of whoever made it. Relation names the
// table of a user's own in which its rows are (Adopter), empty for others.
type Table struct {
	Name     string
	ID       TableID
	Schema   string
	Relation string
}

// TableWrite sets a row, or deletes it when Value is empty. Whoever goes by what
// the row was sets Checked: if it is not Was by now, which is empty for no row,
// the whole transaction is ErrRowChanged. So two writers of a table never undo each
// other's work unawares. The store keeps neither Value nor Was.
type TableWrite struct {
	Table   TableID
	Key     string
	Value   []byte
	Checked bool
	Was     []byte
}

// Check compares what the row is with what it has to be. Stores call it for every
// row that is written.
func (w *TableWrite) Check(is []byte) error {
	if w.Checked && !bytes.Equal(is, w.Was) {
		return fmt.Errorf("row %x of table %d: %w", w.Key, w.Table, ErrRowChanged)
	}
	return nil
}

// ValidateTable checks the name of a table. Stores call it first.
func ValidateTable(name string) error { return checkName("table", name) }

// ValidateRows checks what can be said of rows without the tables: each is written
// once. All problems are reported. Stores call it for rows that come from outside;
// Commit.Validate, for those of an epoch.
func ValidateRows(rows []TableWrite) error {
	type place struct {
		table TableID
		key   string
	}
	var problems []error
	seen := make(map[place]bool, len(rows))
	for i := range rows {
		at := place{rows[i].Table, rows[i].Key}
		switch {
		case at.table == 0 || at.key == "":
			problems = append(problems, fmt.Errorf("written row %d has no table or no key", i))
		case seen[at]:
			problems = append(problems, fmt.Errorf("row %x of table %d is written twice", at.key, at.table))
		}
		seen[at] = true
	}
	return errors.Join(problems...)
}
