package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// State is all that a controller decides from.
type State struct {
	Workers    []store.Worker
	Partitions []store.Partition
	// Dead is how long a worker may be silent.
	Dead time.Duration
	// Group is the worker_group of a computation.
	Group func(computation string) string
	// Lacks are what workers cannot run, by their id; as for want of a function.
	Lacks map[string][]engine.Lack
}

// Actions are what a controller does about it. The moves hold once the dead are
// buried, and their partitions have no owner.
type Actions struct {
	Bury  []string
	Moves []store.Move
}

// Decide buries the workers that have been silent for too long, and gives out
// partitions: within a group, no worker that may have more of them has fewer than
// another by more than one, and no partition moves that need not. A worker gives
// away of the computation that it has most partitions of. None gets what it lacks
// something for.
func Decide(s State) Actions {
	var a Actions
	for _, w := range s.Workers {
		if w.Unseen > s.Dead {
			a.Bury = append(a.Bury, w.ID)
		}
	}
	groups := map[string]*group{}
	for name, workers := range s.living() {
		g := &group{loads: map[string]*load{}, lacks: newLacks(workers, s.Lacks)}
		for _, w := range workers {
			g.loads[w.ID] = &load{id: w.ID, parts: map[place][]store.Partition{}}
		}
		groups[name] = g
	}
	for _, p := range s.Partitions {
		if g := groups[s.Group(p.Computation)]; g != nil && p.State != store.Completed {
			g.add(p)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		a.Moves = append(a.Moves, groups[name].balance(a.Bury)...)
	}
	return a
}
