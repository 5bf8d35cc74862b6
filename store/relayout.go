package store

import (
	"errors"
	"fmt"
	"slices"
)

// Relayout replaces the partitions of a computation by others, in one
// transaction (D-13). It waits for the commits in flight of everybody concerned:
// the replaced partitions, which exist no longer afterwards (ErrFenced); their
// producers, whose routing versions it raises, so that what they produce for the
// former layout is ErrConflict; and their consumers, who get new generations if
// Completed partitions are replaced, so that none completes for having seen the
// former ones completed (KV-15).
type Relayout struct {
	Computation string
	// Term is the term of the controller's lease, where several workers share the
	// store; ErrFenced if it is over (D-5).
	Term uint64
	// Replaced are the ids of all partitions of the computation; ErrConflict if
	// it has others by now (D-5).
	Replaced []PartitionID
	// Plan decides, on what the transaction reads, what takes their place. It must
	// not call the store, and may be called again. An error of it is returned as it
	// is, and nothing has changed.
	Plan func(*Former) ([]Successor, error)
}

// Former is what the partitions to be replaced leave behind.
type Former struct {
	// All are all partitions of the pipeline, ordered by id.
	All []Partition
	// Jobs are the replaced partitions with what their epochs committed, ordered
	// by id.
	Jobs []Job
	// Inbox holds every row that waits for one of them, ordered by target, lane
	// and place.
	Inbox []InboxRow
}

// Validate checks what can be said of a relayout without the store.
func (r *Relayout) Validate() error {
	if len(r.Replaced) == 0 {
		return fmt.Errorf("the relayout of %s replaces no partition", r.Computation)
	}
	return nil
}

// Present returns the ids of the computation's partitions, ordered; ErrConflict if
// they are not those to be replaced.
func (r *Relayout) Present(all []Partition) (ids []PartitionID, err error) {
	for i := range all {
		if all[i].Computation == r.Computation {
			ids = append(ids, all[i].ID)
		}
	}
	if slices.Sort(ids); !slices.Equal(ids, slices.Sorted(slices.Values(r.Replaced))) {
		return nil, fmt.Errorf("computation %s has partitions %v, not %v: %w", r.Computation, ids, r.Replaced, ErrConflict)
	}
	return ids, nil
}

// Concerned returns the partitions that the relayout locks: those of the
// computation, those that write to it and those that it writes to, in the order of
// all.
func (r *Relayout) Concerned(all []Partition) []Partition {
	return slices.DeleteFunc(slices.Clone(all), func(p Partition) bool {
		return p.Computation != r.Computation && !p.RoutesTo(r.Computation) && !r.reads(all, &p)
	})
}

// reads tells whether a partition reads what the computation writes.
func (r *Relayout) reads(all []Partition, p *Partition) bool {
	return slices.ContainsFunc(all, func(q Partition) bool { return q.Computation == r.Computation && q.RoutesTo(p.Computation) })
}

// Fenced returns the consumers that get new generations, ordered by id.
func (r *Relayout) Fenced(f *Former) []Partition {
	if !slices.ContainsFunc(f.Jobs, func(j Job) bool { return j.Partition.State == Completed }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(f.All), func(p Partition) bool { return p.Computation == r.Computation || !r.reads(f.All, &p) })
}

// Decide asks the plan, and checks what it says.
func (r *Relayout) Decide(f *Former) ([]Successor, error) {
	next, err := r.Plan(f)
	for i := 0; err == nil && i < len(next); i++ {
		err = next[i].Validate(r.Computation)
	}
	return next, err
}

// NextLayout is the layout version of the successors.
func (f *Former) NextLayout() (layout uint64) {
	for i := range f.Jobs {
		layout = max(layout, f.Jobs[i].Partition.Layout+1)
	}
	return layout
}

// Successor is a partition that takes the place of others. The store gives it an
// id, which is the target of its inbox rows too, the next layout version, and the
// routing of the replaced partition with the smallest id; it has no generation yet
// and is Executing.
type Successor struct {
	Partition Partition
	Visitors  []VisitorRow
	// Report is what the partition begins with telling its consumers, nil for
	// nothing; its partition and layout are set by the store.
	Report *Report
	Totals *Totals
	// Inbox are rows, or parts of rows, of the former inboxes: lane and place stay,
	// and no two rows of a successor have the same. They have nothing consumed.
	Inbox []InboxRow
}

// Validate checks what can be said of a successor without the store.
func (s *Successor) Validate(computation string) error {
	var problems []error
	if err := s.Partition.Validate(); err != nil {
		problems = append(problems, err)
	}
	if s.Partition.Computation != computation || s.Partition.Kind != RangePartition {
		problems = append(problems, fmt.Errorf("it is a partition of %s, kind %d", s.Partition.Computation, s.Partition.Kind))
	}
	seen := map[Place]map[Lane]bool{}
	for i := range s.Inbox {
		r := &s.Inbox[i]
		if r.Count <= 0 || r.Consumed != 0 || seen[r.Place()][r.Lane()] {
			problems = append(problems, fmt.Errorf("inbox row %+v with %d messages, %d of them consumed, is there twice or holds nothing", r.InboxKey, r.Count, r.Consumed))
		}
		if seen[r.Place()] == nil {
			seen[r.Place()] = map[Lane]bool{}
		}
		seen[r.Place()][r.Lane()] = true
	}
	for i := range s.Visitors {
		if err := s.Visitors[i].check(); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("a successor of %s is not valid: %w", computation, err)
	}
	return nil
}
