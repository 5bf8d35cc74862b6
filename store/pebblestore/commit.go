package pebblestore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// Commit checks fence, routing and taken rows under the partition's lock, which
// covers all of them: only the partition's own commits remove its inbox rows.
// It then applies one batch, and keeps the lock until that is durable. The locks
// of tables and queues come last.
func (s *Store) Commit(ctx context.Context, c *store.Commit) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	p, err := s.locked(ctx, c.Partition)
	if err != nil {
		return err
	}
	defer p.unlock()
	if err := s.check(p, c); err != nil {
		return err
	}
	b := s.db.NewBatchWithSize(batchSize(c))
	defer b.Close()
	row, err := s.fill(b, p, c)
	if err != nil {
		return err
	}
	if err := s.applyWithOthers(ctx, b, c); err != nil {
		return err
	}
	if row != nil {
		p.row.Store(row)
	}
	if n := len(c.Produced); n > 0 {
		p.lastNumber = c.Produced[n-1].Number
	}
	return nil
}

// applyWithOthers adds what concerns tables and queues, whose locks are taken last
// and in this order (D-25), and makes b durable.
func (s *Store) applyWithOthers(ctx context.Context, b *pebble.Batch, c *store.Commit) error {
	ts, err := s.claimTables(ctx, c.Rows)
	if err != nil {
		return err
	}
	defer ts.release()
	if err := s.fillRows(b, c.Rows); err != nil {
		return err
	}
	cs, err := s.claimQueues(ctx, c.Appended, c.Positions)
	if err != nil {
		return err
	}
	defer cs.release()
	cs.fill(b, c.Appended, c.Positions)
	return s.applyClaimed(b, ts, cs)
}

