package cluster

import (
	"context"
	"errors"

	"github.com/rondo-flow/rondo/store"
)

// govern decides after every beat while the process holds the lease. It is apart
// from the beats, which go on while a decision waits for locks.
func (m *Member) govern(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.control:
		}
		v, _ := m.View()
		if v.Lease.Holder != m.o.Worker {
			continue
		}
		err := m.decide(ctx, v)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, store.ErrFenced), errors.Is(err, store.ErrConflict):
			m.o.Log.Info("a decision came too late, another follows", "reason", err)
		default:
			m.o.Log.Warn("partitions cannot be assigned", "error", err)
		}
	}
}

// decide carries out one decision. What it is based on is checked again in the
// transactions.
func (m *Member) decide(ctx context.Context, v *store.View) error {
	parts, err := m.store.Partitions(ctx)
	if err != nil {
		return err
	}
	a := Decide(State{Workers: m.heardOf(v), Partitions: parts, Dead: m.o.Lease, Group: m.o.GroupOf})
	if len(a.Bury) > 0 {
		m.o.Log.Warn("workers are silent and taken for dead", "workers", a.Bury, "after", m.o.Lease)
		if err := m.store.Bury(ctx, v.Lease.Term, a.Bury); err != nil {
			return err
		}
	}
	if len(a.Moves) == 0 {
		return nil
	}
	m.o.Log.Info("partitions are assigned", "moves", len(a.Moves), "workers", len(v.Workers)-len(a.Bury))
	return m.store.Assign(ctx, v.Lease.Term, a.Moves)
}

// heardOf are the workers of a view, none of them silent for longer than the view
// says: what happened since is not known, and this process lives.
func (m *Member) heardOf(v *store.View) []store.Worker {
	out := make([]store.Worker, 0, len(v.Workers))
	for _, w := range v.Workers {
		if w.ID == m.o.Worker {
			w.Unseen = 0
		}
		out = append(out, w)
	}
	return out
}
