package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// Commit checks everything, then applies everything.
func (m *Model) Commit(ctx context.Context, c *store.Commit) error {
	if err := c.Validate(); err != nil {
		return err
	}
	return m.do(ctx, func(d *modelData) error {
		p, err := d.check(c)
		if err == nil {
			d.apply(p, c)
		}
		return err
	})
}

func (d *modelData) check(c *store.Commit) (*modelPartition, error) {
	p, err := d.partition(c.Partition)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Generation == 0 || c.Generation != p.row.Generation:
		return nil, fmt.Errorf("partition %d has generation %d, not %d: %w", c.Partition, p.row.Generation, c.Generation, store.ErrFenced)
	case c.Computation != p.row.Computation:
		return nil, fmt.Errorf("partition %d belongs to %s, not %s", c.Partition, p.row.Computation, c.Computation)
	case len(c.Produced) > 0 && c.Produced[0].Number <= p.lastNumber:
		return nil, fmt.Errorf("partition %d produces row number %d after %d", c.Partition, c.Produced[0].Number, p.lastNumber)
	}
	if err := store.CheckRouting(c.Routing, p.row.Routing); err != nil {
		return nil, err
	}
	if err := d.checkTaken(c.Taken); err != nil {
		return nil, err
	}
	if err := d.checkRows(c.Rows); err != nil {
		return nil, err
	}
	return p, d.checkAppends(c.Appended)
}

func (d *modelData) checkTaken(taken []store.InboxTake) error {
	for i := range taken {
		t := &taken[i]
		row, ok := d.inbox[t.Key]
		if !ok {
			return fmt.Errorf("there is no inbox row %+v: %w", t.Key, store.ErrConflict)
		}
		if err := t.Check(row.Count, row.Consumed); err != nil {
			return err
		}
	}
	return nil
}

func (d *modelData) apply(p *modelPartition, c *store.Commit) {
	for _, w := range c.States {
		put(d.states, stateKey{c.Computation, w.Key, w.Name}, w.Value)
	}
	d.applyTimers(c)
	for _, v := range c.Visitors {
		put(p.visitors, visitorKey{v.Stream, v.Slot}, v.Value)
	}
	for _, t := range c.Taken {
		row := d.inbox[t.Key]
		row.Consumed = t.To
		d.inbox[t.Key] = row
		if t.Remove {
			delete(d.inbox, t.Key)
		}
	}
	for _, r := range c.Produced {
		r.Payload = slices.Clone(r.Payload)
		d.inbox[r.InboxKey] = r
		p.lastNumber = r.Number
	}
	d.writeRows(c.Rows)
	d.appendRows(c.Appended)
	d.setPositions(c.Positions)
	p.applyHead(c)
}

func (p *modelPartition) applyHead(c *store.Commit) {
	if c.Report != nil {
		p.report = cloneReport(c.Report)
	}
	if c.Offset != nil {
		p.offset = slices.Clone(c.Offset)
	}
	if c.Position != nil {
		p.position = slices.Clone(c.Position)
	}
	if c.Totals != nil {
		p.totals = cloneTotals(c.Totals)
	}
	if c.Done {
		p.row.State = store.Completed
		for k := range p.visitors {
			if k.slot != store.SlotSummaries {
				delete(p.visitors, k)
			}
		}
	}
}

// put stores a copy of value; an empty one is the absence of the row.
func put[K comparable](rows map[K][]byte, key K, value []byte) {
	if len(value) == 0 {
		delete(rows, key)
		return
	}
	rows[key] = slices.Clone(value)
}

// RaiseGeneration gives the partition the next generation.
func (m *Model) RaiseGeneration(ctx context.Context, id store.PartitionID) (job *store.Job, err error) {
	err = m.do(ctx, func(d *modelData) error {
		p, err := d.partition(id)
		if err != nil {
			return err
		}
		d.raise(p)
		job = p.job()
		return nil
	})
	return job, err
}

func (d *modelData) raise(p *modelPartition) {
	d.lastGeneration++
	p.row.Generation, p.lastNumber = d.lastGeneration, 0
}

func (p *modelPartition) job() *store.Job {
	j := &store.Job{Partition: clonePartition(p.row), Offset: p.offset, Position: p.position}
	j.Visitors = p.visitorRows()
	if p.report != nil {
		j.Report = cloneReport(p.report)
	}
	if p.totals != nil {
		j.Totals = *cloneTotals(p.totals)
	}
	return j
}

func (p *modelPartition) visitorRows() (rows []store.VisitorRow) {
	for k, v := range p.visitors {
		rows = append(rows, store.VisitorRow{Stream: k.stream, Slot: k.slot, Value: v})
	}
	slices.SortFunc(rows, func(a, b store.VisitorRow) int {
		return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Slot, b.Slot))
	})
	return rows
}

func clonePartition(p store.Partition) store.Partition {
	p.Routing = slices.Clone(p.Routing)
	return p
}

func cloneReport(r *store.Report) *store.Report {
	c := *r
	c.Streams, c.LastRows = slices.Clone(r.Streams), slices.Clone(r.LastRows)
	return &c
}

func cloneTotals(t *store.Totals) *store.Totals {
	c := *t
	c.Counts = slices.Clone(t.Counts)
	return &c
}
