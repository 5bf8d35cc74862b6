package pgstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// Relayout locks the rows of the replaced partitions and of their producers, in id
// order, and then the counter of partitions, until it is committed (D-12, D-13).
func (s *Store) Relayout(ctx context.Context, r store.Relayout) (out []store.Partition, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(ctx context.Context, tx pgsql.DBTX) error {
		held, err := s.sql.LockConcerned(ctx, tx, []byte(r.Computation))
		if err != nil {
			return err
		}
		if _, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterPartition, N: 0}); err != nil {
			return err
		}
		former, err := s.former(ctx, tx, r)
		if err != nil {
			return err
		}
		if n := len(r.Concerned(former.All)); n != len(held) {
			return fmt.Errorf("%d partitions concern computation %s, not %d as before: %w", n, r.Computation, len(held), store.ErrConflict)
		}
		next, err := r.Decide(former)
		if err != nil {
			return &callersError{err}
		}
		out, err = s.replace(ctx, tx, r, former, next)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// former reads what the replaced partitions leave behind.
func (s *Store) former(ctx context.Context, tx pgsql.DBTX, r store.Relayout) (*store.Former, error) {
	all, err := s.partitions(ctx, tx)
	if err != nil {
		return nil, err
	}
	f := &store.Former{All: all}
	present, err := r.Present(all)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Computation != r.Computation {
			continue
		}
		p.Routing = slices.Clone(p.Routing)
		job, err := s.job(ctx, tx, p)
		if err != nil {
			return nil, err
		}
		f.Jobs = append(f.Jobs, *job)
	}
	rows, err := s.sql.AllInboxRows(ctx, tx, idsOf(present))
	for i := range rows {
		f.Inbox = append(f.Inbox, inboxRowOf(&rows[i]))
	}
	return f, err
}

func idsOf(ids []store.PartitionID) []int64 {
	return numbers(ids, func(id *store.PartitionID) int64 { return int64(*id) })
}

// replace writes the new layout.
func (s *Store) replace(ctx context.Context, tx pgsql.DBTX, r store.Relayout, f *store.Former, next []store.Successor) ([]store.Partition, error) {
	layout := f.NextLayout()
	if err := s.sql.DeletePartitions(ctx, tx, idsOf(r.Replaced)); err != nil {
		return nil, err
	}
	if err := s.reroute(ctx, tx, f, r.Computation, layout); err != nil {
		return nil, err
	}
	rows := make([]store.Partition, len(next))
	for i := range next {
		rows[i] = next[i].Partition
		rows[i].Layout, rows[i].Routing = layout, f.Jobs[0].Partition.Rerouted(r.Computation, layout)
	}
	made, err := s.create(ctx, tx, rows)
	for i := range made {
		if err == nil {
			err = s.succeed(ctx, tx, &made[i], &next[i])
		}
	}
	return made, err
}

// reroute raises the routing version of everybody who writes to the computation
// and stays.
func (s *Store) reroute(ctx context.Context, tx pgsql.DBTX, f *store.Former, computation string, layout uint64) error {
	for i := range f.All {
		p := &f.All[i]
		if p.Computation == computation || !p.RoutesTo(computation) {
			continue
		}
		layouts := layoutsOf(p.Rerouted(computation, layout))
		if err := s.sql.SetRouting(ctx, tx, &pgsql.SetRoutingParams{ID: int64(p.ID), RoutingLayouts: layouts}); err != nil {
			return err
		}
	}
	return nil
}

// succeed writes what a partition begins with.
func (s *Store) succeed(ctx context.Context, tx pgsql.DBTX, p *store.Partition, n *store.Successor) error {
	if err := putVisitors(ctx, s.sql, tx, p.ID, n.Visitors); err != nil {
		return err
	}
	head := &pgsql.RecordEpochParams{Partition: int64(p.ID)}
	if n.Report != nil {
		report := *n.Report
		report.Layout = p.Layout
		setReport(head, &report)
	}
	if n.Totals != nil {
		setTotals(head, n.Totals)
	}
	if err := s.sql.RecordEpoch(ctx, tx, head); err != nil || len(n.Inbox) == 0 {
		return err
	}
	rows := slices.Clone(n.Inbox)
	for i := range rows {
		rows[i].Target = p.ID
	}
	return putInbox(ctx, s.sql, tx, rows)
}
