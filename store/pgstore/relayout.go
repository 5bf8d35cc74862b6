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
		if n := concerned(former.All, r.Computation); n != len(held) {
			return fmt.Errorf("%d partitions concern computation %s, not %d as before: %w", n, r.Computation, len(held), store.ErrConflict)
		}
		next, err := plan(r, former)
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

// concerned counts the partitions of a computation and those that write to it.
func concerned(all []store.Partition, computation string) (n int) {
	for i := range all {
		if all[i].Computation == computation || routesTo(&all[i], computation) {
			n++
		}
	}
	return n
}

func routesTo(p *store.Partition, computation string) bool {
	return slices.ContainsFunc(p.Routing, func(r store.Route) bool { return r.Computation == computation })
}

func plan(r store.Relayout, former *store.Former) ([]store.Successor, error) {
	next, err := r.Plan(former)
	for i := range next {
		if err != nil {
			break
		}
		err = next[i].Validate(r.Computation)
	}
	return next, err
}

// former reads what the replaced partitions leave behind.
func (s *Store) former(ctx context.Context, tx pgsql.DBTX, r store.Relayout) (*store.Former, error) {
	all, err := s.partitions(ctx, tx)
	if err != nil {
		return nil, err
	}
	f := &store.Former{All: all}
	var present []store.PartitionID
	for i := range all {
		if all[i].Computation == r.Computation {
			present = append(present, all[i].ID)
		}
	}
	if !slices.Equal(present, slices.Sorted(slices.Values(r.Replaced))) {
		return nil, fmt.Errorf("computation %s has partitions %v, not %v: %w", r.Computation, present, r.Replaced, store.ErrConflict)
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
	layout := uint64(0)
	for i := range f.Jobs {
		layout = max(layout, f.Jobs[i].Partition.Layout+1)
	}
	if err := s.sql.DeletePartitions(ctx, tx, idsOf(r.Replaced)); err != nil {
		return nil, err
	}
	if err := s.reroute(ctx, tx, f, r.Computation, layout); err != nil {
		return nil, err
	}
	rows := make([]store.Partition, len(next))
	for i := range next {
		rows[i] = next[i].Partition
		rows[i].Layout, rows[i].Routing = layout, routed(f.Jobs[0].Partition.Routing, r.Computation, layout)
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
		if p.Computation == computation || !routesTo(p, computation) {
			continue
		}
		layouts := layoutsOf(routed(p.Routing, computation, layout))
		if err := s.sql.SetRouting(ctx, tx, &pgsql.SetRoutingParams{ID: int64(p.ID), RoutingLayouts: layouts}); err != nil {
			return err
		}
	}
	return nil
}

func routed(routes []store.Route, computation string, layout uint64) []store.Route {
	out := slices.Clone(routes)
	for i := range out {
		if out[i].Computation == computation {
			out[i].Layout = layout
		}
	}
	return out
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
