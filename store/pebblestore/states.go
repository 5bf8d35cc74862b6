package pebblestore

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// computation returns the prefix of the computation's rows of a kind; false if
// there are none because nobody belongs to it.
func (s *Store) computation(kind byte, name string) (prefix []byte, ok bool) {
	s.parts.RLock()
	defer s.parts.RUnlock()
	number, ok := s.computations[name]
	return computationPrefix(kind, number), ok
}

// GetStates looks the keys up in their order, which makes neighbours cheap, and
// answers in the order asked.
func (s *Store) GetStates(ctx context.Context, computation string, keys []string) ([][]store.StateRow, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	prefix, ok := s.computation(kindState, computation)
	if !ok {
		return make([][]store.StateRow, len(keys)), nil
	}
	return s.getKeys(prefix, keys)
}

// getKeys returns the rows of keys that begin with prefix: those of a computation,
// or of a table.
func (s *Store) getKeys(prefix []byte, keys []string) ([][]store.StateRow, error) {
	out := make([][]store.StateRow, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: upperBound(prefix)})
	if err != nil {
		return nil, s.classify(err)
	}
	g := getter{it: it, prefix: prefix, rows: make([]store.StateRow, 0, len(keys))}
	g.getAll(keys, out)
	if err := errors.Join(g.err, it.Close()); err != nil {
		return nil, s.classify(err)
	}
	return out, nil
}

// getter reads the rows of keys with one iterator.
type getter struct {
	it     *pebble.Iterator
	prefix []byte
	rows   []store.StateRow
	values arena
	names  names
	seek   []byte
	limit  []byte
	err    error
}

func (g *getter) getAll(keys []string, out [][]store.StateRow) {
	if slices.IsSorted(keys) {
		for i, key := range keys {
			g.getAfter(keys, out, i-1, i, key)
		}
		return
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	last := -1
	for _, i := range order {
		g.getAfter(keys, out, last, i, keys[i])
		last = i
	}
}

// getAfter answers key number i; a key that was answered last is not read again.
func (g *getter) getAfter(keys []string, out [][]store.StateRow, last, i int, key string) {
	if last >= 0 && keys[last] == key {
		out[i] = out[last]
		return
	}
	out[i] = g.get(key)
}

// get reads one key. The limit keeps an absent key from reading over whatever
// deleted rows follow it.
func (g *getter) get(key string) []store.StateRow {
	start := len(g.rows)
	g.seek = appendStateKey(g.seek[:0], g.prefix, key)
	n := len(g.seek)
	g.limit = append(append(g.limit[:0], g.seek[:n-1]...), 1)
	for at := g.it.SeekGEWithLimit(g.seek, g.limit); at == pebble.IterValid && g.err == nil; at = g.it.NextWithLimit(g.limit) {
		row := g.it.Key()
		if !bytes.HasPrefix(row, g.seek) {
			break
		}
		var value []byte
		value, g.err = g.it.ValueAndErr()
		g.rows = append(g.rows, store.StateRow{Name: g.names.text(row[n:]), Value: g.values.copy(value)})
	}
	if g.err == nil {
		g.err = g.it.Error()
	}
	return g.rows[start:len(g.rows):len(g.rows)]
}

// arena copies values into few allocations, each twice as large as the one
// before. Earlier copies stay valid.
type arena struct{ free []byte }

const (
	arenaFirst = 512
	arenaMax   = 64 << 10
)

func (a *arena) copy(value []byte) []byte {
	if len(value) > arenaMax {
		return bytes.Clone(value) // which clears no memory before it is written
	}
	if len(value) > cap(a.free)-len(a.free) {
		size := max(arenaFirst, min(2*cap(a.free), arenaMax))
		a.free = make([]byte, 0, max(size, len(value)))
	}
	start := len(a.free)
	a.free = append(a.free, value...)
	return a.free[start:len(a.free):len(a.free)]
}

// names turns the few names of a computation into texts without an allocation
// for each row.
type names struct{ known []string }

const namesKept = 16

func (n *names) text(name []byte) string {
	for _, k := range n.known {
		if k == string(name) {
			return k
		}
	}
	s := string(name)
	if len(n.known) < namesKept {
		n.known = append(n.known, s)
	}
	return s
}
