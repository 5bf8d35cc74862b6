package pebblestore

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// load reads what is kept in memory while the store is open.
func (s *Store) load() error {
	s.partitions = map[store.PartitionID]*partition{}
	s.computations = map[string]uint64{}
	err := s.scan([]byte{kindComputation}, func(key, value []byte) (err error) {
		s.computations[string(key[1:])], err = decodeNumber("number of a computation", value)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.scan([]byte{kindPartition}, s.loadPartition); err != nil {
		return err
	}
	partition, err := s.counter(counterPartition)
	if err != nil {
		return err
	}
	generation, err := s.counter(counterGeneration)
	if err != nil {
		return err
	}
	s.lastPartition, s.lastGeneration = store.PartitionID(partition), store.Generation(generation)
	if err := s.loadQueues(); err != nil {
		return err
	}
	return s.loadTables()
}

func (s *Store) loadPartition(key, value []byte) error {
	id, err := partitionOf(key)
	if err != nil {
		return err
	}
	row, err := decodePartition(id, value)
	if err != nil {
		return err
	}
	number, ok := s.computations[row.Computation]
	if !ok {
		return corrupt("partition %d belongs to computation %q, which has no number", id, row.Computation)
	}
	s.partitions[id] = newPartition(row, number)
	return nil
}

// counter returns the last number that a counter gave out.
func (s *Store) counter(name string) (uint64, error) {
	value, err := s.get(nameKey(kindCounter, name))
	if value == nil {
		return 0, err
	}
	return decodeNumber("counter "+name, value)
}

// hold takes a lock that is a channel of capacity one: a call that waits for it
// ends with its context, and a test in virtual time sees that it waits.
func hold(ctx context.Context, lock chan struct{}) error {
	select {
	case lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	}
}

// Pipeline returns the stored pipeline.
func (s *Store) Pipeline(ctx context.Context) (*store.Pipeline, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.pipeline()
}

func (s *Store) pipeline() (*store.Pipeline, error) {
	value, err := s.get([]byte{kindPipeline})
	if value == nil {
		return nil, err
	}
	return decodePipeline(value)
}

// SavePipeline replaces the stored pipeline if p was made from it.
func (s *Store) SavePipeline(ctx context.Context, p *store.Pipeline) error {
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return err
	}
	defer release()
	stored, err := s.pipeline()
	if err != nil {
		return err
	}
	if stored == nil {
		stored = &store.Pipeline{}
	}
	if stored.Version != p.Version {
		return fmt.Errorf("the pipeline has version %d, not %d: %w", stored.Version, p.Version, store.ErrConflict)
	}
	next := *p
	next.Version++
	b := s.db.NewBatch()
	defer b.Close()
	put(b, []byte{kindPipeline}, appendPipeline(nil, &next))
	if err := s.apply(b); err != nil {
		return err
	}
	p.Version = next.Version
	return nil
}

// Visitors returns the rows of a partition's visit streams.
func (s *Store) Visitors(ctx context.Context, id store.PartitionID) ([]store.VisitorRow, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if _, err := s.known(id); err != nil {
		return nil, err
	}
	return s.visitors(id)
}

// put adds a row to a batch. Only batches with an index can fail here.
func put(b *pebble.Batch, key, value []byte) { _ = b.Set(key, value, nil) }

func remove(b *pebble.Batch, key []byte) { _ = b.Delete(key, nil) }

// Reports returns the last report of every partition that has one.
func (s *Store) Reports(ctx context.Context) (out []store.Report, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	err = s.scan([]byte{kindReport}, func(key, value []byte) error {
		id, err := partitionOf(key)
		if err != nil {
			return err
		}
		r, err := decodeReport(id, value)
		out = append(out, r)
		return err
	})
	return out, err
}

// Totals returns the counters of every partition that has some.
func (s *Store) Totals(ctx context.Context) (out []store.PartitionTotals, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	err = s.scan([]byte{kindTotals}, func(key, value []byte) error {
		id, err := partitionOf(key)
		if err != nil {
			return err
		}
		t, err := decodeTotals(value)
		out = append(out, store.PartitionTotals{Partition: id, Totals: t})
		return err
	})
	return out, err
}
