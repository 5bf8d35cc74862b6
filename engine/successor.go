package engine

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// successors are the partitions that take the place of a node's, with all that
// they begin with (D-13). Timers and states are keyed by hash and stay where they
// are.
type successors struct {
	node   *node
	ranges []visit.Range
	next   []store.Successor
	// rows tell where each successor has its part of a row. The same row may come
	// in several parts, if it was cut before.
	rows []map[store.InboxKey]int
	// warnings tell of coverage that could not be read.
	warnings []string
}

func newSuccessors(n *node, f *store.Former, count int) (*successors, error) {
	s := &successors{node: n, ranges: visit.Split(visit.FullRange(), count)}
	for _, r := range s.ranges {
		part := store.Partition{Computation: n.id, Kind: store.RangePartition, Lower: r.Lower.Key.Hash, Upper: r.Upper.Key.Hash, Open: r.Upper.End}
		s.next = append(s.next, store.Successor{Partition: part})
		s.rows = append(s.rows, map[store.InboxKey]int{})
	}
	for i := range n.visitors {
		s.clip(&n.visitors[i], f)
	}
	for i := range s.next {
		s.next[i].Report = s.report(i, f)
	}
	s.count(f)
	for i := range f.Inbox {
		if err := s.deal(&f.Inbox[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// clip gives each successor its part of a visit stream's coverage (KV-14).
func (s *successors) clip(v *visitorPlan, f *store.Former) {
	var old []visit.Piece
	for i := range f.Jobs {
		old = append(old, visit.Piece{Range: rangeOf(f.Jobs[i].Partition), Stored: partition.StoredVisits(v.stream, f.Jobs[i].Visitors)})
	}
	pieces, warnings := visit.Repartition(old, s.ranges, v.buckets)
	s.warnings = append(s.warnings, warnings...)
	for i, p := range pieces {
		rows := &s.next[i].Visitors
		if p.Record != nil {
			*rows = append(*rows, store.VisitorRow{Stream: v.stream, Slot: store.SlotRecord, Value: p.Record})
		}
		for bucket := range v.buckets {
			if row := p.Buckets[bucket]; row != nil {
				*rows = append(*rows, store.VisitorRow{Stream: v.stream, Slot: bucket, Value: row})
			}
		}
	}
}

// report is what successor i begins with telling, from those whose range it overlaps.
// What starts again after it was Completed is not completed (KV-15).
func (s *successors) report(i int, f *store.Former) *store.Report {
	if len(s.node.outputs) == 0 {
		return nil
	}
	r := &store.Report{Computation: s.node.id}
	for _, o := range s.node.outputs {
		var said []store.StreamReport
		for j := range f.Jobs {
			job := &f.Jobs[j]
			if rangeOf(job.Partition).Intersect(s.ranges[i]).Empty() {
				continue
			}
			one := partition.StreamReportOf(job.Report, o.Stream)
			if job.Partition.State == store.Completed {
				one.State = store.Active
			}
			said = append(said, one)
		}
		r.Streams = append(r.Streams, partition.Inherit(o.Stream, said))
	}
	return r
}

// count hands each partition's counters on to the successor of its first key.
func (s *successors) count(f *store.Former) {
	for i := range f.Jobs {
		to := &s.next[s.owner(f.Jobs[i].Partition.Lower)]
		if to.Totals == nil {
			to.Totals = &store.Totals{}
		}
		addTotals(to.Totals, &f.Jobs[i].Totals)
	}
}

func addTotals(to, t *store.Totals) {
	to.Epochs += t.Epochs
	to.Messages += t.Messages
	to.Timers += t.Timers
	to.Visits += t.Visits
	to.Passes += t.Passes
	for _, c := range t.Counts {
		i, found := slices.BinarySearchFunc(to.Counts, c.Name, func(c store.Count, name string) int {
			return cmp.Compare(c.Name, name)
		})
		if !found {
			to.Counts = slices.Insert(to.Counts, i, store.Count{Name: c.Name})
		}
		to.Counts[i].Value = flow.AddCounts(to.Counts[i].Value, c.Value)
	}
}

// owner is the successor that has a hash.
func (s *successors) owner(hash uint64) int {
	return sort.Search(len(s.next), func(i int) bool { return s.next[i].Partition.Lower > hash }) - 1
}

// part is successor i's part of a row, empty if it has none yet.
func (s *successors) part(i int, row *store.InboxRow) *store.InboxRow {
	key, inbox := row.InboxKey, &s.next[i].Inbox
	key.Target = 0
	at, known := s.rows[i][key]
	if !known {
		at = len(*inbox)
		s.rows[i][key] = at
		*inbox = append(*inbox, store.InboxRow{InboxKey: key})
	}
	return &(*inbox)[at]
}

// deal gives the messages of a row to their owners. They keep their ids, and what
// is consumed goes.
func (s *successors) deal(row *store.InboxRow) error {
	r := wireReader{b: row.Payload}
	version := r.byte()
	r.uvarint()
	system := r.varint()
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		r.uvarint()
		r.bytes()
	}
	head := row.Payload[:len(row.Payload)-len(r.b)]
	for i := 0; i < row.Count && !r.bad && version == wireVersion; i++ {
		from := r.b
		r.uvarint()
		r.uvarint()
		event := system + r.varint()
		key := string(r.bytes())
		hash, err := s.hash(key)
		if err == nil && !r.bad {
			_, r.b, err = schema.DecodeRow(r.b, nil)
		}
		if err != nil {
			return fmt.Errorf("%w: inbox row %+v: %w", store.ErrCorrupt, row.InboxKey, err)
		}
		if i >= row.Consumed {
			addMessage(s.part(s.owner(hash), row), head, from[:len(from)-len(r.b)], event)
		}
	}
	if r.bad || version != wireVersion {
		return fmt.Errorf("%w: the payload of inbox row %+v, version %d, cannot be read", store.ErrCorrupt, row.InboxKey, version)
	}
	return nil
}

// hash is where a key belongs; computations without keys have one partition.
func (s *successors) hash(key string) (uint64, error) {
	if s.node.key == nil {
		return 0, nil
	}
	return schema.KeyHash(key)
}

// addMessage adds the bytes of a message to a part of its row, which all have the
// same head.
func addMessage(part *store.InboxRow, head, message []byte, event int64) {
	if part.Count == 0 {
		part.MinEvent, part.Payload = event, slices.Clone(head)
	}
	part.Count++
	part.MinEvent = min(part.MinEvent, event)
	part.Payload = append(part.Payload, message...)
}
