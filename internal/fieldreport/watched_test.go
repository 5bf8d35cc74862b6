package fieldreport

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store"
)

// watched is a store that tells the recorder what became durable, and counts
// what it is asked.
type watched struct {
	store.Store
	rec     *flowtest.Recorder
	commits atomic.Int64
	lists   atomic.Int64
	gets    atomic.Int64
	// slowest is how long the longest read took.
	slowest atomic.Int64

	// latency is told how long a message took from push to commit.
	latency func(pushed time.Duration)

	mu     sync.Mutex
	owners map[store.PartitionID]store.Partition
	taken  []message // handled, not committed
}

type message struct {
	key    flow.Key
	pushed time.Duration
}

// handled notes a message whose epoch is to be committed.
func (s *watched) handled(key flow.Key, pushed time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, message{key, pushed})
}

// settled tells the latencies of what is committed now.
func (s *watched) settled(owns func(flow.Key) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = slices.DeleteFunc(s.taken, func(m message) bool {
		mine := owns(m.key)
		if mine {
			s.latency(m.pushed)
		}
		return mine
	})
}

func (s *watched) Commit(ctx context.Context, c *store.Commit) error {
	s.commits.Add(1)
	err := s.Store.Commit(ctx, c)
	if err == nil {
		mine := s.owned(ctx, c.Partition)
		s.rec.Commit(mine)
		s.settled(mine)
	}
	return err
}

func (s *watched) RaiseGeneration(ctx context.Context, id store.PartitionID) (*store.Job, error) {
	j, err := s.Store.RaiseGeneration(ctx, id)
	if err == nil {
		s.rec.Discard(s.owned(ctx, id))
	}
	return j, err
}

func (s *watched) ListStates(ctx context.Context, r store.ListRequest) (*store.ListAnswer, error) {
	s.lists.Add(1)
	began := time.Now()
	a, err := s.Store.ListStates(ctx, r)
	s.slowest.Store(max(s.slowest.Load(), int64(time.Since(began))))
	return a, err
}

func (s *watched) GetStates(ctx context.Context, computation string, keys []string) ([][]store.StateRow, error) {
	s.gets.Add(1)
	return s.Store.GetStates(ctx, computation, keys)
}

// owned accepts the keys of a partition of the keeper; others own none.
func (s *watched) owned(ctx context.Context, id store.PartitionID) func(flow.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.owners[id]
	if !ok {
		p = s.find(ctx, id)
		s.owners[id] = p
	}
	if p.Computation != "keeper" || p.Kind != store.RangePartition {
		return func(flow.Key) bool { return false }
	}
	return owns(p)
}

func (s *watched) find(ctx context.Context, id store.PartitionID) store.Partition {
	parts, err := s.Partitions(context.WithoutCancel(ctx))
	for _, p := range parts {
		if err == nil && p.ID == id {
			return p
		}
	}
	return store.Partition{}
}

func owns(p store.Partition) func(flow.Key) bool {
	return flowtest.HashRange(p.Lower, p.Upper, p.Open)
}
