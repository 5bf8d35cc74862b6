package pebblestore

import (
	"context"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// tableClaims are the tables that a transaction holds, in the order in which they
// are locked.
type tableClaims []*table

// claimTables locks the tables that rows are written to. The caller releases them.
func (s *Store) claimTables(ctx context.Context, rows []store.TableWrite) (tableClaims, error) {
	var ids []store.TableID
	for i := range rows {
		if at, known := slices.BinarySearch(ids, rows[i].Table); !known {
			ids = slices.Insert(ids, at, rows[i].Table)
		}
	}
	var wanted []*table
	for _, id := range ids {
		t, err := s.tables.get(id)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, t)
	}
	return s.lockTables(ctx, wanted...)
}

// lockTables locks tables, of which those that are nil are left out.
func (s *Store) lockTables(ctx context.Context, wanted ...*table) (cs tableClaims, err error) {
	wanted = slices.DeleteFunc(wanted, func(t *table) bool { return t == nil })
	slices.SortFunc(wanted, func(a, b *table) int { return int(a.ID) - int(b.ID) })
	for _, t := range wanted {
		if err = hold(ctx, t.lock); err == nil {
			cs = append(cs, t)
			if t.dropped {
				err = noTable(t.ID)
			}
		}
		if err != nil {
			cs.release()
			return nil, err
		}
	}
	return cs, nil
}

// release unlocks what is held. It may be called again.
func (cs tableClaims) release() {
	for i, t := range cs {
		if t != nil {
			<-t.lock
			cs[i] = nil
		}
	}
}

// fillRows puts rows of claimed tables into a batch, if they are what they have to
// be.
func (s *Store) fillRows(b *pebble.Batch, rows []store.TableWrite) error {
	var key []byte
	for i := range rows {
		w := &rows[i]
		key = appendTableRowKey(key[:0], w)
		if w.Checked {
			is, err := s.get(key)
			if err != nil {
				return err
			}
			if err := w.Check(is); err != nil {
				return err
			}
		}
		if len(w.Value) == 0 {
			remove(b, key)
		} else {
			put(b, key, w.Value)
		}
	}
	return nil
}

func appendTableRowKey(dst []byte, w *store.TableWrite) []byte {
	return appendStateKey(dst, tablePrefix(tableRows, w.Table), w.Key)
}

// tableRowSize estimates from above what a row takes in a batch.
func tableRowSize(w *store.TableWrite) int { return len(w.Key) + len(w.Value) + 32 }

// GetRows looks rows up as states are.
func (s *Store) GetRows(ctx context.Context, id store.TableID, keys []string) ([][]byte, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if _, err := s.tables.get(id); err != nil {
		return nil, err
	}
	found, err := s.getKeys(tablePrefix(tableRows, id), keys)
	if err = s.stillThere(id, err); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, rows := range found {
		if len(rows) > 0 {
			out[i] = rows[0].Value
		}
	}
	return out, nil
}

// ListRows lists rows as states are.
func (s *Store) ListRows(ctx context.Context, id store.TableID, r store.ListRequest) (*store.ListAnswer, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if _, err := s.tables.get(id); err != nil {
		return nil, err
	}
	r.Names = nil
	a, err := s.listRange(tablePrefix(tableRows, id), r)
	if err = s.stillThere(id, err); err != nil {
		return nil, err
	}
	return a, nil
}

// stillThere is the error of a read that has ended: the rows of a table that was
// dropped meanwhile are not absent, there is no table.
func (s *Store) stillThere(id store.TableID, err error) error {
	if err == nil {
		_, err = s.tables.get(id)
	}
	return err
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
	cs, err := s.claimTables(ctx, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	defer cs.release()
	size := 1 << 10
	for i := range rows {
		size += tableRowSize(&rows[i])
	}
	b := s.db.NewBatchWithSize(size)
	defer b.Close()
	if err := s.fillRows(b, rows); err != nil {
		return err
	}
	return s.applyClaimed(b, cs, nil)
}
