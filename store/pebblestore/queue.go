package pebblestore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rondo-flow/rondo/store"
)

// queues are the queues in memory. The map is guarded by mu; a queue that is in
// it does not change, its partitions do.
type queues struct {
	mu     sync.RWMutex
	byName map[string]*queue
	lastID uint64 // guarded by the catalog
}

type queue struct {
	name       string
	id         uint64
	partitions []*queuePartition
}

// queuePartition is the place where rows are appended.
type queuePartition struct {
	// lock is held while a transaction gives out offsets and gets its place in
	// the log, and not over the sync: what is appended next comes later in the
	// log, so it is never durable without what is before it.
	lock chan struct{}
	// dropped is guarded by lock.
	dropped bool
	// head is replaced under lock and read without it.
	head atomic.Pointer[queueHead]
}

// queueHead says which rows there are: those in [first, next). The bytes of all
// values that were ever appended before those offsets are firstBytes and
// nextBytes.
type queueHead struct {
	first, next           uint64
	firstBytes, nextBytes uint64
}

func newQueue(name string, id uint64, partitions int) *queue {
	q := &queue{name: name, id: id, partitions: make([]*queuePartition, partitions)}
	for i := range q.partitions {
		q.partitions[i] = &queuePartition{lock: make(chan struct{}, 1)}
		q.partitions[i].head.Store(&queueHead{})
	}
	return q
}

func (qs *queues) get(name string) (*queue, error) {
	qs.mu.RLock()
	defer qs.mu.RUnlock()
	if q := qs.byName[name]; q != nil {
		return q, nil
	}
	return nil, fmt.Errorf("%w: %q", store.ErrNoQueue, name)
}

func (qs *queues) put(q *queue) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.byName[q.name] = q
}

func (qs *queues) remove(q *queue) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	delete(qs.byName, q.name)
}

func (qs *queues) partition(name string, partition int) (*queue, *queuePartition, error) {
	q, err := qs.get(name)
	if err != nil {
		return nil, nil, err
	}
	if partition < 0 || partition >= len(q.partitions) {
		return nil, nil, fmt.Errorf("%w: partition %d of %q, which has %d", store.ErrNoQueue, partition, name, len(q.partitions))
	}
	return q, q.partitions[partition], nil
}

// claim is a queue partition that a transaction holds, with the head it will
// have.
type claim struct {
	name      string
	partition int
	queue     *queue
	held      *queuePartition
	head      queueHead
	appended  bool
}

func (c *claim) compare(name string, partition int) int {
	return cmp.Or(strings.Compare(c.name, name), cmp.Compare(c.partition, partition))
}

// claims are the queue partitions of a transaction, in the order in which they
// are locked (D-25).
type claims []claim

func (cs claims) search(name string, partition int) (int, bool) {
	return slices.BinarySearchFunc(cs, struct{}{}, func(c claim, _ struct{}) int { return c.compare(name, partition) })
}

// claimQueues locks the partitions that rows are appended to, and those that
// positions are in. The caller releases them.
func (s *Store) claimQueues(ctx context.Context, rows []store.QueueAppend, positions []store.QueuePosition) (claims, error) {
	var cs claims
	for i := range rows {
		if r := &rows[i]; i == 0 || r.Partition != rows[i-1].Partition || r.Queue != rows[i-1].Queue {
			cs.add(r.Queue, r.Partition, true)
		}
	}
	for i := range positions {
		cs.add(positions[i].Queue, positions[i].Partition, false)
	}
	for i := range cs {
		if err := s.lockClaim(ctx, &cs[i]); err != nil {
			cs.release()
			return nil, err
		}
	}
	return cs, nil
}

func (cs *claims) add(name string, partition int, appended bool) {
	i, found := cs.search(name, partition)
	if !found {
		*cs = slices.Insert(*cs, i, claim{name: name, partition: partition})
	}
	(*cs)[i].appended = (*cs)[i].appended || appended
}

// lockClaim locks one partition. One that is not there is an error only if rows
// are to be appended to it.
func (s *Store) lockClaim(ctx context.Context, c *claim) error {
	q, p, err := s.queues.partition(c.name, c.partition)
	if err == nil {
		if err := hold(ctx, p.lock); err != nil {
			return err
		}
		if !p.dropped {
			c.queue, c.held, c.head = q, p, *p.head.Load()
			return nil
		}
		<-p.lock
		err = fmt.Errorf("%w: %q", store.ErrNoQueue, c.name)
	}
	if !c.appended {
		return nil
	}
	return err
}

// publish lets others see the new heads.
func (cs claims) publish() {
	for i := range cs {
		if c := &cs[i]; c.appended {
			head := c.head
			c.held.head.Store(&head)
		}
	}
}

// release unlocks what is held. It may be called again.
func (cs claims) release() {
	for i := range cs {
		if cs[i].held != nil {
			<-cs[i].held.lock
			cs[i].held = nil
		}
	}
}
