package pebblestore

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// The second byte of a table key.
const (
	// tableNames: id → name, schema.
	tableNames = 'a'
	// tableRows: id, key, 0 → value. The zero byte makes it a state key without a
	// name.
	tableRows = 'b'
)

func tableKey(id store.TableID) []byte { return tablePrefix(tableNames, id) }

func tablePrefix(part byte, id store.TableID) []byte {
	return binary.BigEndian.AppendUint64([]byte{kindTable, part}, uint64(id))
}

// tables are the tables in memory. The maps are guarded by mu, what tells of a
// table by the catalog too.
type tables struct {
	mu     sync.RWMutex
	byID   map[store.TableID]*table
	byName map[string]*table
	lastID store.TableID // guarded by the catalog
}

type table struct {
	store.Table
	// lock is held from the comparison of rows until what is written has its place in
	// the log.
	lock chan struct{}
	// dropped is guarded by lock.
	dropped bool
}

func (ts *tables) get(id store.TableID) (*table, error) {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	if t := ts.byID[id]; t != nil {
		return t, nil
	}
	return nil, noTable(id)
}

func (ts *tables) named(name string) *table {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	return ts.byName[name]
}

func noTable(id store.TableID) error { return fmt.Errorf("%w: number %d", store.ErrNoTable, id) }

func (ts *tables) put(t *table) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.byID[t.ID], ts.byName[t.Name] = t, t
}

// all describes the tables by name.
func (ts *tables) all() (out []store.Table) {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	for _, t := range ts.byName {
		out = append(out, t.Table)
	}
	slices.SortFunc(out, func(a, b store.Table) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (s *Store) loadTables() error {
	s.tables.byID, s.tables.byName = map[store.TableID]*table{}, map[string]*table{}
	id, err := s.counter(counterTable)
	if err != nil {
		return err
	}
	s.tables.lastID = store.TableID(id)
	return s.scan([]byte{kindTable, tableNames}, func(key, value []byte) error {
		if len(key) != 2+8 {
			return corrupt("table key %x has %d bytes", key, len(key))
		}
		f := fields{rest: value}
		t := newTable(f.text(), store.TableID(binary.BigEndian.Uint64(key[2:])), "")
		t.Schema = f.text()
		s.tables.put(t)
		return f.end("a table")
	})
}

func newTable(name string, id store.TableID, schema string) *table {
	return &table{Table: store.Table{Name: name, ID: id, Schema: schema}, lock: make(chan struct{}, 1)}
}

func putTable(b *pebble.Batch, t *store.Table) {
	put(b, tableKey(t.ID), appendText(appendText(nil, t.Name), t.Schema))
}

// Tables describes the tables.
func (s *Store) Tables(ctx context.Context) ([]store.Table, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.tables.all(), nil
}

// CreateTable numbers the table.
func (s *Store) CreateTable(ctx context.Context, name, schema string) (store.TableID, error) {
	if err := store.ValidateTable(name); err != nil {
		return 0, err
	}
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if t := s.tables.named(name); t != nil {
		if t.Schema != schema {
			return 0, fmt.Errorf("table %q has another schema: %w", name, store.ErrConflict)
		}
		return t.ID, nil
	}
	t := newTable(name, s.tables.lastID+1, schema)
	b := s.db.NewBatch()
	defer b.Close()
	putTable(b, &t.Table)
	putNumber(b, nameKey(kindCounter, counterTable), uint64(t.ID))
	if err := s.apply(b); err != nil {
		return 0, err
	}
	s.tables.lastID = t.ID
	s.tables.put(t)
	return t.ID, nil
}

// RenameTable puts a table in the place of another, under the locks of both.
func (s *Store) RenameTable(ctx context.Context, id store.TableID, name string) error {
	if err := store.ValidateTable(name); err != nil {
		return err
	}
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return err
	}
	defer release()
	t, err := s.tables.get(id)
	if err != nil || t.Name == name {
		return err
	}
	former := s.tables.named(name)
	cs, err := s.lockTables(ctx, t, former)
	if err != nil {
		return err
	}
	defer cs.release()
	renamed := store.Table{Name: name, ID: id, Schema: t.Schema}
	return s.changeTables(cs, former, func(b *pebble.Batch) { putTable(b, &renamed) }, func() {
		delete(s.tables.byName, t.Name)
		t.Name = name
		s.tables.byName[name] = t
	})
}

// DropTable removes the table under its lock, so that no transaction writes to what
// is gone.
func (s *Store) DropTable(ctx context.Context, id store.TableID) error {
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return err
	}
	defer release()
	t, err := s.tables.get(id)
	if err != nil {
		return err
	}
	cs, err := s.lockTables(ctx, t)
	if err != nil {
		return err
	}
	defer cs.release()
	return s.changeTables(cs, t, func(*pebble.Batch) {}, func() {})
}

// changeTables drops a table, nil for none, and whatever fill adds. Readers see all of it
// at one moment, with what show does to the maps: they wait until the batch has its
// place in the log, or rows of a table that they still find would be gone.
func (s *Store) changeTables(cs tableClaims, gone *table, fill func(*pebble.Batch), show func()) error {
	b := s.db.NewBatch()
	defer b.Close()
	if gone != nil {
		remove(b, tableKey(gone.ID))
		prefix := tablePrefix(tableRows, gone.ID)
		_ = b.DeleteRange(prefix, upperBound(prefix), nil)
	}
	fill(b)
	s.tables.mu.Lock()
	unlock := sync.OnceFunc(s.tables.mu.Unlock)
	defer unlock()
	return s.applyPlaced(b, func() {
		if gone != nil {
			delete(s.tables.byID, gone.ID)
			delete(s.tables.byName, gone.Name)
			gone.dropped = true
		}
		show()
		unlock()
		cs.release()
	})
}
