package cluster

import (
	"cmp"
	"maps"
	"slices"
	"sort"

	"github.com/rondo-flow/rondo/store"
)

// group is the workers and partitions of one worker_group.
type group struct {
	loads map[string]*load
	lacks *lacks
	// free are the partitions that nobody has who may have them.
	free []store.Partition
	// order has the loads by their number of partitions.
	order []*load
	moves map[store.PartitionID]store.Move
}

// load is what one worker has.
type load struct {
	id    string
	n     int                         // partitions
	parts map[place][]store.Partition // by kind
	place int                         // in the group's order
}

func (g *group) able(worker string, kind place) bool {
	_, lacks := g.lacks.why(worker, kind)
	return !lacks
}

func (g *group) add(p store.Partition) {
	l, kind := g.loads[p.Worker], g.lacks.kind(&p)
	if l == nil || !g.able(p.Worker, kind) {
		g.free = append(g.free, p)
		return
	}
	l.n++
	l.parts[kind] = append(l.parts[kind], p)
}

// balance hands out what is free, and then evens out: each move is from a worker
// with the most to one with the fewest, so their number is the least.
func (g *group) balance(buried []string) []store.Move {
	g.moves = map[store.PartitionID]store.Move{}
	g.order = slices.SortedFunc(maps.Values(g.loads), func(a, b *load) int {
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.id, b.id))
	})
	for i, l := range g.order {
		l.place = i
	}
	for _, p := range g.free {
		if to := g.least(g.lacks.kind(&p)); to != nil {
			g.give(p, to)
		}
	}
	for g.even() {
	}
	var out []store.Move
	for _, id := range slices.Sorted(maps.Keys(g.moves)) {
		m := g.moves[id]
		if slices.Contains(buried, m.From) {
			m.From = "" // it has none once its owner is buried
		}
		if m.From != m.To {
			out = append(out, m)
		}
	}
	return out
}

// least is the worker with the fewest partitions that can run a kind of them.
func (g *group) least(kind place) *load {
	for _, l := range g.order {
		if g.able(l.id, kind) {
			return l
		}
	}
	return nil
}

func (g *group) give(p store.Partition, to *load) {
	m, moved := g.moves[p.ID]
	if !moved {
		m = store.Move{Partition: p.ID, From: p.Worker}
	}
	m.To = to.id
	g.moves[p.ID] = m
	kind := g.lacks.kind(&p)
	to.parts[kind] = append(to.parts[kind], p)
	g.swap(to.place, sort.Search(len(g.order), func(i int) bool { return g.order[i].n > to.n })-1)
	to.n++
}

// take takes a partition of a kind from a worker.
func (g *group) take(from *load, kind place) store.Partition {
	ps := from.parts[kind]
	p := ps[len(ps)-1]
	from.parts[kind] = ps[:len(ps)-1]
	g.swap(from.place, sort.Search(len(g.order), func(i int) bool { return g.order[i].n >= from.n }))
	from.n--
	return p
}

func (g *group) swap(i, j int) {
	g.order[i], g.order[j] = g.order[j], g.order[i]
	g.order[i].place, g.order[j].place = i, j
}

// even moves one partition, and tells whether there was one to move.
func (g *group) even() bool {
	for i := len(g.order) - 1; i >= 0; i-- {
		from := g.order[i]
		if from.n <= g.order[0].n+1 {
			return false
		}
		if kind, to := g.taker(from); to != nil {
			g.give(g.take(from, kind), to)
			return true
		}
	}
	return false
}

// taker finds who should have a partition of a worker that has more, and of which
// kind: the one that it has most of.
func (g *group) taker(from *load) (place, *load) {
	kinds := slices.SortedFunc(maps.Keys(from.parts), func(a, b place) int {
		return cmp.Or(cmp.Compare(len(from.parts[b]), len(from.parts[a])),
			cmp.Compare(a.computation, b.computation), cmp.Compare(a.partition, b.partition))
	})
	for _, k := range kinds {
		if len(from.parts[k]) == 0 {
			continue
		}
		if to := g.least(k); to != nil && to.n+1 < from.n {
			return k, to
		}
	}
	return place{}, nil
}
