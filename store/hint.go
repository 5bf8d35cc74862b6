package store

import (
	"context"
	"slices"
)

// Hinter is a store whose workers tell each other what they have committed: soon,
// in few words, and without a promise. Whoever waits for others goes by hints, and
// looks by itself now and then.
type Hinter interface {
	// NextHint waits until there is something to be told, and tells all of it at
	// once. One goroutine at a time may call it. ErrUnavailable: ctx has ended, or
	// the store was closed.
	NextHint(ctx context.Context) (*Hint, error)
	// ReportsOf is Reports of some partitions, such as a hint names.
	ReportsOf(ctx context.Context, ids []PartitionID) ([]Report, error)
}

// Hint says what others have committed since the last one.
type Hint struct {
	// Targets have new inbox rows, Reporters new reports; each ordered, each once.
	Targets, Reporters []PartitionID
	// All: something was missed, or there was too much to be said. Anything may
	// have been committed.
	All bool
}

// Add joins what another hint says.
func (h *Hint) Add(o *Hint) {
	h.All = h.All || o.All
	h.Targets, h.Reporters = union(h.Targets, o.Targets), union(h.Reporters, o.Reporters)
}

// Empty tells whether there is nothing to be told.
func (h *Hint) Empty() bool { return !h.All && len(h.Targets) == 0 && len(h.Reporters) == 0 }

func union(a, b []PartitionID) []PartitionID {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// HintOf says what a commit tells others.
func HintOf(c *Commit) *Hint {
	h := &Hint{}
	targets := make([]PartitionID, len(c.Produced))
	for i := range c.Produced {
		targets[i] = c.Produced[i].Target
	}
	h.Targets = union(nil, targets)
	if c.Report != nil {
		h.Reporters = []PartitionID{c.Partition}
	}
	return h
}
