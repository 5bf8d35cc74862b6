package pgstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// ownWrite is a row to be written, read by columns. Was and is are nil for no row.
type ownWrite struct {
	key, was, is schema.Row
	checked      bool
}

// fill queues the statements: rows are locked in order of their keys and compared
// with what they were (KV-22). Those that nobody else can change any more are then
// removed and changed; one that has to be absent is a conflict if it comes
// meanwhile.
func (o *ownRows) fill(ctx context.Context, e *epoch) error {
	r := o.relation
	writes, err := o.decode()
	if err != nil {
		return err
	}
	locks := append([]any{r.name, flagsOf(writes, func(w *ownWrite) bool { return w.checked }), flagsOf(writes, func(w *ownWrite) bool { return w.was != nil })},
		r.keyArrays(rowsOf(writes, func(w *ownWrite) schema.Row { return w.key }))...)
	queue(ctx, e, r.sql.lock, append(locks, r.columnArrays(rowsOf(writes, func(w *ownWrite) schema.Row { return w.was }))...))

	gone, rest := split(writes, func(w *ownWrite) bool { return w.is == nil })
	put, rest := split(rest, func(w *ownWrite) bool { return !w.checked })
	change, add := split(rest, func(w *ownWrite) bool { return w.was != nil })
	keys := func(some []ownWrite) []any {
		return r.keyArrays(rowsOf(some, func(w *ownWrite) schema.Row { return w.key }))
	}
	news := func(some []ownWrite) []any {
		return r.columnArrays(rowsOf(some, func(w *ownWrite) schema.Row { return w.is }))
	}
	if len(gone) > 0 {
		queue(ctx, e, r.sql.remove, append([]any{r.name}, keys(gone)...))
	}
	if len(change) > 0 && r.sql.change != "" {
		queue(ctx, e, r.sql.change, append(append([]any{r.name}, keys(change)...), news(change)...))
	}
	if len(add) > 0 {
		queue(ctx, e, r.sql.add, append([]any{r.name, int64(len(add))}, news(add)...))
	}
	if len(put) > 0 {
		queue(ctx, e, r.sql.put, append([]any{r.name, int64(len(put))}, news(put)...))
	}
	return nil
}

func queue(ctx context.Context, e *epoch, sql string, args []any) { _, _ = e.Exec(ctx, sql, args...) }

// decode reads what was given as bytes.
func (o *ownRows) decode() ([]ownWrite, error) {
	out := make([]ownWrite, len(o.rows))
	for i := range o.rows {
		w := &o.rows[i]
		read := func(value []byte) (row schema.Row, err error) {
			if len(value) > 0 {
				row, err = o.relation.form.Decode(w.Key, value)
			}
			return row, err
		}
		key, err := schema.DecodeKey(w.Key)
		if err == nil && len(key) != o.relation.form.Key().Len() {
			err = fmt.Errorf("it has %d columns, and the key of the table has %d", len(key), o.relation.form.Key().Len())
		}
		is, err1 := read(w.Value)
		was, err2 := read(w.Was)
		for _, err := range []error{err, err1, err2} {
			if err != nil {
				return nil, fmt.Errorf("table %s: the row %x is none of its schema: %w", o.relation.name, w.Key, err)
			}
		}
		if !w.Checked {
			was = nil
		}
		out[i] = ownWrite{key: key, was: was, is: is, checked: w.Checked}
	}
	return out, nil
}

func rowsOf(writes []ownWrite, of func(*ownWrite) schema.Row) []schema.Row {
	out := make([]schema.Row, len(writes))
	for i := range writes {
		out[i] = of(&writes[i])
	}
	return out
}

func flagsOf(writes []ownWrite, of func(*ownWrite) bool) []bool { return numbers(writes, of) }

func (r *relation) columnArrays(rows []schema.Row) []any {
	out := make([]any, len(r.columns))
	for i := range r.columns {
		out[i] = r.columnArray(i, rows)
	}
	return out
}

// explain finds out what an error is about that a transaction with rows of users'
// tables ended with.
func (s *Store) explain(ctx context.Context, w *rowsToWrite, err error) error {
	if err == nil || len(w.own) == 0 {
		return err
	}
	ctx, cancel := s.settling(ctx)
	defer cancel()
	if notNow(err) {
		var names []string
		for i := range w.own {
			names = append(names, w.own[i].relation.name)
		}
		return fmt.Errorf("table %s: a row is locked by somebody else, or the table (pg_stat_activity and pg_blocking_pids tell by whom); it is tried again: %w", strings.Join(names, " or "), err)
	}
	pg := refusing(err)
	if pg == nil {
		for i := range w.own {
			r := w.own[i].relation
			if now := s.altered(ctx, s.pool, store.TableID(r.id), true, err); now != err {
				return classify(now)
			}
		}
		return err
	}
	return s.guilty(ctx, w, pg)
}
