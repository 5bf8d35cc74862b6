package pebblestore

import (
	"context"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// Relayout holds the locks of the replaced partitions and of their producers, in
// id order, and then the catalog's, until the new layout is durable (D-12, D-13).
func (s *Store) Relayout(ctx context.Context, r store.Relayout) ([]store.Partition, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	held, err := s.lockConcerned(ctx, r.Computation)
	defer func() {
		for _, p := range held {
			p.unlock()
		}
	}()
	if err != nil {
		return nil, err
	}
	if err := hold(ctx, s.catalog); err != nil {
		return nil, err
	}
	defer func() { <-s.catalog }()
	former, err := s.former(r)
	if err != nil {
		return nil, err
	}
	if n := len(concerned(former.All, r.Computation)); n != len(held) {
		return nil, fmt.Errorf("%d partitions concern computation %s, not %d as before: %w", n, r.Computation, len(held), store.ErrConflict)
	}
	next, err := r.Plan(former)
	if err != nil {
		return nil, err
	}
	for i := range next {
		if err := next[i].Validate(r.Computation); err != nil {
			return nil, err
		}
	}
	return s.replace(r, former, next)
}

// lockConcerned locks the partitions that a new layout of a computation concerns.
// What was locked is returned also with an error.
func (s *Store) lockConcerned(ctx context.Context, computation string) (held []*partition, err error) {
	for _, row := range concerned(s.layout(), computation) {
		p, err := s.locked(ctx, row.ID)
		if err != nil {
			return held, err
		}
		held = append(held, p)
	}
	return held, nil
}

// concerned returns the partitions of a computation and those that write to it.
func concerned(all []store.Partition, computation string) []store.Partition {
	return slices.DeleteFunc(slices.Clone(all), func(p store.Partition) bool {
		return p.Computation != computation && routesTo(&p, computation) < 0
	})
}

func routesTo(p *store.Partition, computation string) int {
	return slices.IndexFunc(p.Routing, func(r store.Route) bool { return r.Computation == computation })
}

// former reads what the replaced partitions leave behind. The locks are held.
func (s *Store) former(r store.Relayout) (*store.Former, error) {
	f := &store.Former{All: s.layout()}
	var present []store.PartitionID
	for i := range f.All {
		if f.All[i].Computation == r.Computation {
			present = append(present, f.All[i].ID)
		}
	}
	if !slices.Equal(present, slices.Sorted(slices.Values(r.Replaced))) {
		return nil, fmt.Errorf("computation %s has partitions %v, not %v: %w", r.Computation, present, r.Replaced, store.ErrConflict)
	}
	for _, id := range present {
		p, err := s.known(id)
		if err != nil {
			return nil, err
		}
		job, err := s.job(p)
		if err != nil {
			return nil, err
		}
		f.Jobs = append(f.Jobs, *job)
		rows, err := s.waiting(id)
		if err != nil {
			return nil, err
		}
		f.Inbox = append(f.Inbox, rows...)
	}
	return f, nil
}

// waiting returns everything that waits for a partition.
func (s *Store) waiting(id store.PartitionID) ([]store.InboxRow, error) {
	prefix := partitionKey(kindInbox, id)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: upperBound(prefix)})
	if err != nil {
		return nil, s.classify(err)
	}
	answer, err := readInbox(it, &store.InboxRequest{Target: id})
	if err != nil {
		return nil, s.classify(err)
	}
	return answer.Rows, nil
}

// replace applies the new layout. Nothing in memory changes before it is durable.
func (s *Store) replace(r store.Relayout, f *store.Former, next []store.Successor) ([]store.Partition, error) {
	b := s.db.NewBatch()
	defer b.Close()
	layout := uint64(0)
	for i := range f.Jobs {
		layout = max(layout, f.Jobs[i].Partition.Layout+1)
		s.forgetPartition(b, &f.Jobs[i])
	}
	for i := range f.Inbox {
		takeWhole(b, &f.Inbox[i])
	}
	rerouted := s.reroute(b, f, r.Computation, layout)
	last, number := s.lastPartition, s.computations[r.Computation]
	made := make([]*partition, len(next))
	for i := range next {
		last++
		row := clonePartition(&next[i].Partition)
		row.ID, row.Layout, row.State, row.Generation = last, layout, store.Executing, 0
		row.Routing = routingOf(f.Jobs[0].Partition.Routing, r.Computation, layout)
		put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, &row))
		putSuccessor(b, &row, &next[i])
		made[i] = newPartition(row, number)
	}
	putNumber(b, nameKey(kindCounter, counterPartition), uint64(last))
	if err := s.apply(b); err != nil {
		return nil, err
	}
	s.lastPartition = last
	for p, row := range rerouted {
		p.row.Store(row)
	}
	s.parts.Lock()
	for i := range f.Jobs {
		delete(s.partitions, f.Jobs[i].Partition.ID)
	}
	s.parts.Unlock()
	return s.publish(made, s.computations), nil
}

// forgetPartition removes a partition's own rows. Its lock is held, so that none
// comes after it.
func (s *Store) forgetPartition(b *pebble.Batch, j *store.Job) {
	id := j.Partition.ID
	for _, kind := range []byte{kindPartition, kindReport, kindOffset, kindPosition, kindTotals} {
		remove(b, partitionKey(kind, id))
	}
	for _, v := range j.Visitors {
		remove(b, visitorKey(id, v.Stream, v.Slot))
	}
}

// takeWhole removes an inbox row as the commit does that consumes the rest of it.
func takeWhole(b *pebble.Batch, r *store.InboxRow) {
	putTake(b, &store.InboxTake{Key: r.InboxKey, From: r.Consumed, To: r.Count, Remove: true})
}

// reroute raises the routing version of everybody who writes to the computation
// and stays.
func (s *Store) reroute(b *pebble.Batch, f *store.Former, computation string, layout uint64) map[*partition]*store.Partition {
	s.parts.RLock()
	defer s.parts.RUnlock()
	out := map[*partition]*store.Partition{}
	for i := range f.All {
		p := &f.All[i]
		if p.Computation == computation || routesTo(p, computation) < 0 {
			continue
		}
		row := clonePartition(p)
		row.Routing = routingOf(p.Routing, computation, layout)
		put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, &row))
		out[s.partitions[p.ID]] = &row
	}
	return out
}

func routingOf(routes []store.Route, computation string, layout uint64) []store.Route {
	out := slices.Clone(routes)
	for i := range out {
		if out[i].Computation == computation {
			out[i].Layout = layout
		}
	}
	return out
}

func putSuccessor(b *pebble.Batch, row *store.Partition, s *store.Successor) {
	for _, v := range s.Visitors {
		if len(v.Value) > 0 {
			put(b, visitorKey(row.ID, v.Stream, v.Slot), v.Value)
		}
	}
	if s.Report != nil {
		report := *s.Report
		report.Partition, report.Layout = row.ID, row.Layout
		put(b, partitionKey(kindReport, row.ID), appendReport(nil, &report))
	}
	if s.Totals != nil {
		put(b, partitionKey(kindTotals, row.ID), appendTotals(nil, s.Totals))
	}
	for i := range s.Inbox {
		r := s.Inbox[i]
		r.Target = row.ID
		putInboxRow(b, &r)
	}
}
