package pebblestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// loadQueues reads the heads of all queues.
func (s *Store) loadQueues() error {
	s.queues.byName = map[string]*queue{}
	id, err := s.counter(counterQueue)
	if err != nil {
		return err
	}
	s.queues.lastID = id
	c, err := s.queueCatalog()
	if err != nil {
		return err
	}
	for _, q := range c.byID {
		loaded := newQueue(q.Name, q.ID, len(q.Partitions))
		for i := range c.heads[q.ID] {
			loaded.partitions[i].head.Store(&c.heads[q.ID][i])
		}
		s.queues.byName[q.Name] = loaded
	}
	return nil
}

// Queues reads the stored queues, in one go, so that it is a moment that it
// describes.
func (s *Store) Queues(ctx context.Context) ([]store.Queue, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	c, err := s.queueCatalog()
	if err != nil {
		return nil, err
	}
	var out []store.Queue
	for _, q := range c.byID {
		slices.SortFunc(q.Consumers, func(a, b store.QueuePosition) int {
			return cmp.Or(cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(a.Partition, b.Partition))
		})
		out = append(out, *q)
	}
	slices.SortFunc(out, func(a, b store.Queue) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// queueCatalog is everything stored of queues but their rows.
type queueCatalog struct {
	byID  map[uint64]*store.Queue
	heads map[uint64][]queueHead
}

func (s *Store) queueCatalog() (*queueCatalog, error) {
	c := &queueCatalog{byID: map[uint64]*store.Queue{}, heads: map[uint64][]queueHead{}}
	return c, s.scanRange([]byte{kindQueue}, []byte{kindQueue, queueRows}, c.add)
}

// add takes a row in. The queue itself comes before what belongs to it.
func (c *queueCatalog) add(key, value []byte) error {
	if len(key) < 2 {
		return corrupt("queue key %x is too short", key)
	}
	if key[1] == queueNames {
		return c.addQueue(string(key[2:]), value)
	}
	id, partition, consumer, err := queuePlaceOf(key)
	if err != nil {
		return err
	}
	q := c.byID[id]
	if q == nil || partition >= len(q.Partitions) {
		return corrupt("queue key %x belongs to no queue", key)
	}
	if key[1] == queuePositions {
		offset, err := decodeNumber("position in queue "+q.Name, value)
		q.Consumers = append(q.Consumers, store.QueuePosition{Queue: q.Name, Consumer: consumer, Partition: partition, Offset: offset})
		return err
	}
	head, err := decodeQueueHead(value)
	c.heads[id][partition] = head
	q.Partitions[partition] = store.QueuePartition{First: head.first, Next: head.next, Bytes: int64(head.nextBytes - head.firstBytes)}
	return err
}

func (c *queueCatalog) addQueue(name string, value []byte) error {
	f := fields{rest: value}
	id, partitions := f.uint(), f.uint()
	if err := f.end("queue " + name); err != nil {
		return err
	}
	if err := store.ValidateQueue(name, int(min(partitions, store.MaxQueuePartitions+1))); err != nil {
		return corrupt("a stored queue: %v", err)
	}
	c.byID[id] = &store.Queue{Name: name, ID: id, Partitions: make([]store.QueuePartition, partitions)}
	c.heads[id] = make([]queueHead, partitions)
	return nil
}

// ReadQueue seeks to the first row wanted, so that trimmed ones cost nothing. A
// reader at the end does not reach the database at all.
func (s *Store) ReadQueue(ctx context.Context, r store.QueueRequest) ([]store.QueueRow, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	q, p, err := s.queues.partition(r.Queue, r.Partition)
	if err != nil {
		return nil, err
	}
	if r.ID != 0 && r.ID != q.id {
		return nil, fmt.Errorf("%w: %q with id %d, it has %d", store.ErrNoQueue, r.Queue, r.ID, q.id)
	}
	head := p.head.Load()
	from := max(r.From, head.first)
	if from >= head.next {
		return nil, nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: queueRowKey(q.id, r.Partition, from), UpperBound: queueRowKey(q.id, r.Partition, head.next),
	})
	if err != nil {
		return nil, s.classify(err)
	}
	reader := queueReader{it: it, request: &r, rows: make([]store.QueueRow, 0, queueCapacity(&r, head.next-from))}
	err = reader.read()
	if err := errors.Join(err, it.Close()); err != nil {
		return nil, s.classify(err)
	}
	return reader.rows, nil
}

// queueCapacity guesses how many of the rows that there are a read returns.
func queueCapacity(r *store.QueueRequest, there uint64) uint64 {
	const most = 1024
	if r.MaxRows > 0 {
		there = min(there, uint64(r.MaxRows))
	}
	return min(there, most)
}

type queueReader struct {
	it      *pebble.Iterator
	request *store.QueueRequest
	rows    []store.QueueRow
	bytes   int
	values  arena
}

func (r *queueReader) read() error {
	for ok := r.it.First(); ok; ok = r.it.Next() {
		value, err := r.it.ValueAndErr()
		if err != nil {
			return err
		}
		full, err := r.row(r.it.Key(), value)
		if full || err != nil {
			return err
		}
	}
	return r.it.Error()
}

// row takes one row; true: it belongs to the next read. The first one may lie
// beyond what was asked for: rows were trimmed meanwhile.
func (r *queueReader) row(key, value []byte) (full bool, err error) {
	offset, err := queueOffsetOf(key)
	if err != nil {
		return false, err
	}
	time, _, payload, err := decodeQueueRow(value)
	if err != nil {
		return false, err
	}
	if n := len(r.rows); n > 0 {
		if last := r.rows[n-1].Offset; offset != last+1 {
			return false, corrupt("queue %q, partition %d: row %d follows row %d", r.request.Queue, r.request.Partition, offset, last)
		}
		full = r.request.MaxRows > 0 && n >= r.request.MaxRows ||
			r.request.MaxBytes > 0 && r.bytes+len(payload) > r.request.MaxBytes
		if full {
			return true, nil
		}
	}
	r.bytes += len(payload)
	r.rows = append(r.rows, store.QueueRow{Offset: offset, Time: time, Value: r.values.copy(payload)})
	return false, nil
}
