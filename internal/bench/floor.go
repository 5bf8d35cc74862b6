package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// Floor is a bare loop of the store operations that a pipeline needs at the
// least, on the same number of partitions, without anything around them.
type Floor struct {
	Store      store.Store
	Partitions []store.Partition
	Batch      int // messages or visits in an epoch
	Keys       int // in all
}

// NewFloor makes partitions in an empty store.
func NewFloor(ctx context.Context, s store.Store, partitions, batch, keys int) (*Floor, error) {
	want := make([]store.Partition, partitions)
	for i := range want {
		want[i] = store.Partition{Computation: "floor", Kind: store.RangePartition, Layout: 1, Name: fmt.Sprint(i)}
	}
	ps, err := s.CreatePartitions(ctx, want)
	if err != nil {
		return nil, err
	}
	f := &Floor{Store: s, Partitions: ps, Batch: batch, Keys: keys}
	for i := range f.Partitions {
		job, err := s.RaiseGeneration(ctx, f.Partitions[i].ID)
		if err != nil {
			return nil, err
		}
		f.Partitions[i] = job.Partition
	}
	return f, nil
}

// key i of partition p; keys of a partition are adjacent, as hashes are.
func (f *Floor) key(p, i int) string {
	hash := uint64(p)<<48 | uint64(i)
	return string(schema.AppendKey(nil, schema.Uint64(hash), schema.Uint64(uint64(i))))
}

// Messages moves n messages: a row is written for a partition and read there,
// the states of its keys are read and written, the row is removed.
func (f *Floor) Messages(ctx context.Context, n int) (time.Duration, error) {
	return f.each(func(p int) error {
		part := &f.Partitions[p]
		share := f.Keys / len(f.Partitions)
		value := binary.AppendUvarint(nil, 1<<20)
		payload := make([]byte, 32*f.Batch)
		for epoch := range n / f.Batch / len(f.Partitions) {
			row := store.InboxRow{
				InboxKey: store.InboxKey{Target: part.ID, Layout: 1, Producer: part.ID, Generation: part.Generation, Number: uint64(epoch + 1)},
				Count:    f.Batch, Payload: payload,
			}
			if epoch > 0 {
				row.Previous = uint64(epoch)
			}
			if err := f.commit(ctx, part, &store.Commit{Produced: []store.InboxRow{row}}); err != nil {
				return err
			}
			keys := make([]string, f.Batch)
			states := make([]store.StateWrite, f.Batch)
			for i := range keys {
				keys[i] = f.key(p, (epoch*f.Batch+i)%share)
				states[i] = store.StateWrite{Key: keys[i], Name: "/count", Value: value}
			}
			if _, err := f.Store.GetStates(ctx, "floor", keys); err != nil {
				return err
			}
			take := store.InboxTake{Key: row.InboxKey, To: f.Batch, Remove: true}
			if err := f.commit(ctx, part, &store.Commit{States: states, Taken: []store.InboxTake{take}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Fill gives every key a state.
func (f *Floor) Fill(ctx context.Context) error {
	_, err := f.each(func(p int) error {
		var states []store.StateWrite
		for i := range f.Keys / len(f.Partitions) {
			states = append(states, store.StateWrite{Key: f.key(p, i), Name: "/count", Value: []byte{1}})
		}
		return f.commit(ctx, &f.Partitions[p], &store.Commit{States: states})
	})
	return err
}

// Visits lists n keys slice by slice and commits the coverage of each.
func (f *Floor) Visits(ctx context.Context, n int) (time.Duration, error) {
	return f.each(func(p int) error {
		part := &f.Partitions[p]
		share := f.Keys / len(f.Partitions)
		batch := min(f.Batch, share)
		for done := 0; done < n/len(f.Partitions); done += batch {
			from := done % share
			a, err := f.Store.ListStates(ctx, store.ListRequest{
				Computation: "floor", Lower: f.key(p, from), Upper: f.key(p, from+batch),
			})
			if err != nil {
				return err
			}
			row := store.VisitorRow{Stream: "sweep", Slot: 0, Value: []byte(a.Keys[len(a.Keys)-1].Key)}
			if err := f.commit(ctx, part, &store.Commit{Visitors: []store.VisitorRow{row}}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *Floor) commit(ctx context.Context, p *store.Partition, c *store.Commit) error {
	c.Partition, c.Generation, c.Computation = p.ID, p.Generation, p.Computation
	return f.Store.Commit(ctx, c)
}

// each runs a loop for every partition, side by side.
func (f *Floor) each(loop func(p int) error) (time.Duration, error) {
	began := time.Now()
	errs := make([]error, len(f.Partitions))
	var wg sync.WaitGroup
	for p := range f.Partitions {
		wg.Go(func() { errs[p] = loop(p) })
	}
	wg.Wait()
	return time.Since(began), errors.Join(errs...)
}
