package pebblestore

import (
	"context"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// fill puts rows, the heads after them, and positions into a batch.
func (cs claims) fill(b *pebble.Batch, rows []store.QueueAppend, positions []store.QueuePosition) {
	at := 0
	for i := range rows {
		r := &rows[i]
		if i == 0 || cs[at].compare(r.Queue, r.Partition) != 0 {
			at, _ = cs.search(r.Queue, r.Partition)
		}
		cs[at].append(b, r)
	}
	for i := range cs {
		if c := &cs[i]; c.appended {
			c.putHead(b)
		}
	}
	for i := range positions {
		p := &positions[i]
		if at, _ := cs.search(p.Queue, p.Partition); cs[at].held != nil {
			putNumber(b, queuePositionKey(cs[at].queue.id, p.Consumer, p.Partition), p.Offset)
		}
	}
}

// append gives the row the next offset.
func (c *claim) append(b *pebble.Batch, r *store.QueueAppend) {
	var head [queueRowHeaderMax]byte
	header := appendQueueRowHeader(head[:0], r.Time, c.head.nextBytes)
	op := b.SetDeferred(queueRowKeyLen, len(header)+len(r.Value))
	appendQueueRowKey(op.Key[:0], c.queue.id, c.partition, c.head.next)
	copy(op.Value[copy(op.Value, header):], r.Value)
	_ = op.Finish() // only batches with an index can fail
	c.head.next++
	c.head.nextBytes += uint64(len(r.Value))
}

func (c *claim) putHead(b *pebble.Batch) {
	put(b, queueHeadKey(c.queue.id, c.partition), appendQueueHead(nil, &c.head))
}

// queueBatchSize estimates from above what rows take in a batch.
func queueBatchSize(rows []store.QueueAppend) int {
	n := 0
	for i := range rows {
		n += queueRowKeyLen + queueRowHeaderMax + len(rows[i].Value) + 16
	}
	return n
}

// applyClaimed makes b durable, as apply does. What it claims is free again as
// soon as b has its place in the log, so that others share its sync.
func (s *Store) applyClaimed(b *pebble.Batch, ts tableClaims, cs claims) error {
	if len(ts) == 0 && len(cs) == 0 {
		return s.apply(b)
	}
	return s.applyPlaced(b, func() {
		cs.publish()
		cs.release()
		ts.release()
	})
}

// applyPlaced makes b durable, as apply does, and calls placed when b has its place
// in the log: whatever is written later is durable only if b is.
func (s *Store) applyPlaced(b *pebble.Batch, placed func()) error {
	if s.opts.NoSync {
		err := s.apply(b)
		placed()
		return err
	}
	err := s.db.ApplyNoSyncWait(b, s.sync)
	if err == nil {
		placed()
		err = b.SyncWait() // b is in use until then, also when the store has failed
	}
	return s.applied(err)
}

// PushQueue appends rows in a transaction of their own.
func (s *Store) PushQueue(ctx context.Context, rows []store.QueueAppend) error {
	if err := store.ValidateAppends(rows); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	cs, err := s.claimQueues(ctx, rows, nil)
	if err != nil || len(rows) == 0 {
		return err
	}
	defer cs.release()
	b := s.db.NewBatchWithSize(1<<10 + queueBatchSize(rows))
	defer b.Close()
	cs.fill(b, rows, nil)
	return s.applyClaimed(b, nil, cs)
}

// TrimQueue removes a range of rows at once; how many there are costs nothing.
func (s *Store) TrimQueue(ctx context.Context, name string, partition int, before uint64) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	c := claim{name: name, partition: partition, appended: true}
	if err := s.lockClaim(ctx, &c); err != nil {
		return err
	}
	cs := claims{c}
	defer cs.release()
	return s.trim(cs, before)
}

func (s *Store) trim(cs claims, before uint64) error {
	c := &cs[0]
	first := c.head.first
	if before = min(before, c.head.next); before <= first {
		return nil
	}
	bytes := c.head.nextBytes
	if before < c.head.next {
		var err error
		if bytes, err = s.bytesBefore(c.queue.id, c.partition, before); err != nil {
			return err
		}
	}
	c.head.first, c.head.firstBytes = before, bytes
	b := s.db.NewBatch()
	defer b.Close()
	_ = b.DeleteRange(queueRowKey(c.queue.id, c.partition, first), queueRowKey(c.queue.id, c.partition, before), nil)
	c.putHead(b)
	return s.applyClaimed(b, nil, cs)
}

// bytesBefore returns the bytes of all values ever appended before a row.
func (s *Store) bytesBefore(id uint64, partition int, offset uint64) (uint64, error) {
	value, err := s.get(queueRowKey(id, partition, offset))
	if value == nil && err == nil {
		err = corrupt("row %d of partition %d of queue %d is missing", offset, partition, id)
	}
	if err != nil {
		return 0, err
	}
	_, bytes, _, err := decodeQueueRow(value)
	return bytes, err
}

// CreateQueue numbers the queue.
func (s *Store) CreateQueue(ctx context.Context, name string, partitions int) error {
	if err := store.ValidateQueue(name, partitions); err != nil {
		return err
	}
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return err
	}
	defer release()
	if q, err := s.queues.get(name); err == nil {
		return q.checkPartitions(partitions)
	}
	q := newQueue(name, s.queues.lastID+1, partitions)
	b := s.db.NewBatch()
	defer b.Close()
	put(b, queueKey(name), binary.AppendUvarint(binary.AppendUvarint(nil, q.id), uint64(partitions)))
	putNumber(b, nameKey(kindCounter, counterQueue), q.id)
	if err := s.apply(b); err != nil {
		return err
	}
	s.queues.lastID = q.id
	s.queues.put(q)
	return nil
}

// DropQueue removes the queue under the locks of all its partitions, so that no
// transaction appends to what is gone.
func (s *Store) DropQueue(ctx context.Context, name string) error {
	release, err := s.enterCatalog(ctx)
	if err != nil {
		return err
	}
	defer release()
	q, err := s.queues.get(name)
	if err != nil {
		return err
	}
	var cs claims
	for i := range q.partitions {
		cs = append(cs, claim{name: name, partition: i, appended: true})
	}
	defer cs.release()
	for i := range cs {
		if err := s.lockClaim(ctx, &cs[i]); err != nil {
			return err
		}
	}
	return s.drop(q, cs)
}

// drop runs with the queue claimed. Who waits for one of its locks finds it
// dropped.
func (s *Store) drop(q *queue, cs claims) error {
	b := s.db.NewBatch()
	defer b.Close()
	remove(b, queueKey(q.name))
	for _, part := range []byte{queueHeads, queuePositions, queueRows} {
		prefix := queuePrefix(part, q.id)
		_ = b.DeleteRange(prefix, upperBound(prefix), nil)
	}
	s.queues.remove(q)
	for _, p := range q.partitions {
		p.dropped = true
	}
	return s.applyClaimed(b, nil, cs)
}
