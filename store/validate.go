package store

import (
	"errors"
	"fmt"
	"strings"
)

// Validate checks what can be said of a commit without the store: that it
// speaks of its own partition and generation only, and that rows, takes and
// names have the form that this package promises. All problems are reported.
// Stores call it first, so that a defect of a caller never reaches the data.
func (c *Commit) Validate() error {
	var problems []error
	add := func(err error) {
		if err != nil {
			problems = append(problems, err)
		}
	}
	add(c.checkHead())
	for i := range c.States {
		add(checkName("state", c.States[i].Name))
	}
	add(c.checkTimers())
	for i := range c.Visitors {
		add(c.Visitors[i].check())
	}
	seen := make(map[InboxKey]bool, len(c.Taken))
	for i := range c.Taken {
		add(c.checkTake(&c.Taken[i], seen))
	}
	var last uint64
	for i := range c.Produced {
		add(c.checkProduced(&c.Produced[i], last))
		last = c.Produced[i].Number
	}
	add(ValidateAppends(c.Appended))
	add(ValidateRows(c.Rows))
	for i := range c.Positions {
		add(c.Positions[i].check())
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("commit of partition %d, generation %d is not valid: %w", c.Partition, c.Generation, err)
	}
	return nil
}

func (c *Commit) checkHead() error {
	switch r := c.Report; {
	case c.Partition == 0:
		return errors.New("it has no partition")
	case c.Computation == "":
		return errors.New("it has no computation")
	case r != nil && (r.Partition != c.Partition || r.Generation != c.Generation):
		return fmt.Errorf("its report is by partition %d, generation %d", r.Partition, r.Generation)
	}
	return nil
}

func (c *Commit) checkTake(t *InboxTake, seen map[InboxKey]bool) error {
	switch {
	case t.Key.Target != c.Partition:
		return fmt.Errorf("it takes a row of another partition: %+v", t.Key)
	case t.From < 0 || t.From >= t.To:
		return fmt.Errorf("it takes messages %d to %d of row %+v", t.From, t.To, t.Key)
	case seen[t.Key]:
		return fmt.Errorf("it takes row %+v twice", t.Key)
	}
	seen[t.Key] = true
	return nil
}

func (c *Commit) checkProduced(r *InboxRow, last uint64) error {
	switch {
	case r.Target == 0:
		return fmt.Errorf("it produces a row for no partition: %+v", r.InboxKey)
	case r.Producer != c.Partition || r.Generation != c.Generation:
		return fmt.Errorf("it produces a row of another owner: %+v", r.InboxKey)
	case r.Number <= last:
		return fmt.Errorf("it produces row number %d after %d", r.Number, last)
	case r.Previous >= r.Number:
		return fmt.Errorf("row %+v names %d as the previous one", r.InboxKey, r.Previous)
	case r.Count <= 0 || r.Consumed != 0:
		return fmt.Errorf("it produces row %+v with %d messages, %d of them consumed", r.InboxKey, r.Count, r.Consumed)
	}
	return nil
}

func (v *VisitorRow) check() error {
	switch {
	case v.Stream == "":
		return errors.New("a visitor row has no stream")
	case v.Slot < SlotSummaries:
		return fmt.Errorf("a visitor row of %s has slot %d", v.Stream, v.Slot)
	}
	return nil
}

func checkName(what, name string) error {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return fmt.Errorf("the %s name %q is empty or has a zero byte", what, name)
	}
	return nil
}

// Check tells whether t fits the row as stored: ErrConflict if the row's prefix
// is not From (D-9), an error without a class if t speaks of messages that the
// row does not have. Stores call it for every take.
func (t *InboxTake) Check(count, consumed int) error {
	if consumed != t.From {
		return fmt.Errorf("inbox row %+v has %d consumed messages, not %d: %w", t.Key, consumed, t.From, ErrConflict)
	}
	if t.To > count || t.Remove != (t.To == count) {
		return fmt.Errorf("inbox row %+v has %d messages: taking up to %d with remove=%v is not valid", t.Key, count, t.To, t.Remove)
	}
	return nil
}

// CheckRouting tells whether the routing that a commit used is the stored one
// (D-12): ErrConflict if not. Stored routes that the epoch did not use do not
// matter.
func CheckRouting(used, stored []Route) error {
	for _, u := range used {
		if err := u.check(stored); err != nil {
			return err
		}
	}
	return nil
}

func (r Route) check(stored []Route) error {
	for _, s := range stored {
		if s.Computation != r.Computation {
			continue
		}
		if s.Layout != r.Layout {
			return fmt.Errorf("rows for %s were routed by layout %d, it has %d: %w", r.Computation, r.Layout, s.Layout, ErrConflict)
		}
		return nil
	}
	return fmt.Errorf("rows for %s were routed by layout %d, it has none: %w", r.Computation, r.Layout, ErrConflict)
}

// Validate checks a partition that is to be created.
func (p *Partition) Validate() error {
	switch {
	case p.Computation == "":
		return errors.New("a new partition has no computation")
	case p.Kind < RangePartition || p.Kind > SinkPartition:
		return fmt.Errorf("a new partition of %s has the unknown kind %d", p.Computation, p.Kind)
	case p.Kind == RangePartition && !p.Open && p.Lower > p.Upper:
		return fmt.Errorf("a new partition of %s has its bounds reversed: %d, %d", p.Computation, p.Lower, p.Upper)
	}
	return nil
}
