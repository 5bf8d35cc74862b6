package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// Pipeline returns a copy of the stored pipeline.
func (m *Model) Pipeline(ctx context.Context) (out *store.Pipeline, err error) {
	err = m.do(ctx, func(d *modelData) error {
		if d.pipeline != nil {
			out = d.pipeline.Clone()
		}
		return nil
	})
	return out, err
}

// SavePipeline replaces the stored pipeline if it is the version that p was
// made from.
func (m *Model) SavePipeline(ctx context.Context, p *store.Pipeline) error {
	return m.do(ctx, func(d *modelData) error {
		var stored uint64
		if d.pipeline != nil {
			stored = d.pipeline.Version
		}
		if p.Version != stored {
			return fmt.Errorf("the pipeline has version %d, not %d: %w", stored, p.Version, store.ErrConflict)
		}
		p.Version++
		d.pipeline = p.Clone()
		return nil
	})
}

// Partitions returns copies, ordered by id.
func (m *Model) Partitions(ctx context.Context) (out []store.Partition, err error) {
	err = m.do(ctx, func(d *modelData) error {
		for _, id := range d.ids() {
			out = append(out, clonePartition(d.partitions[id].row))
		}
		return nil
	})
	return out, err
}

func (d *modelData) ids() []store.PartitionID { return slices.Sorted(maps.Keys(d.partitions)) }

// CreatePartitions numbers the partitions.
func (m *Model) CreatePartitions(ctx context.Context, ps []store.Partition) (out []store.Partition, err error) {
	for i := range ps {
		if err := ps[i].Validate(); err != nil {
			return nil, err
		}
	}
	err = m.do(ctx, func(d *modelData) error {
		for _, p := range ps {
			d.lastID++
			p = clonePartition(p)
			p.ID, p.State, p.Generation = d.lastID, store.Executing, 0
			d.partitions[p.ID] = &modelPartition{row: p, visitors: map[visitorKey][]byte{}}
			out = append(out, clonePartition(p))
		}
		return nil
	})
	return out, err
}

// Reports returns copies of the last reports.
func (m *Model) Reports(ctx context.Context) (out []store.Report, err error) {
	err = m.do(ctx, func(d *modelData) error {
		for _, id := range d.ids() {
			if r := d.partitions[id].report; r != nil {
				out = append(out, *cloneReport(r))
			}
		}
		return nil
	})
	return out, err
}

// Totals returns copies of the counters.
func (m *Model) Totals(ctx context.Context) (out []store.PartitionTotals, err error) {
	err = m.do(ctx, func(d *modelData) error {
		for _, id := range d.ids() {
			if t := d.partitions[id].totals; t != nil {
				out = append(out, store.PartitionTotals{Partition: id, Totals: *cloneTotals(t)})
			}
		}
		return nil
	})
	return out, err
}

// Visitors returns a partition's visitor rows.
func (m *Model) Visitors(ctx context.Context, id store.PartitionID) (rows []store.VisitorRow, err error) {
	err = m.do(ctx, func(d *modelData) error {
		p := d.partitions[id]
		if p == nil {
			return fmt.Errorf("there is no partition %d: %w", id, store.ErrFenced)
		}
		rows = p.visitorRows()
		return nil
	})
	return rows, err
}
