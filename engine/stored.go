package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Stopped is the phase of partitions of a pipeline that does not run.
const Stopped Phase = "stopped"

// StoredStatus describes a pipeline that does not run, by what it committed.
func StoredStatus(ctx context.Context, s store.Store) (*Status, error) {
	sum, err := summarize(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &Status{Summary: *sum}
	parts, err := s.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read partitions: %w", err)
	}
	totals, err := s.Totals(ctx)
	if err != nil {
		return nil, fmt.Errorf("read totals: %w", err)
	}
	waiting, err := s.InboxSizes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of inboxes: %w", err)
	}
	for _, p := range parts {
		one := PartitionStatus{ID: p.ID, Computation: p.Computation, Kind: p.Kind, Phase: Stopped}
		if p.State == store.Completed {
			one.Phase = Done
		}
		if i := slices.IndexFunc(totals, func(t store.PartitionTotals) bool { return t.Partition == p.ID }); i >= 0 {
			one.Totals = totals[i].Totals
		}
		if i := slices.IndexFunc(waiting, func(w store.InboxSize) bool { return w.Target == p.ID }); i >= 0 {
			one.Waiting = waiting[i].Messages
		}
		out.Partitions = append(out.Partitions, one)
	}
	return out, nil
}

// StoredVisitStream is a visit stream of a pipeline that does not run.
type StoredVisitStream struct {
	VisitStream
	// Passes has an element for each of the parts.
	Passes []PartitionPasses
}

// StoredVisitStreams describes the visit streams of a pipeline that does not run,
// ordered by computation and name: how far their passes were, by what is
// committed, and which were completed. What depends on reading, such as rates, is
// unknown. sp is the stored spec.
func StoredVisitStreams(ctx context.Context, s store.Catalog, sp *spec.Spec) (out []StoredVisitStream, err error) {
	parts, err := s.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read partitions: %w", err)
	}
	now := newClock().now()
	for _, id := range sp.Pipeline.ComputationIDs() {
		n := &node{id: id}
		for _, name := range tablesOf(sp.Pipeline.Computations[id]) {
			n.joiners = append(n.joiners, joinerPlan{name: name})
		}
		n.visitors = visitorsOf(n, sp.Pipeline.Computations[id])
		n.partitions = slices.DeleteFunc(slices.Clone(parts), func(p store.Partition) bool { return p.Computation != id })
		slices.SortStableFunc(n.partitions, func(a, b store.Partition) int { return cmp.Compare(a.Lower, b.Lower) })
		found, err := n.stored(ctx, s, sp.Dynamic.Computation(id), now)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// stored describes the visit streams of a node.
func (n *node) stored(ctx context.Context, s store.Records, d *spec.DynamicComputation, now visit.Instant) ([]StoredVisitStream, error) {
	out := make([]StoredVisitStream, len(n.visitors))
	for i := range out {
		out[i].Computation = n.id
	}
	if len(out) == 0 {
		return nil, nil
	}
	for _, p := range n.partitions {
		rows, err := s.Visitors(ctx, p.ID)
		if err != nil {
			return nil, fmt.Errorf("read the visit streams of partition %d: %w", p.ID, err)
		}
		for i := range n.visitors {
			out[i].add(n.visitorConfig(d, &n.visitors[i], p), p, rows, now)
		}
	}
	for i := range out {
		out[i].merge(n.visitors[i].stream)
	}
	return out, nil
}

// add describes the stream in one partition.
func (v *StoredVisitStream) add(cfg partition.Visitor, p store.Partition, rows []store.VisitorRow, now visit.Instant) {
	stored := partition.StoredVisits(cfg.Config.Stream, rows)
	status := visit.Completed(cfg.Config.Stream, cfg.Config.Range, now)
	if p.State != store.Completed {
		status = visit.New(cfg.Config, cfg.Params, stored, now).Status(now)
	}
	passes, _ := stored.Passes() // what cannot be read counts as not there, as for a job
	v.Parts = append(v.Parts, PartitionVisits{p.ID, status})
	v.Passes = append(v.Passes, PartitionPasses{p.ID, passes})
}

func (v *StoredVisitStream) merge(stream string) {
	var parts []visit.Status
	for _, p := range v.Parts {
		parts = append(parts, p.Status)
	}
	v.Status, v.Partitions = visit.Merge(parts...), len(parts)
	v.Stream = stream
}
