package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// Shared makes a cluster's store of one that only one process may open: all in this
// process, each worker of its own Seat. It counts what it is asked.
type Shared struct {
	store.Store
	now func() time.Time

	mu         sync.Mutex
	owners     map[store.PartitionID]string
	workers    map[string]*sharedWorker
	lease      store.Lease
	until      time.Time
	assignment uint64
	asked      map[string]int
}

type sharedWorker struct {
	store.Worker
	seen time.Time
}

// NewShared shares a store with this clock.
func NewShared(s store.Store, now func() time.Time) *Shared {
	return &Shared{Store: s, now: now, owners: map[store.PartitionID]string{}, workers: map[string]*sharedWorker{}, asked: map[string]int{}}
}

// Asked tells how often each operation of a cluster was asked for.
func (s *Shared) Asked() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for op, n := range s.asked {
		out[op] = n
	}
	return out
}

// Seat is the store of one worker.
func (s *Shared) Seat(worker string) *Seat { return &Seat{Store: s, shared: s, worker: worker} }

// Partitions tells their owners too.
func (s *Shared) Partitions(ctx context.Context) ([]store.Partition, error) {
	out, err := s.Store.Partitions(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked["partitions"]++
	for i := range out {
		out[i].Worker = s.owners[out[i].ID]
	}
	return out, err
}

// Seat is a store as one worker has it. Silence makes it one that does not answer.
type Seat struct {
	store.Store
	shared *Shared
	worker string

	mu     sync.Mutex
	silent chan struct{} // closed when it answers again
}

var _ store.Cluster = (*Seat)(nil)

// Silence makes all calls wait until they are given up, or until answer is called.
func (s *Seat) Silence() (answer func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = make(chan struct{})
	return sync.OnceFunc(func() { close(s.silent) })
}

// enter waits while the store is silent, counts, and takes the lock.
func (s *Seat) enter(ctx context.Context, op string) error {
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if silent != nil {
		select {
		case <-silent:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
		}
	}
	s.shared.mu.Lock()
	s.shared.asked[op]++
	return nil
}

// RaiseGeneration refuses partitions of others.
func (s *Seat) RaiseGeneration(ctx context.Context, id store.PartitionID) (*store.Job, error) {
	if err := s.enter(ctx, "raise"); err != nil {
		return nil, err
	}
	defer s.shared.mu.Unlock()
	if owner := s.shared.owners[id]; owner != s.worker {
		return nil, fmt.Errorf("partition %d belongs to %q: %w", id, owner, store.ErrFenced)
	}
	j, err := s.shared.Store.RaiseGeneration(ctx, id)
	if err == nil {
		j.Partition.Worker = s.worker
	}
	return j, err
}

// Submit is not one transaction here.
func (s *Seat) Submit(ctx context.Context, p *store.Pipeline, more []store.Partition) error {
	if err := s.Store.SavePipeline(ctx, p); err != nil || len(more) == 0 {
		return err
	}
	_, err := s.Store.CreatePartitions(ctx, more)
	return err
}

// Beat takes or keeps the lease, as a store does.
func (s *Seat) Beat(ctx context.Context, b *store.Beat) (*store.View, error) {
	if err := s.enter(ctx, "beat"); err != nil {
		return nil, err
	}
	defer s.shared.mu.Unlock()
	now := s.shared.now()
	w := s.shared.workers[b.Worker.ID]
	if w == nil {
		w = &sharedWorker{Worker: b.Worker}
		w.Joined = now.UnixNano()
		s.shared.workers[b.Worker.ID] = w
	}
	w.Info, w.seen = b.Worker.Info, now
	if l := &s.shared.lease; b.Lease > 0 && (l.Holder == b.Worker.ID || s.shared.until.Before(now)) {
		if l.Holder != b.Worker.ID {
			l.Holder, l.Term = b.Worker.ID, l.Term+1
		}
		s.shared.until = now.Add(b.Lease)
	}
	v, err := s.shared.view(ctx, now)
	if err == nil && v.Lease.Holder != b.Worker.ID {
		v.Workers = nil
	}
	return v, err
}

// View tells all.
func (s *Seat) View(ctx context.Context) (*store.View, error) {
	if err := s.enter(ctx, "view"); err != nil {
		return nil, err
	}
	defer s.shared.mu.Unlock()
	return s.shared.view(ctx, s.shared.now())
}

func (s *Shared) view(ctx context.Context, now time.Time) (*store.View, error) {
	p, err := s.Store.Pipeline(ctx)
	if err != nil {
		return nil, err
	}
	parts, err := s.Store.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	v := &store.View{Now: now.UnixNano(), Lease: s.lease, Assignment: s.assignment}
	if p != nil {
		v.Pipeline = p.Version
	}
	for i := range parts {
		v.Layout = max(v.Layout, uint64(parts[i].ID))
		if parts[i].State != store.Completed {
			v.Unfinished = 1
		}
	}
	for _, w := range s.workers {
		w.Unseen = now.Sub(w.seen)
		v.Workers = append(v.Workers, w.Worker)
	}
	slices.SortFunc(v.Workers, func(a, b store.Worker) int { return cmp.Compare(a.ID, b.ID) })
	return v, nil
}

// Assign gives partitions new owners and generations.
func (s *Seat) Assign(ctx context.Context, term uint64, moves []store.Move) error {
	return s.govern(ctx, "assign", term, func() error {
		for _, m := range moves {
			if owner := s.shared.owners[m.Partition]; owner != m.From {
				return fmt.Errorf("partition %d belongs to %q, not %q: %w", m.Partition, owner, m.From, store.ErrConflict)
			}
		}
		return s.shared.reassign(ctx, moves)
	})
}

// Bury forgets workers and frees their partitions.
func (s *Seat) Bury(ctx context.Context, term uint64, workers []string) error {
	return s.govern(ctx, "bury", term, func() error { return s.shared.forget(ctx, workers) })
}

// Leave is that of the worker itself.
func (s *Seat) Leave(ctx context.Context, worker string) error {
	if err := s.enter(ctx, "leave"); err != nil {
		return err
	}
	defer s.shared.mu.Unlock()
	if s.shared.lease.Holder == worker {
		s.shared.until = time.Time{}
	}
	return s.shared.forget(ctx, []string{worker})
}

func (s *Seat) govern(ctx context.Context, op string, term uint64, do func() error) error {
	if err := s.enter(ctx, op); err != nil {
		return err
	}
	defer s.shared.mu.Unlock()
	if s.shared.lease.Term != term || s.shared.until.Before(s.shared.now()) {
		return fmt.Errorf("term %d is over: %w", term, store.ErrFenced)
	}
	return do()
}

func (s *Shared) forget(ctx context.Context, workers []string) error {
	var moves []store.Move
	for id, owner := range s.owners {
		if slices.Contains(workers, owner) {
			moves = append(moves, store.Move{Partition: id})
		}
	}
	for _, w := range workers {
		delete(s.workers, w)
	}
	slices.SortFunc(moves, func(a, b store.Move) int { return cmp.Compare(a.Partition, b.Partition) })
	return s.reassign(ctx, moves)
}

func (s *Shared) reassign(ctx context.Context, moves []store.Move) error {
	for _, m := range moves {
		if _, err := s.Store.RaiseGeneration(ctx, m.Partition); err != nil {
			return err
		}
		s.owners[m.Partition] = m.To
	}
	if len(moves) > 0 {
		s.assignment++
	}
	return nil
}
