package engine

import (
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
)

// keyState is the state of one key during an epoch: what is stored, and a cell
// for each name that somebody opened. All inputs of the key share it (KV-29).
type keyState struct {
	key    string
	stored []store.StateRow
	rows   [][]byte // stored, by external state
	cells  []namedCell
	// cleared: its timers go with the epoch, those that are due in it too.
	cleared bool
	call    uint64 // the call that has the key among its inputs
	// joined is what static tables have of the key, as a visit by joinedBy found it.
	joined   []flow.Joined
	joinedBy string
}

// namedCell is an internal state, or an external one, which has no name and the
// place of its manager plus one.
type namedCell struct {
	name    string
	manager int
	cell    *flow.Cell
}

// is tells whether it is an internal state of that name.
func (c *namedCell) is(name string) bool { return c.manager == 0 && c.name == name }

func (k *keyState) reset(key string, stored []store.StateRow) {
	k.key, k.stored, k.cleared = key, stored, false
	k.rows = k.rows[:0]
	k.joined, k.joinedBy = nil, ""
	clear(k.cells)
	k.cells = k.cells[:0]
}

// cell returns the cell of a name, opened over what is stored.
func (k *keyState) cell(name string) *flow.Cell {
	for i := range k.cells {
		if k.cells[i].is(name) {
			return k.cells[i].cell
		}
	}
	var value []byte
	for i := range k.stored {
		if k.stored[i].Name == name {
			value = k.stored[i].Value
		}
	}
	c := flow.NewCell(value)
	k.cells = append(k.cells, namedCell{name: name, cell: c})
	return c
}

// clear removes all internal states of the key, those that nobody opened too
// (KV-31).
func (k *keyState) clear() {
	for i := range k.stored {
		k.cell(k.stored[i].Name)
	}
	for i := range k.cells {
		if k.cells[i].manager == 0 {
			k.cells[i].cell.SetBytes(nil)
		}
	}
}

// present tells whether the key has a state among the names (nil: any), which
// decides whether it is visited or gone (KV-28).
func (k *keyState) present(names []string) (bool, error) {
	for i := range k.cells {
		c := &k.cells[i]
		if c.manager > 0 || !listed(names, c.name) {
			continue
		}
		b, err := c.cell.Bytes()
		if err != nil || len(b) > 0 {
			return err == nil, err
		}
	}
	for i := range k.stored {
		if name := k.stored[i].Name; listed(names, name) && !k.opened(name) {
			return true, nil
		}
	}
	return false, nil
}

func listed(names []string, name string) bool { return names == nil || slices.Contains(names, name) }

func (k *keyState) opened(name string) bool {
	return slices.ContainsFunc(k.cells, func(c namedCell) bool { return c.is(name) })
}

// changes appends what the epoch must store of the key.
func (k *keyState) changes(dst []store.StateWrite) ([]store.StateWrite, error) {
	for i := range k.cells {
		c := &k.cells[i]
		if c.manager > 0 {
			continue
		}
		value, changed, err := c.cell.Changed()
		if err != nil {
			return dst, fmt.Errorf("state %s: %w", c.name, err)
		}
		if changed {
			dst = append(dst, store.StateWrite{Key: k.key, Name: c.name, Value: value})
		}
	}
	return dst, nil
}

// keyTable holds the keys of an epoch, in the order of their first use.
type keyTable struct {
	byKey map[string]*keyState
	order []*keyState
	free  []*keyState
}

func newKeyTable() *keyTable { return &keyTable{byKey: map[string]*keyState{}} }

func (t *keyTable) reset() {
	clear(t.byKey)
	t.free = append(t.free, t.order...)
	t.order = t.order[:0]
}

// want makes sure that the key has an entry, to be loaded.
func (t *keyTable) want(key string) {
	if t.byKey[key] == nil {
		k := t.spare()
		k.reset(key, nil)
		t.adopt(k)
	}
}

func (t *keyTable) spare() *keyState {
	n := len(t.free)
	if n == 0 {
		return &keyState{}
	}
	k := t.free[n-1]
	t.free = t.free[:n-1]
	return k
}

func (t *keyTable) adopt(k *keyState) {
	t.byKey[k.key] = k
	t.order = append(t.order, k)
}
