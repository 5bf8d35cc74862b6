package external

import (
	"context"
	"fmt"
	"io"

	"github.com/rondo-flow/rondo/schema"
)

// content is what a table's format makes of its file. It is safe for concurrent
// use once it is opened.
type content interface {
	// schema is that of the rows.
	schema() *schema.Schema
	// seek returns a cursor whose first row lies before the encoded bound lower, or
	// is the first of the table; "" stands for the start. As few rows before lower
	// as the format knows of come along.
	seek(lower string) (cursor, error)
	// skippable tells whether a new cursor would begin behind a row by its number.
	skippable(row int64, lower string) bool
}

// cursor reads rows forward.
type cursor interface {
	// next returns the next row, which is the caller's, and io.EOF behind the last. An
	// error that names its place comes with it.
	next(ctx context.Context) (schema.Row, place, error)
	close() error
}

// Entry is a row of a table with its key.
type Entry struct {
	// Key is the encoded key.
	Key string
	// Row has the columns of Columns, those of the version it was read from.
	Row     schema.Row
	Columns *schema.Schema
	// Bytes is the size of the row.
	Bytes int
}

// walk reads entries forward and checks each of them: its types, its key, its
// place in the order.
type walk struct {
	cursor cursor
	keyed  *keyed
	order  order
	lower  string // until the first row has proved that the cursor began before it
	at     place
}

func newWalk(c content, k *keyed, lower string) (*walk, error) {
	cursor, err := c.seek(lower)
	if err != nil {
		return nil, err
	}
	return &walk{cursor: cursor, keyed: k, lower: lower}, nil
}

// next returns the next entry, io.EOF behind the last.
func (w *walk) next(ctx context.Context) (*Entry, error) {
	row, at, err := w.cursor.next(ctx)
	if err != nil {
		if err == io.EOF {
			return nil, err
		}
		if w.at.row > 0 && at.row == 0 { // it does not say where
			err = fmt.Errorf("behind row %d: %w", w.at.row, err)
		}
		return nil, err
	}
	if err := w.keyed.table.Check(row); err != nil {
		return nil, malformedf("%s: %w", at, err)
	}
	key, err := w.keyed.key(row)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if w.lower != "" && at.row > 1 && key >= w.lower {
		return nil, malformedf("%s has the key %s, and what says where keys lie puts it before %s: write the table anew with rondo table sort", at, showKey(key), showKey(w.lower))
	}
	w.lower, w.at = "", at
	if err := w.order.next(key, at); err != nil {
		return nil, err
	}
	return &Entry{Key: key, Row: row, Columns: w.keyed.table, Bytes: len(key) + sizeOf(row)}, nil
}

// sizeOf estimates the bytes that a row takes.
func sizeOf(row schema.Row) int {
	n := 0
	for _, v := range row {
		n += 8 + len(v.AsString())
	}
	return n
}
