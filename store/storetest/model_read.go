package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

// GetStates looks every key up among all rows of the computation.
func (m *Model) GetStates(ctx context.Context, computation string, keys []string) (out [][]store.StateRow, err error) {
	err = m.do(ctx, func(d *modelData) error {
		rows := d.rows(computation, "", "")
		for _, key := range keys {
			i, _ := slices.BinarySearchFunc(rows, key, func(r modelRow, key string) int { return cmp.Compare(r.key, key) })
			var found []store.StateRow
			for ; i < len(rows) && rows[i].key == key; i++ {
				found = append(found, rows[i].StateRow)
			}
			out = append(out, found)
		}
		return nil
	})
	return out, err
}

type modelRow struct {
	key string
	store.StateRow
}

// rows returns the rows in [lower, upper) in order.
func (d *modelData) rows(computation, lower, upper string) []modelRow {
	var rows []modelRow
	for k, v := range d.states {
		if k.computation == computation && k.key >= lower && (upper == "" || k.key < upper) {
			rows = append(rows, modelRow{k.key, store.StateRow{Name: k.name, Value: v}})
		}
	}
	slices.SortFunc(rows, func(a, b modelRow) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.Name, b.Name))
	})
	return rows
}

// ListStates walks over all rows of the range. A row passed is work, whether it
// matches or not.
func (m *Model) ListStates(ctx context.Context, r store.ListRequest) (a *store.ListAnswer, err error) {
	err = m.do(ctx, func(d *modelData) error {
		a = list(d.rows(r.Computation, r.Lower, r.Upper), r)
		return nil
	})
	return a, err
}

func list(rows []modelRow, r store.ListRequest) *store.ListAnswer {
	a := &store.ListAnswer{}
	for work, row := range rows {
		if r.MaxWork > 0 && work >= r.MaxWork && row.key != rows[0].key {
			return cut(a, row.key)
		}
		if len(r.Names) > 0 && !slices.Contains(r.Names, row.Name) {
			continue
		}
		add(a, row)
		if r.MaxBytes > 0 && a.Bytes > r.MaxBytes && len(a.Keys) > 1 {
			return cut(a, row.key)
		}
		if a.Rows == r.MaxRows {
			a.CompleteTo = row.key
			return a
		}
	}
	a.Complete = true
	return a
}

func add(a *store.ListAnswer, row modelRow) {
	if n := len(a.Keys); n == 0 || a.Keys[n-1].Key != row.key {
		a.Keys = append(a.Keys, store.ListedKey{Key: row.key, Bytes: len(row.key)})
		a.Bytes += len(row.key)
	}
	k := &a.Keys[len(a.Keys)-1]
	k.Rows = append(k.Rows, row.StateRow)
	k.Bytes += len(row.Name) + len(row.Value)
	a.Bytes += len(row.Name) + len(row.Value)
	a.Rows++
}

// cut ends the answer before key.
func cut(a *store.ListAnswer, key string) *store.ListAnswer {
	a.CompleteTo = key
	if n := len(a.Keys); n > 0 && a.Keys[n-1].Key == key {
		a.Rows -= len(a.Keys[n-1].Rows)
		a.Bytes -= a.Keys[n-1].Bytes
		a.Keys = a.Keys[:n-1]
	}
	return a
}

// ReadInbox sorts the target's rows and takes from each lane what is allowed.
func (m *Model) ReadInbox(ctx context.Context, r store.InboxRequest) (a *store.InboxAnswer, err error) {
	err = m.do(ctx, func(d *modelData) error {
		a = readInbox(d.inboxRows(r.Target), r)
		return nil
	})
	return a, err
}

// inboxRows returns the target's rows by lane and place.
func (d *modelData) inboxRows(target store.PartitionID) []store.InboxRow {
	var rows []store.InboxRow
	for k, row := range d.inbox {
		if k.Target == target {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b store.InboxRow) int {
		return cmp.Or(a.Lane().Compare(b.Lane()), a.Place().Compare(b.Place()))
	})
	return rows
}

func readInbox(rows []store.InboxRow, r store.InboxRequest) *store.InboxAnswer {
	after := map[store.Lane]store.Place{}
	for _, p := range r.After {
		after[p.Lane] = p.Place
	}
	a := &store.InboxAnswer{End: true}
	taken := map[store.Lane]int{} // payload bytes, absent before the first row
	full := map[store.Lane]bool{}
	for _, row := range rows {
		lane := row.Lane()
		if row.Place().Compare(after[lane]) <= 0 {
			continue
		}
		bytes, begun := taken[lane]
		bytes += len(row.Payload)
		if full[lane] || begun && r.MaxBytes > 0 && bytes > r.MaxBytes {
			full[lane], a.End = true, false
			continue
		}
		taken[lane] = bytes
		a.Rows = append(a.Rows, row)
	}
	return a
}

// InboxSizes adds up the rows of each target.
func (m *Model) InboxSizes(ctx context.Context) (out []store.InboxSize, err error) {
	err = m.do(ctx, func(d *modelData) error {
		sizes := map[store.PartitionID]store.InboxSize{}
		for k, row := range d.inbox {
			s := sizes[k.Target]
			s.Target = k.Target
			s.Messages += row.Count - row.Consumed
			s.Bytes += len(row.Payload)
			sizes[k.Target] = s
		}
		for _, id := range slices.Sorted(maps.Keys(sizes)) {
			out = append(out, sizes[id])
		}
		return nil
	})
	return out, err
}
