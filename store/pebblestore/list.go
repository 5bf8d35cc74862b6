package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// ListStates reads a range with one iterator, which does not outlive the call
// (KV-24).
func (s *Store) ListStates(ctx context.Context, r store.ListRequest) (*store.ListAnswer, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	prefix, ok := s.computation(kindState, r.Computation)
	if !ok {
		return &store.ListAnswer{Complete: true}, nil
	}
	return s.listRange(prefix, r)
}

// listRange lists the rows that begin with prefix: those of a computation, or of a
// table.
func (s *Store) listRange(prefix []byte, r store.ListRequest) (*store.ListAnswer, error) {
	l := &lister{request: r, prefix: prefix}
	if err := l.list(s.db); err != nil {
		return nil, s.classify(err)
	}
	return l.answer(), nil
}

// lister collects an answer. Keys are ranges of one text and get their strings
// when it is whole.
type lister struct {
	request store.ListRequest
	prefix  []byte

	text   []byte
	keys   []listed
	rows   []store.StateRow
	values arena
	names  names
	bytes  int
	// cut is the key that the answer ends before, or the last one when the
	// answer is full; nil when it is complete.
	cut []byte

	// work counts the rows and tombstones passed; first is the first one's key.
	work  int
	first []byte
	// limit is what the iterator stops at. See pass.
	limit []byte
}

// listed is a key in text and its rows.
type listed struct{ end, firstRow, bytes int }

// list reads the range.
func (l *lister) list(db *pebble.DB) error {
	lower := append(bytes.Clone(l.prefix), l.request.Lower...)
	upper := upperBound(l.prefix)
	if l.request.Upper != "" {
		upper = append(bytes.Clone(l.prefix), l.request.Upper...)
	}
	if bytes.Compare(lower, upper) >= 0 {
		return nil
	}
	opts := &pebble.IterOptions{LowerBound: lower, UpperBound: upper}
	if l.request.MaxWork > 0 {
		l.limit = []byte{0xFF} // beyond every row
		opts.SkipPoint = l.pass
	}
	it, err := db.NewIter(opts)
	if err != nil {
		return err
	}
	return errors.Join(l.read(it, lower), it.Close())
}

// read goes on until the range ends or a limit is reached.
func (l *lister) read(it *pebble.Iterator, lower []byte) error {
	at := it.SeekGEWithLimit(lower, l.limit)
	for ; at == pebble.IterValid; at = it.NextWithLimit(l.limit) {
		key, name, err := splitState(it.Key()[len(l.prefix):])
		if err != nil {
			return err
		}
		if l.cut != nil && bytes.Compare(key, l.cut) >= 0 {
			break // the work is done, and this row was reached on the way
		}
		if len(l.request.Names) > 0 && !contains(l.request.Names, name) {
			continue
		}
		var value []byte
		if !l.request.KeysOnly {
			if value, err = it.ValueAndErr(); err != nil {
				return err
			}
		}
		if l.add(key, name, value) {
			break
		}
	}
	return it.Error()
}

// pass is called by the iterator for every row and tombstone, before it decides
// whether to return or to skip it, and never asks to leave one out. It is the
// only way to notice a long run of tombstones from within. When the work is
// done, between two keys, it lowers the limit in place, and the iterator, which
// compares each key with it, stops at the next one.
func (l *lister) pass(row []byte) bool {
	l.work++
	if l.first != nil && l.work <= l.request.MaxWork || l.cut != nil {
		return false
	}
	key, _, err := splitState(row[len(l.prefix):])
	switch {
	case err != nil: // read reports it
	case l.first == nil:
		l.first = bytes.Clone(key)
	case !bytes.Equal(key, l.first):
		l.cut = bytes.Clone(key)
		l.limit[0] = 0
	}
	return false
}

// add appends one row and tells whether the answer is full.
func (l *lister) add(key, name, value []byte) bool {
	n := len(l.keys)
	if n == 0 || !bytes.Equal(key, l.key(n-1)) {
		l.text = append(l.text, key...)
		l.keys = append(l.keys, listed{end: len(l.text), firstRow: len(l.rows), bytes: len(key)})
		l.bytes += len(key)
		n++
	}
	size := len(name) + len(value)
	l.bytes += size
	l.keys[n-1].bytes += size
	if r := &l.request; r.MaxBytes > 0 && l.bytes > r.MaxBytes && n > 1 {
		l.cut = bytes.Clone(key)
		return true
	}
	l.rows = append(l.rows, store.StateRow{Name: l.names.text(name), Value: l.values.copy(value)})
	if len(l.rows) == l.request.MaxRows {
		l.cut = bytes.Clone(key)
		return true
	}
	return false
}

// key returns key number i.
func (l *lister) key(i int) []byte {
	start := 0
	if i > 0 {
		start = l.keys[i-1].end
	}
	return l.text[start:l.keys[i].end]
}

// answer cuts the answer and gives it its form. Only a full answer keeps the key
// that it is cut at.
func (l *lister) answer() *store.ListAnswer {
	full := l.request.MaxRows > 0 && len(l.rows) == l.request.MaxRows
	if n := len(l.keys); l.cut != nil && !full && n > 0 && bytes.Equal(l.key(n-1), l.cut) {
		l.rows = l.rows[:l.keys[n-1].firstRow]
		l.bytes -= l.keys[n-1].bytes
		l.keys = l.keys[:n-1]
	}
	a := &store.ListAnswer{
		Complete: l.cut == nil, CompleteTo: string(l.cut),
		Keys: make([]store.ListedKey, len(l.keys)), Rows: len(l.rows), Bytes: l.bytes,
	}
	text, start := string(l.text), 0
	for i, k := range l.keys {
		end := len(l.rows)
		if i+1 < len(l.keys) {
			end = l.keys[i+1].firstRow
		}
		a.Keys[i] = store.ListedKey{Key: text[start:k.end], Rows: slices.Clip(l.rows[k.firstRow:end]), Bytes: k.bytes}
		start = k.end
	}
	return a
}

func contains(names []string, name []byte) bool {
	for _, n := range names {
		if n == string(name) {
			return true
		}
	}
	return false
}
