package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

var _ store.Cluster = (*Store)(nil)

// sessionName is the application_name of a worker's sessions, by which a
// controller ends them.
func sessionName(worker string) string { return "rondo worker " + worker }

// Beat writes the worker's row, and the lease's if it is to be kept or is free.
func (s *Store) Beat(ctx context.Context, b *store.Beat) (view *store.View, err error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		w := &b.Worker
		put := &pgsql.PutWorkerParams{ID: w.ID, WorkerGroup: w.Group, Build: w.Build, Info: notNull(w.Info)}
		if err := s.sql.PutWorker(ctx, tx, put); err != nil {
			return err
		}
		if b.Lease > 0 {
			if err := s.sql.TakeLease(ctx, tx, &pgsql.TakeLeaseParams{Worker: w.ID, Seconds: b.Lease.Seconds()}); err != nil {
				return err
			}
		}
		if view, err = s.look(ctx, tx); err != nil || view.Lease.Holder != w.ID {
			return err
		}
		view.Workers, err = s.workers(ctx, tx, view)
		return err
	})
	if err != nil {
		return nil, err
	}
	return view, nil
}

// View tells what is known of the cluster.
func (s *Store) View(ctx context.Context) (view *store.View, err error) {
	err = s.snapshot(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		if view, err = s.look(ctx, db); err == nil {
			view.Workers, err = s.workers(ctx, db, view)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return view, nil
}

func (s *Store) look(ctx context.Context, db pgsql.DBTX) (*store.View, error) {
	l, err := s.sql.Look(ctx, db)
	if err != nil {
		return nil, err
	}
	return &store.View{
		Now: l.Now.Time.UnixNano(), Lease: store.Lease{Holder: l.Holder, Term: uint64(l.Term)},
		Layout: uint64(l.Layout), Assignment: uint64(l.Assignment), Pipeline: uint64(l.Pipeline),
		Unfinished: int(l.Unfinished),
	}, nil
}

func (s *Store) workers(ctx context.Context, db pgsql.DBTX, v *store.View) (out []store.Worker, err error) {
	workers, err := s.sql.Workers(ctx, db)
	for _, w := range workers {
		out = append(out, store.Worker{
			ID: w.ID, Group: w.WorkerGroup, Build: w.Build, Info: w.Info,
			Unseen: max(time.Unix(0, v.Now).Sub(w.Seen.Time), 0), Joined: w.Joined.Time.UnixNano(),
		})
	}
	return out, err
}

// Assign moves partitions, all or none.
func (s *Store) Assign(ctx context.Context, term uint64, moves []store.Move) error {
	if len(moves) == 0 {
		return nil
	}
	moves = slices.SortedFunc(slices.Values(moves), func(a, b store.Move) int { return cmp.Compare(a.Partition, b.Partition) })
	return s.govern(ctx, term, func(ctx context.Context, tx pgx.Tx) error {
		held, err := s.sql.LockPartitions(ctx, tx, numbers(moves, func(m *store.Move) int64 { return int64(m.Partition) }))
		if err != nil {
			return err
		}
		if len(held) != len(moves) {
			return fmt.Errorf("%d of %d partitions that were to move are no more: %w", len(moves)-len(held), len(moves), store.ErrConflict)
		}
		for i, p := range held {
			if p.Worker != moves[i].From {
				return fmt.Errorf("partition %d belongs to worker %q, not %q: %w", p.ID, p.Worker, moves[i].From, store.ErrConflict)
			}
		}
		return s.reassign(ctx, tx, moves)
	})
}

// Bury ends the sessions first: they may hold the locks that are taken next.
func (s *Store) Bury(ctx context.Context, term uint64, workers []string) error {
	if len(workers) == 0 {
		return nil
	}
	return s.govern(ctx, term, func(ctx context.Context, tx pgx.Tx) error {
		names := make([]string, len(workers))
		for i, w := range workers {
			names[i] = sessionName(w)
		}
		if err := s.sql.EndSessions(ctx, tx, names); err != nil {
			return err
		}
		return s.forget(ctx, tx, workers)
	})
}

// Leave gives back what the worker has.
func (s *Store) Leave(ctx context.Context, worker string) error {
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.sql.FreeLease(ctx, tx, worker); err != nil {
			return err
		}
		return s.forget(ctx, tx, []string{worker})
	})
}

// govern makes a controller's transaction.
func (s *Store) govern(ctx context.Context, term uint64, do func(ctx context.Context, tx pgx.Tx) error) error {
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.sql.Govern(ctx, tx, int64(term)); err != nil {
			return err
		}
		return do(ctx, tx)
	})
}

// forget takes the partitions of workers away, and then the workers.
func (s *Store) forget(ctx context.Context, tx pgx.Tx, workers []string) error {
	held, err := s.sql.LockPartitionsOf(ctx, tx, workers)
	if err != nil {
		return err
	}
	moves := make([]store.Move, len(held))
	for i, id := range held {
		moves[i].Partition = store.PartitionID(id)
	}
	if err := s.reassign(ctx, tx, moves); err != nil {
		return err
	}
	return s.sql.ForgetWorkers(ctx, tx, workers)
}

// reassign gives partitions whose rows are locked new owners and generations.
func (s *Store) reassign(ctx context.Context, tx pgx.Tx, moves []store.Move) error {
	if len(moves) == 0 {
		return nil
	}
	n := int64(len(moves))
	last, err := s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterGeneration, N: n})
	if err != nil {
		return err
	}
	to := pgsql.ReassignParams{}
	for i, m := range moves {
		to.Ids = append(to.Ids, int64(m.Partition))
		to.Workers = append(to.Workers, m.To)
		to.Generations = append(to.Generations, last-n+1+int64(i))
	}
	if err := s.sql.Reassign(ctx, tx, &to); err != nil {
		return err
	}
	_, err = s.sql.Count(ctx, tx, &pgsql.CountParams{Name: counterAssignment, N: 1})
	return err
}

// notNull is an empty value rather than none.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
