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
	// Progress is told now and then which part is done, 0 to 1, by one goroutine.
	// It may be nil.
	Progress func(done float64)
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
	payload := make([]byte, 32*f.Batch)
	return f.each(n, func(p, done, size int) error {
		part := &f.Partitions[p]
		number := uint64(done/f.Batch) + 1
		row := store.InboxRow{
			InboxKey: store.InboxKey{Target: part.ID, Layout: 1, Producer: part.ID, Generation: part.Generation, Number: number},
			Previous: number - 1, Count: size, Payload: payload[:32*size],
		}
		if err := f.commit(ctx, part, &store.Commit{Produced: []store.InboxRow{row}}); err != nil {
			return err
		}
		keys, states := f.counted(p, done, size)
		if _, err := f.Store.GetStates(ctx, "floor", keys); err != nil {
			return err
		}
		take := store.InboxTake{Key: row.InboxKey, To: size, Remove: true}
		return f.commit(ctx, part, &store.Commit{States: states, Taken: []store.InboxTake{take}})
	})
}

// counted are the next keys of a partition with their new states.
func (f *Floor) counted(p, done, size int) ([]string, []store.StateWrite) {
	value := binary.AppendUvarint(nil, 1<<20)
	keys, states := make([]string, size), make([]store.StateWrite, size)
	for i := range keys {
		keys[i] = f.key(p, (done+i)%f.share(f.Keys, p))
		states[i] = store.StateWrite{Key: keys[i], Name: "/count", Value: value}
	}
	return keys, states
}

// share is what partition p has of n.
func (f *Floor) share(n, p int) int {
	share := n / len(f.Partitions)
	if p < n%len(f.Partitions) {
		share++
	}
	return share
}

// Fill gives every key a state.
func (f *Floor) Fill(ctx context.Context) error {
	_, err := f.each(f.Keys, func(p, done, size int) error {
		_, states := f.counted(p, done, size)
		return f.commit(ctx, &f.Partitions[p], &store.Commit{States: states})
	})
	return err
}

// Visits lists n keys slice by slice and commits the coverage of each slice.
func (f *Floor) Visits(ctx context.Context, n int) (time.Duration, error) {
	return f.visits(ctx, n, false)
}

// Updates is Visits, where each slice's states are written with its coverage.
func (f *Floor) Updates(ctx context.Context, n int) (time.Duration, error) {
	return f.visits(ctx, n, true)
}

func (f *Floor) visits(ctx context.Context, n int, update bool) (time.Duration, error) {
	return f.each(n, func(p, done, size int) error {
		for end := done + size; done < end; {
			from := done % f.share(f.Keys, p)
			to := min(from+end-done, f.share(f.Keys, p))
			if err := f.visit(ctx, p, from, to, update); err != nil {
				return err
			}
			done += to - from
		}
		return nil
	})
}

func (f *Floor) visit(ctx context.Context, p, from, to int, update bool) error {
	a, err := f.Store.ListStates(ctx, store.ListRequest{Computation: "floor", Lower: f.key(p, from), Upper: f.key(p, to)})
	if err != nil {
		return err
	}
	if len(a.Keys) != to-from {
		return fmt.Errorf("%d keys are listed, want %d", len(a.Keys), to-from)
	}
	c := &store.Commit{Visitors: []store.VisitorRow{{Stream: "sweep", Slot: 0, Value: []byte(a.Keys[len(a.Keys)-1].Key)}}}
	if update {
		_, c.States = f.counted(p, from, to-from)
	}
	return f.commit(ctx, &f.Partitions[p], c)
}

func (f *Floor) commit(ctx context.Context, p *store.Partition, c *store.Commit) error {
	c.Partition, c.Generation, c.Computation = p.ID, p.Generation, p.Computation
	return f.Store.Commit(ctx, c)
}

// each does n things, an epoch after the other in each partition and the
// partitions side by side. epoch gets how many the partition has done, and the
// next number of them.
func (f *Floor) each(n int, epoch func(p, done, size int) error) (time.Duration, error) {
	began := time.Now()
	errs := make([]error, len(f.Partitions))
	var wg sync.WaitGroup
	for p := range f.Partitions {
		wg.Go(func() {
			share := f.share(n, p)
			for done := 0; done < share && errs[p] == nil; done += f.Batch {
				errs[p] = epoch(p, done, min(f.Batch, share-done))
				if p == 0 && f.Progress != nil {
					f.Progress(float64(min(done+f.Batch, share)) / float64(share))
				}
			}
		})
	}
	wg.Wait()
	return time.Since(began), errors.Join(errs...)
}
