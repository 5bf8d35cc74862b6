package pebblestore

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// Relayout holds the locks of the partitions that it concerns, in id order, and then
// the catalog's, until the new layout is durable (D-12, D-13).
func (s *Store) Relayout(ctx context.Context, r store.Relayout) ([]store.Partition, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	held, err := s.lockConcerned(ctx, r)
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
	if n := len(r.Concerned(former.All)); n != len(held) {
		return nil, fmt.Errorf("%d partitions concern computation %s, not %d as before: %w", n, r.Computation, len(held), store.ErrConflict)
	}
	next, err := r.Decide(former)
	if err != nil {
		return nil, err
	}
	return s.replace(r, former, next)
}

// lockConcerned locks the partitions that the relayout concerns.
// What was locked is returned also with an error.
func (s *Store) lockConcerned(ctx context.Context, r store.Relayout) (held []*partition, err error) {
	for _, row := range r.Concerned(s.layout()) {
		p, err := s.locked(ctx, row.ID)
		if err != nil {
			return held, err
		}
		held = append(held, p)
	}
	return held, nil
}

// former reads what the replaced partitions leave behind. The locks are held.
func (s *Store) former(r store.Relayout) (*store.Former, error) {
	f := &store.Former{All: s.layout()}
	present, err := r.Present(f.All)
	if err != nil {
		return nil, err
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
	layout := f.NextLayout()
	for i := range f.Jobs {
		s.forgetPartition(b, &f.Jobs[i])
	}
	for i := range f.Inbox {
		takeWhole(b, &f.Inbox[i])
	}
	changed := s.reroute(b, f, r.Computation, layout)
	generation := s.fence(b, changed, r.Fenced(f))
	last, number := s.lastPartition, s.computations[r.Computation]
	made := make([]*partition, len(next))
	for i := range next {
		last++
		row := clonePartition(&next[i].Partition)
		row.ID, row.Layout, row.State, row.Generation = last, layout, store.Executing, 0
		row.Routing = f.Jobs[0].Partition.Rerouted(r.Computation, layout)
		put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, &row))
		putSuccessor(b, &row, &next[i])
		made[i] = newPartition(row, number)
	}
	putNumber(b, nameKey(kindCounter, counterPartition), uint64(last))
	if err := s.apply(b); err != nil {
		return nil, err
	}
	s.lastPartition, s.lastGeneration = last, generation
	for p, row := range changed {
		if row.Generation != p.row.Load().Generation {
			p.lastNumber = 0
		}
		p.row.Store(row)
	}
	return s.publish(made, s.computations, r.Replaced...), nil
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
		if p.Computation == computation || !p.RoutesTo(computation) {
			continue
		}
		row := clonePartition(p)
		row.Routing = p.Rerouted(computation, layout)
		put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, &row))
		out[s.partitions[p.ID]] = &row
	}
	return out
}

// fence gives consumers new generations, and returns the last. A consumer may be a
// producer too, which has another routing by now.
func (s *Store) fence(b *pebble.Batch, changed map[*partition]*store.Partition, consumers []store.Partition) store.Generation {
	s.parts.RLock()
	defer s.parts.RUnlock()
	last := s.lastGeneration
	for i := range consumers {
		at := s.partitions[consumers[i].ID]
		row := changed[at]
		if row == nil {
			fresh := clonePartition(&consumers[i])
			row = &fresh
		}
		last++
		row.Generation = last
		put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, row))
		changed[at] = row
	}
	putNumber(b, nameKey(kindCounter, counterGeneration), uint64(last))
	return last
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
