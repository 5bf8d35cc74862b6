package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

type modelQueue struct {
	id         uint64
	partitions []modelQueuePartition
	positions  map[positionKey]uint64
}

// modelQueuePartition keeps the rows from first on.
type modelQueuePartition struct {
	first uint64
	rows  []store.QueueRow
}

type positionKey struct {
	consumer  string
	partition int
}

func (q *modelQueue) clone() *modelQueue {
	c := modelQueue{id: q.id, positions: maps.Clone(q.positions), partitions: slices.Clone(q.partitions)}
	for i := range c.partitions {
		c.partitions[i].rows = slices.Clone(c.partitions[i].rows)
	}
	return &c
}

func (d *modelData) queue(name string) (*modelQueue, error) {
	if q := d.queues[name]; q != nil {
		return q, nil
	}
	return nil, fmt.Errorf("%w: %q", store.ErrNoQueue, name)
}

func (d *modelData) queuePartition(name string, partition int) (*modelQueuePartition, error) {
	q, err := d.queue(name)
	if err != nil {
		return nil, err
	}
	if partition < 0 || partition >= len(q.partitions) {
		return nil, fmt.Errorf("%w: partition %d of %q, which has %d", store.ErrNoQueue, partition, name, len(q.partitions))
	}
	return &q.partitions[partition], nil
}

// CreateQueue numbers the queue.
func (m *Model) CreateQueue(ctx context.Context, name string, partitions int) error {
	if err := store.ValidateQueue(name, partitions); err != nil {
		return err
	}
	return m.do(ctx, func(d *modelData) error {
		if q := d.queues[name]; q == nil {
			d.lastQueue++
			d.queues[name] = &modelQueue{
				id: d.lastQueue, partitions: make([]modelQueuePartition, partitions), positions: map[positionKey]uint64{},
			}
		} else if n := len(q.partitions); n != partitions {
			return fmt.Errorf("queue %q has %d partitions, not %d: %w", name, n, partitions, store.ErrConflict)
		}
		return nil
	})
}

// DropQueue forgets the queue.
func (m *Model) DropQueue(ctx context.Context, name string) error {
	return m.do(ctx, func(d *modelData) error {
		_, err := d.queue(name)
		delete(d.queues, name)
		return err
	})
}

// Queues describes all queues.
func (m *Model) Queues(ctx context.Context) (out []store.Queue, err error) {
	err = m.do(ctx, func(d *modelData) error {
		for _, name := range slices.Sorted(maps.Keys(d.queues)) {
			out = append(out, d.queues[name].describe(name))
		}
		return nil
	})
	return out, err
}

func (q *modelQueue) describe(name string) store.Queue {
	out := store.Queue{Name: name, ID: q.id}
	for _, p := range q.partitions {
		described := store.QueuePartition{First: p.first, Next: p.next()}
		for _, row := range p.rows {
			described.Bytes += int64(len(row.Value))
		}
		out.Partitions = append(out.Partitions, described)
	}
	for k, offset := range q.positions {
		out.Consumers = append(out.Consumers, store.QueuePosition{Queue: name, Consumer: k.consumer, Partition: k.partition, Offset: offset})
	}
	slices.SortFunc(out.Consumers, func(a, b store.QueuePosition) int {
		return cmp.Or(cmp.Compare(a.Consumer, b.Consumer), cmp.Compare(a.Partition, b.Partition))
	})
	return out
}

func (p *modelQueuePartition) next() uint64 { return p.first + uint64(len(p.rows)) }

// ReadQueue takes rows as long as the limits allow.
func (m *Model) ReadQueue(ctx context.Context, r store.QueueRequest) (out []store.QueueRow, err error) {
	err = m.do(ctx, func(d *modelData) error {
		p, err := d.queuePartition(r.Queue, r.Partition)
		if err != nil {
			return err
		}
		if id := d.queues[r.Queue].id; r.ID != 0 && r.ID != id {
			return fmt.Errorf("%w: %q with id %d, it has %d", store.ErrNoQueue, r.Queue, r.ID, id)
		}
		bytes := 0
		for _, row := range p.rows {
			if row.Offset < r.From {
				continue
			}
			bytes += len(row.Value)
			if n := len(out); n > 0 && (r.MaxRows > 0 && n >= r.MaxRows || r.MaxBytes > 0 && bytes > r.MaxBytes) {
				break
			}
			out = append(out, row)
		}
		return nil
	})
	return out, err
}

// PushQueue appends the rows if the queues are there.
func (m *Model) PushQueue(ctx context.Context, rows []store.QueueAppend) error {
	if err := store.ValidateAppends(rows); err != nil {
		return err
	}
	return m.do(ctx, func(d *modelData) error {
		err := d.checkAppends(rows)
		if err == nil {
			d.appendRows(rows)
		}
		return err
	})
}

func (d *modelData) checkAppends(rows []store.QueueAppend) error {
	for i := range rows {
		if _, err := d.queuePartition(rows[i].Queue, rows[i].Partition); err != nil {
			return err
		}
	}
	return nil
}

// appendRows appends rows for partitions that are there.
func (d *modelData) appendRows(rows []store.QueueAppend) {
	for _, r := range rows {
		p := &d.queues[r.Queue].partitions[r.Partition]
		p.rows = append(p.rows, store.QueueRow{Offset: p.next(), Time: r.Time, Value: slices.Clone(r.Value)})
	}
}

func (d *modelData) setPositions(positions []store.QueuePosition) {
	for _, p := range positions {
		if _, err := d.queuePartition(p.Queue, p.Partition); err == nil {
			d.queues[p.Queue].positions[positionKey{p.Consumer, p.Partition}] = p.Offset
		}
	}
}

// TrimQueue forgets rows.
func (m *Model) TrimQueue(ctx context.Context, name string, partition int, before uint64) error {
	return m.do(ctx, func(d *modelData) error {
		p, err := d.queuePartition(name, partition)
		if err != nil {
			return err
		}
		if before = min(before, p.next()); before > p.first {
			p.rows = slices.Clone(p.rows[before-p.first:])
			p.first = before
		}
		return nil
	})
}
