package external

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/schema"
)

// Stored are the tables in a store, as far as joiners read them.
type Stored interface {
	// Find returns the table that has a name now, with the text of its form. A table
	// that was put in its place has another id; the form of an id never changes.
	Find(ctx context.Context, name string) (id uint64, form string, err error)
	// List calls f with the rows of a slice in the order of keys, as far as its limits
	// allow. more is the key to go on at, "" if there is none. [ErrReplaced]: by the end
	// of the call there was no such table any more.
	List(ctx context.Context, id uint64, s Slice, f func(key string, value []byte) error) (more string, err error)
}

// storedPrefix is what names of tables in the store begin with, and paths of files do
// not.
const storedPrefix = "//"

// Bind gives the joiner the store in which its table is, if it is no file. It is called
// before the first scan.
func (j *Joiner) Bind(s Stored) { j.source.stored = s }

// InStore tells whether the table is one in the store.
func (j *Joiner) InStore() bool { return j.source.inStore }

var errNoStore = errors.New("it is in the store, which is not open yet")

// find returns the table that has the name now.
func (s *source) find(ctx context.Context) (id uint64, form string, err error) {
	if s.stored == nil {
		return 0, "", errNoStore
	}
	return s.stored.Find(ctx, s.path)
}

func stampOfStored(id uint64) stamp { return stamp{node: fmt.Sprintf("table %d", id)} }

// openStored opens the table that has the name now. Its rows are counted: it has no
// footer that tells.
func (s *source) openStored(ctx context.Context, d depth) (*version, error) {
	id, text, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	form, err := schema.ParseTable(text)
	if err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	if err := form.CheckKey(s.groupBy); err != nil {
		return nil, &unfit{err}
	}
	v := &version{stamp: stampOfStored(id), stored: form, identity: Identity{table: id}}
	if v.keyed, err = newKeyed(s.groupBy, form.Columns()); err != nil || d == glance {
		return v, err
	}
	v.identity.Rows, err = s.count(ctx, id)
	return v, err
}

// count reads the table once.
func (s *source) count(ctx context.Context, id uint64) (rows int64, err error) {
	for part := (Slice{MaxRows: countRows, MaxBytes: countBytes}); ; {
		more, err := s.stored.List(ctx, id, part, func(key string, value []byte) error {
			rows++
			s.read.Add(int64(len(key) + len(value)))
			return nil
		})
		if err != nil || more == "" {
			return rows, err
		}
		part.Lower = more
	}
}

const (
	countRows  = 10_000
	countBytes = 1 << 20
)

// listStored lists a slice of a table in the store. Nothing is read ahead: rows may
// change, and an absence must not be one of long ago.
func (s *source) listStored(ctx context.Context, v *version, sl *Slice) (entries []*Entry, to string, err error) {
	to, err = s.stored.List(ctx, v.identity.table, *sl, func(key string, value []byte) error {
		s.read.Add(int64(len(key) + len(value)))
		e, err := v.entry(key, value)
		entries = append(entries, e)
		return err
	})
	return entries, to, err
}

// entry checks a row of a table in the store.
func (v *version) entry(key string, value []byte) (*Entry, error) {
	row, err := v.stored.Decode(key, value)
	if err != nil {
		return nil, malformedf("the row with the key %s: %w", showKey(key), err)
	}
	computed, err := v.keyed.key(row)
	if err == nil && computed != key {
		err = malformedf("its columns give the key %s", showKey(computed))
	}
	if err != nil {
		return nil, fmt.Errorf("the row with the key %s: %w", showKey(key), err)
	}
	return &Entry{Key: key, Row: row, Columns: v.keyed.table, Bytes: len(key) + sizeOf(row)}, nil
}
