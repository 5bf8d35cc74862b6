package storetest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/store"
)

// relayout replaces one computation's partitions by some others, gives each of
// them a part of what the former ones left, and drops some of it.
func (g *history) relayout(t *rapid.T) {
	computation := rapid.SampledFrom([]string{"left", "right"}).Draw(t, "computation")
	n := rapid.IntRange(1, 3).Draw(t, "successors")
	wrong := rapid.IntRange(0, 9).Draw(t, "wrong") == 0
	g.same(t, fmt.Sprintf("relayout of %s into %d", computation, n), func(w *world) string {
		return w.relayout(computation, n, wrong)
	})
}

// relayout replaces the partitions of a computation by n others.
func (w *world) relayout(computation string, n int, wrong bool) string {
	r := store.Relayout{Computation: computation, Plan: func(f *store.Former) ([]store.Successor, error) {
		return successors(f, computation, n), nil
	}}
	all, err := w.Partitions(w.ctx)
	w.check(err)
	for _, p := range all {
		if p.Computation == computation {
			r.Replaced = append(r.Replaced, p.ID)
		}
	}
	if wrong {
		r.Replaced = r.Replaced[1:]
	}
	made, err := w.Relayout(w.ctx, r)
	if err != nil {
		return outcome(err)
	}
	w.parts = slices.DeleteFunc(w.parts, func(p store.Partition) bool { return p.Computation == computation })
	first := len(w.parts)
	w.parts = append(w.parts, made...)
	out := fmt.Sprintf("%+v", made)
	for i := range made {
		out += " " + describeJob(w.raise(first+i))
	}
	for i := range first {
		out += " " + describeJob(w.raise(i)) // with the routing that is now theirs
	}
	return out
}

// successors deals the rows out in turn. The last part of what is waiting in a row
// is dropped if it has several messages.
func successors(f *store.Former, computation string, n int) []store.Successor {
	out := make([]store.Successor, n)
	for i := range out {
		out[i].Partition = store.Partition{Computation: computation, Kind: store.RangePartition, Lower: uint64(i), Open: true}
	}
	for i, row := range f.Inbox {
		row.Count, row.Consumed = max(1, row.Count-row.Consumed-1), 0
		s := &out[i%n]
		s.Inbox = append(s.Inbox, row)
	}
	for i := range f.Jobs {
		s, j := &out[i%n], &f.Jobs[i]
		s.Report, s.Totals, s.Visitors = j.Report, &j.Totals, j.Visitors
	}
	return out
}
