package storetest

import (
	"context"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// Relayout lets the plan decide on copies, and then replaces.
func (m *Model) Relayout(ctx context.Context, r store.Relayout) (out []store.Partition, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	err = m.do(ctx, func(d *modelData) error {
		former, err := d.former(r)
		if err != nil {
			return err
		}
		next, err := r.Decide(former)
		if err != nil {
			return err
		}
		fenced := r.Fenced(former)
		out = d.replace(r, next)
		for i := range fenced {
			d.raise(d.partitions[fenced[i].ID])
		}
		return nil
	})
	return out, err
}

func (d *modelData) former(r store.Relayout) (*store.Former, error) {
	f := &store.Former{}
	for _, id := range d.ids() {
		p := d.partitions[id]
		f.All = append(f.All, clonePartition(p.row))
		if p.row.Computation == r.Computation {
			f.Jobs = append(f.Jobs, *p.job())
			f.Inbox = append(f.Inbox, d.inboxRows(id)...)
		}
	}
	_, err := r.Present(f.All)
	return f, err
}

func (d *modelData) replace(r store.Relayout, next []store.Successor) (out []store.Partition) {
	var layout uint64
	routing := d.partitions[slices.Min(r.Replaced)].row.Routing
	for _, id := range r.Replaced {
		layout = max(layout, d.partitions[id].row.Layout+1)
		delete(d.partitions, id)
		for _, row := range d.inboxRows(id) {
			delete(d.inbox, row.InboxKey)
		}
	}
	for i := range next {
		d.lastID++
		p := &modelPartition{row: clonePartition(next[i].Partition), visitors: map[visitorKey][]byte{}}
		p.row.ID, p.row.Layout, p.row.State, p.row.Generation = d.lastID, layout, store.Executing, 0
		p.row.Routing = slices.Clone(routing)
		d.succeed(p, &next[i])
		d.partitions[p.row.ID] = p
	}
	for _, id := range d.ids() {
		row := &d.partitions[id].row
		row.Routing = row.Rerouted(r.Computation, layout)
	}
	for i := range next {
		out = append(out, clonePartition(d.partitions[d.lastID-store.PartitionID(len(next)-1-i)].row))
	}
	return out
}

func (d *modelData) succeed(p *modelPartition, s *store.Successor) {
	for _, v := range s.Visitors {
		put(p.visitors, visitorKey{v.Stream, v.Slot}, v.Value)
	}
	if s.Report != nil {
		p.report = cloneReport(s.Report)
		p.report.Partition, p.report.Layout = p.row.ID, p.row.Layout
	}
	if s.Totals != nil {
		p.totals = cloneTotals(s.Totals)
	}
	for _, row := range s.Inbox {
		row.Target, row.Payload = p.row.ID, slices.Clone(row.Payload)
		d.inbox[row.InboxKey] = row
	}
}
