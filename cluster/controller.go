package cluster

import (
	"context"
	"errors"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// govern decides after every beat while the process holds the lease. It is apart
// from the beats, which go on while a decision waits for locks.
func (m *Member) govern(ctx context.Context, groupOf func(string) string) {
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
		err := m.decide(ctx, v, groupOf)
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
func (m *Member) decide(ctx context.Context, v *store.View, groupOf func(string) string) error {
	parts, err := m.store.Partitions(ctx)
	if err != nil {
		return err
	}
	a := Decide(State{Workers: m.witnessed(v), Partitions: parts, Dead: m.o.Lease, Group: groupOf})
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

// witnessed are the workers of a view, none of them silent for longer than this
// process has been there to hear them: while the store did not answer, nobody could
// be heard.
func (m *Member) witnessed(v *store.View) []store.Worker {
	m.mu.Lock()
	there := m.steady.since()
	m.mu.Unlock()
	out := slices.Clone(v.Workers)
	for i := range out {
		out[i].Unseen = min(out[i].Unseen, there)
	}
	return out
}
