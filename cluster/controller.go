package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/rondo-flow/rondo/engine"
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

// decided is what the last decision was based on, and what it left undone.
type decided struct {
	view     store.View
	state    State
	at       instant
	moved    bool // a next one may be due
	stranded map[string]string
}

// due tells whether there is anything to decide anew: nobody has come, gone or grown
// silent, and no partition has another owner. Partitions that are completed show
// after a lease at the latest.
func (d *decided) due(v *store.View, s *State) bool {
	sameView := v.Lease == d.view.Lease && v.Layout == d.view.Layout && v.Assignment == d.view.Assignment
	sameWorkers := slices.EqualFunc(s.Workers, d.state.Workers, func(a, b store.Worker) bool {
		return a.ID == b.ID && (a.Unseen > s.Dead) == (b.Unseen > s.Dead)
	}) && maps.EqualFunc(s.Lacks, d.state.Lacks, slices.Equal)
	return d.moved || !sameView || !sameWorkers || d.at.since() > s.Dead
}

// decide carries out one decision. What it is based on is checked again in the
// transactions.
func (m *Member) decide(ctx context.Context, v *store.View, groupOf func(string) string) error {
	s := State{Workers: m.witnessed(v), Dead: m.o.Lease, Group: groupOf, Lacks: told(v.Workers)}
	if !m.decided.due(v, &s) {
		return nil
	}
	parts, err := m.store.Partitions(ctx)
	if err != nil {
		return err
	}
	s.Partitions = parts
	a := Decide(s)
	before := m.decided.stranded
	s.Partitions = nil // they are many
	m.decided = decided{*v, s, now(), true, Stranded(State{s.Workers, parts, s.Dead, groupOf, s.Lacks})}
	for _, c := range newlyStranded(before, m.decided.stranded) {
		m.o.Log.Error("a computation stands still", "computation", c, "reason", m.decided.stranded[c])
	}
	if len(a.Bury) > 0 {
		m.o.Log.Warn("workers are silent and taken for dead", "workers", a.Bury, "after", m.o.Lease)
		if err := m.store.Bury(ctx, v.Lease.Term, a.Bury); err != nil {
			return err
		}
	}
	if len(a.Moves) > 0 {
		m.o.Log.Info("partitions are assigned", "moves", len(a.Moves), "workers", len(v.Workers)-len(a.Bury))
		return m.store.Assign(ctx, v.Lease.Term, a.Moves)
	}
	m.decided.moved = len(a.Bury) > 0
	return nil
}

// told is what workers say that they lack. What cannot be read was written by
// another version, and is nothing.
func told(workers []store.Worker) map[string][]engine.Lack {
	out := map[string][]engine.Lack{}
	for _, w := range workers {
		if info, err := InfoOf(&w); err == nil && len(info.Lacks) > 0 {
			out[w.ID] = info.Lacks
		}
	}
	return out
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
