package pgstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// Relayout locks the rows of all partitions that it concerns, in id order, and then the counter of partitions, until it is committed (D-12, D-13).
func (s *Store) Relayout(ctx context.Context, r store.Relayout) (out []store.Partition, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	err = s.lay(ctx, r.Term, func(ctx context.Context, tx pgx.Tx) error {
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

// lay is a controller's transaction, or that of a process which has the store for
// itself and needs no lease.
func (s *Store) lay(ctx context.Context, term uint64, do func(ctx context.Context, tx pgx.Tx) error) error {
	if s.opts.Worker == "" {
		return s.change(ctx, do)
	}
	return s.govern(ctx, term, do)
}

// former reads what the replaced partitions leave behind.
func (s *Store) former(ctx context.Context, tx pgx.Tx, r store.Relayout) (*store.Former, error) {
	all, err := s.partitions(ctx, tx)
	if err != nil {
		return nil, err
	}
	f := &store.Former{All: all}
	present, err := r.Present(all)
	if err != nil {
		return nil, err
	}
	replaced := slices.DeleteFunc(slices.Clone(all), func(p store.Partition) bool { return p.Computation != r.Computation })
	for i := range replaced {
		replaced[i].Routing = slices.Clone(replaced[i].Routing)
	}
	if f.Jobs, err = s.jobs(ctx, tx, replaced); err != nil {
		return nil, err
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
func (s *Store) replace(ctx context.Context, tx pgx.Tx, r store.Relayout, f *store.Former, next []store.Successor) ([]store.Partition, error) {
	layout := f.NextLayout()
	if err := s.sql.DeletePartitions(ctx, tx, idsOf(r.Replaced)); err != nil {
		return nil, err
	}
	rows := make([]store.Partition, len(next))
	for i := range next {
		rows[i] = next[i].Partition
		rows[i].Layout, rows[i].Routing = layout, f.Jobs[0].Partition.Rerouted(r.Computation, layout)
	}
	made, err := s.create(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	if err := s.fence(ctx, tx, r.Fenced(f)); err != nil {
		return nil, err
	}
	e := &epoch{}
	s.reroute(ctx, e, f, r.Computation, layout)
	for i := range made {
		s.succeed(ctx, e, &made[i], &next[i])
	}
	return made, e.in(ctx, tx)
}

// fence raises the generations of partitions, whose rows are locked.
func (s *Store) fence(ctx context.Context, tx pgx.Tx, ps []store.Partition) error {
	stay := make([]store.Move, len(ps))
	for i, p := range ps {
		stay[i] = store.Move{Partition: p.ID, From: p.Worker, To: p.Worker}
	}
	return s.reassign(ctx, tx, stay)
}

// reroute raises the routing version of everybody who writes to the computation
// and stays.
func (s *Store) reroute(ctx context.Context, e *epoch, f *store.Former, computation string, layout uint64) {
	for i := range f.All {
		p := &f.All[i]
		if p.Computation == computation || !p.RoutesTo(computation) {
			continue
		}
		layouts := layoutsOf(p.Rerouted(computation, layout))
		_ = s.sql.SetRouting(ctx, e, &pgsql.SetRoutingParams{ID: int64(p.ID), RoutingLayouts: layouts})
	}
}

// succeed writes what a partition begins with.
func (s *Store) succeed(ctx context.Context, e *epoch, p *store.Partition, n *store.Successor) {
	putVisitors(ctx, s.sql, e, p.ID, n.Visitors)
	head := &pgsql.RecordEpochParams{Partition: int64(p.ID)}
	if n.Report != nil {
		report := *n.Report
		report.Layout = p.Layout
		setReport(head, &report)
	}
	if n.Totals != nil {
		setTotals(head, n.Totals)
	}
	_ = s.sql.RecordEpoch(ctx, e, head)
	if len(n.Inbox) == 0 {
		return
	}
	rows := slices.Clone(n.Inbox)
	for i := range rows {
		rows[i].Target = p.ID
	}
	putInbox(ctx, s.sql, e, rows)
}
