package pebblestore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rondo-flow/rondo/store"
)

// partition is a partition's row in memory.
type partition struct {
	// lock is held while a commit or a new generation becomes durable, which is
	// what makes RaiseGeneration wait for the commit in flight.
	lock        chan struct{}
	computation uint64
	// row is replaced under lock, after the new one is durable, and read
	// without it by Partitions.
	row atomic.Pointer[store.Partition]
	// lastNumber is the number of the last inbox row produced in this
	// generation, as far as this opening of the store knows. Guarded by lock.
	lastNumber uint64
}

func newPartition(row store.Partition, computation uint64) *partition {
	p := &partition{lock: make(chan struct{}, 1), computation: computation}
	p.row.Store(&row)
	return p
}

// locked returns the partition with its lock held. It may have been replaced
// while the lock was waited for.
func (s *Store) locked(ctx context.Context, id store.PartitionID) (*partition, error) {
	p, err := s.known(id)
	if err != nil {
		return nil, err
	}
	if err := hold(ctx, p.lock); err != nil {
		return nil, err
	}
	if _, err := s.known(id); err != nil {
		p.unlock()
		return nil, err
	}
	return p, nil
}

func (s *Store) known(id store.PartitionID) (*partition, error) {
	s.parts.RLock()
	defer s.parts.RUnlock()
	if p := s.partitions[id]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is no partition %d: %w", id, store.ErrFenced)
}

func (p *partition) unlock() { <-p.lock }

// Partitions returns all partitions.
func (s *Store) Partitions(ctx context.Context) ([]store.Partition, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.layout(), nil
}

// layout returns all partitions as they are.
func (s *Store) layout() (out []store.Partition) {
	s.parts.RLock()
	defer s.parts.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(s.partitions)) {
		out = append(out, clonePartition(s.partitions[id].row.Load()))
	}
	return out
}

func clonePartition(p *store.Partition) store.Partition {
	c := *p
	c.Routing = slices.Clone(p.Routing)
	return c
}

// CreatePartitions numbers and stores the partitions, and numbers their
// computations.
func (s *Store) CreatePartitions(ctx context.Context, ps []store.Partition) ([]store.Partition, error) {
	for i := range ps {
		if err := ps[i].Validate(); err != nil {
			return nil, err
		}
	}
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	return s.create(ps)
}

// create runs with the catalog held. Nothing in memory changes before the
// transaction is durable.
func (s *Store) create(ps []store.Partition) ([]store.Partition, error) {
	b := s.db.NewBatch()
	defer b.Close()
	computations := maps.Clone(s.computations)
	last := s.lastPartition
	made := make([]*partition, len(ps))
	for i := range ps {
		row := clonePartition(&ps[i])
		last++
		row.ID, row.State, row.Generation = last, store.Executing, 0
		number, ok := computations[row.Computation]
		if !ok {
			number = uint64(len(computations)) + 1
			computations[row.Computation] = number
			putNumber(b, nameKey(kindComputation, row.Computation), number)
		}
		put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, &row))
		made[i] = newPartition(row, number)
	}
	putNumber(b, nameKey(kindCounter, counterPartition), uint64(last))
	if err := s.apply(b); err != nil {
		return nil, err
	}
	s.lastPartition = last
	return s.publish(made, computations), nil
}

// publish lets others see new partitions, in the place of those that are gone.
func (s *Store) publish(made []*partition, computations map[string]uint64, gone ...store.PartitionID) []store.Partition {
	s.parts.Lock()
	defer s.parts.Unlock()
	s.computations = computations
	for _, id := range gone {
		delete(s.partitions, id)
	}
	out := make([]store.Partition, len(made))
	for i, p := range made {
		row := p.row.Load()
		s.partitions[row.ID] = p
		out[i] = clonePartition(row)
	}
	return out
}

// RaiseGeneration waits for the commit in flight, stores the next generation,
// and then reads what a job needs.
func (s *Store) RaiseGeneration(ctx context.Context, id store.PartitionID) (*store.Job, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	p, err := s.locked(ctx, id)
	if err != nil {
		return nil, err
	}
	defer p.unlock()
	if err := s.raise(ctx, p); err != nil {
		return nil, err
	}
	return s.job(p)
}

// raise numbers the generation. The catalog is free again as soon as the number has
// its place in the log, so that jobs which start together share a sync.
func (s *Store) raise(ctx context.Context, p *partition) error {
	if err := hold(ctx, s.catalog); err != nil {
		return err
	}
	free := sync.OnceFunc(func() { <-s.catalog })
	defer free()
	row := clonePartition(p.row.Load())
	row.Generation = s.lastGeneration + 1
	b := s.db.NewBatch()
	defer b.Close()
	put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, &row))
	putNumber(b, nameKey(kindCounter, counterGeneration), uint64(row.Generation))
	err := s.applyPlaced(b, func() {
		s.lastGeneration = row.Generation
		free()
	})
	if err != nil {
		return err
	}
	p.row.Store(&row)
	p.lastNumber = 0
	return nil
}

// job reads what the partition's epochs have committed beside states and inbox.
func (s *Store) job(p *partition) (*store.Job, error) {
	row := p.row.Load()
	j := &store.Job{Partition: clonePartition(row)}
	var err error
	if j.Offset, err = s.get(partitionKey(kindOffset, row.ID)); err != nil {
		return nil, err
	}
	if j.Position, err = s.get(partitionKey(kindPosition, row.ID)); err != nil {
		return nil, err
	}
	if err := s.jobReport(j, row.ID); err != nil {
		return nil, err
	}
	j.Visitors, err = s.visitors(row.ID)
	return j, err
}

func (s *Store) jobReport(j *store.Job, id store.PartitionID) error {
	report, err := s.get(partitionKey(kindReport, id))
	if err != nil {
		return err
	}
	if report != nil {
		r, err := decodeReport(id, report)
		if err != nil {
			return err
		}
		j.Report = &r
	}
	totals, err := s.get(partitionKey(kindTotals, id))
	if totals != nil {
		j.Totals, err = decodeTotals(totals)
	}
	return err
}

// visitors returns the partition's visitor rows, by stream and slot.
func (s *Store) visitors(id store.PartitionID) (rows []store.VisitorRow, err error) {
	err = s.scan(partitionKey(kindVisitor, id), func(key, value []byte) error {
		stream, slot, err := visitorOf(key)
		rows = append(rows, store.VisitorRow{Stream: stream, Slot: slot, Value: slices.Clone(value)})
		return err
	})
	slices.SortFunc(rows, func(a, b store.VisitorRow) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Slot, b.Slot))
	})
	return rows, err
}