func (s *Store) check(p *partition, c *store.Commit) error {
	row := p.row.Load()
	switch {
	case c.Generation == 0 || c.Generation != row.Generation:
		return fmt.Errorf("partition %d has generation %d, not %d: %w", row.ID, row.Generation, c.Generation, store.ErrFenced)
	case c.Computation != row.Computation:
		return fmt.Errorf("partition %d belongs to %s, not %s", row.ID, row.Computation, c.Computation)
	case len(c.Produced) > 0 && c.Produced[0].Number <= p.lastNumber:
		return fmt.Errorf("partition %d produces row number %d after %d", row.ID, c.Produced[0].Number, p.lastNumber)
	}
	if err := store.CheckRouting(c.Routing, row.Routing); err != nil {
		return err
	}
	for i := range c.Taken {
		if err := s.checkTake(&c.Taken[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkTake reads the row that is taken (D-9). The payload is not copied.
func (s *Store) checkTake(t *store.InboxTake) error {
	var buf [inboxKeyLen]byte
	row := store.InboxRow{InboxKey: t.Key}
	value, closer, err := s.db.Get(appendInboxKey(buf[:0], &t.Key, partRow))
	if errors.Is(err, pebble.ErrNotFound) {
		return fmt.Errorf("there is no inbox row %+v: %w", t.Key, store.ErrConflict)
	}
	if err != nil {
		return s.classify(err)
	}
	err = decodeInboxRow(&row, value)
	if err = errors.Join(err, closer.Close()); err != nil {
		return s.classify(err)
	}
	prefix, err := s.get(appendInboxKey(buf[:0], &t.Key, partConsumed))
	if err != nil {
		return err
	}
	if prefix != nil {
		n, err := decodeNumber("consumed prefix", prefix)
		if err != nil {
			return err
		}
		row.Consumed = int(n)
	}
	return t.Check(row.Count, row.Consumed)
}

// batchSize estimates the batch from above for states, inbox rows and queue rows,
// which are nearly all of it.
func batchSize(c *store.Commit) int {
	n := 1<<10 + queueBatchSize(c.Appended)
	for i := range c.States {
		w := &c.States[i]
		n += len(w.Key) + len(w.Name) + len(w.Value) + 24
	}
	for i := range c.Produced {
		n += inboxKeyLen + inboxHeaderMax + len(c.Produced[i].Payload) + 16
	}
	for i := range c.Rows {
		n += tableRowSize(&c.Rows[i])
	}
	for i := range c.TimersGone {
		n += 2 * (len(c.TimersGone[i].Key) + len(c.TimersGone[i].Stream) + timerRowMax)
	}
	for i := range c.TimersSet {
		n += 2 * (len(c.TimersSet[i].Key) + len(c.TimersSet[i].Stream) + timerRowMax)
	}
	return n + len(c.Taken)*2*(inboxKeyLen+8)
}

// fill puts the commit into a batch. It returns the partition's row if that
// changes.
func (s *Store) fill(b *pebble.Batch, p *partition, c *store.Commit) (*store.Partition, error) {
	prefix := statePrefix(p.computation)
	for i := range c.States {
		putState(b, prefix, &c.States[i])
	}
	for i := range c.Taken {
		putTake(b, &c.Taken[i])
	}
	for i := range c.Produced {
		putInboxRow(b, &c.Produced[i])
	}
	if err := s.fillTimers(b, p.computation, c); err != nil {
		return nil, err
	}
	if err := s.fillVisitors(b, c); err != nil {
		return nil, err
	}
	if c.Report != nil {
		put(b, partitionKey(kindReport, c.Partition), appendReport(nil, c.Report))
	}
	if c.Offset != nil {
		put(b, partitionKey(kindOffset, c.Partition), c.Offset)
	}
	if c.Position != nil {
		put(b, partitionKey(kindPosition, c.Partition), c.Position)
	}
	if c.Totals != nil {
		put(b, partitionKey(kindTotals, c.Partition), appendTotals(nil, c.Totals))
	}
	if !c.Done {
		return nil, nil
	}
	row := clonePartition(p.row.Load())
	row.State = store.Completed
	put(b, partitionKey(kindPartition, row.ID), appendPartition(nil, &row))
	return &row, nil
}

// putState writes the key where the batch keeps it, without a buffer between.
func putState(b *pebble.Batch, prefix []byte, w *store.StateWrite) {
	n := len(prefix) + len(w.Key) + 1 + len(w.Name)
	var op *pebble.DeferredBatchOp
	if len(w.Value) == 0 {
		op = b.DeleteDeferred(n)
	} else {
		op = b.SetDeferred(n, len(w.Value))
		copy(op.Value, w.Value)
	}
	k := op.Key[copy(op.Key, prefix):]
	k = k[copy(k, w.Key):]
	k[0] = 0
	copy(k[1:], w.Name)
	_ = op.Finish() // only batches with an index can fail
}

func putTake(b *pebble.Batch, t *store.InboxTake) {
	var buf [inboxKeyLen]byte
	if !t.Remove {
		putNumber(b, appendInboxKey(buf[:0], &t.Key, partConsumed), uint64(t.To))
		return
	}
	// See the package's doc for why a row may be deleted this way, and only it.
	_ = b.SingleDelete(appendInboxKey(buf[:0], &t.Key, partRow), nil)
	if t.From > 0 {
		remove(b, appendInboxKey(buf[:0], &t.Key, partConsumed))
	}
}

func putInboxRow(b *pebble.Batch, r *store.InboxRow) {
	var head [inboxHeaderMax]byte
	header := appendInboxHeader(head[:0], r)
	op := b.SetDeferred(inboxKeyLen, len(header)+len(r.Payload))
	appendInboxKey(op.Key[:0], &r.InboxKey, partRow)
	copy(op.Value[copy(op.Value, header):], r.Payload)
	_ = op.Finish()
}

// fillVisitors writes the visitor rows. A partition that is done keeps its pass
// summaries only (KV-37).
func (s *Store) fillVisitors(b *pebble.Batch, c *store.Commit) error {
	for i := range c.Visitors {
		v := &c.Visitors[i]
		key := visitorKey(c.Partition, v.Stream, v.Slot)
		if len(v.Value) == 0 || c.Done && v.Slot != store.SlotSummaries {
			remove(b, key)
		} else {
			put(b, key, v.Value)
		}
	}
	if !c.Done {
		return nil
	}
	return s.scan(partitionKey(kindVisitor, c.Partition), func(key, _ []byte) error {
		_, slot, err := visitorOf(key)
		if err == nil && slot != store.SlotSummaries {
			remove(b, key)
		}
		return err
	})
}

// appendStateKey makes the prefix of a key's rows.
func appendStateKey(dst, prefix []byte, key string) []byte {
	return append(append(append(dst, prefix...), key...), 0)
}

// putNumber stores a counter or a prefix.
func putNumber(b *pebble.Batch, key []byte, n uint64) {
	var buf [binary.MaxVarintLen64]byte
	put(b, key, binary.AppendUvarint(buf[:0], n))
}
