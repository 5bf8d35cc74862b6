package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// VisitStream describes a visit stream over all its partitions.
type VisitStream struct {
	Computation string
	// Partitions is the number of partitions, those that are still starting too.
	Partitions int
	// Status merges those of the parts (see visit.Merge).
	visit.Status
	// Parts are ordered by the hash range. A partition that is still starting has
	// none.
	Parts []PartitionVisits
}

// PartitionVisits describes a visit stream in one partition.
type PartitionVisits struct {
	Partition store.PartitionID
	visit.Status
}

// PartitionPasses are the passes of a visit stream that a partition completed, the
// last 16, oldest first (KV-16).
type PartitionPasses struct {
	Partition store.PartitionID
	Passes    []visit.Summary
}

// VisitStreams describes the visit streams of a running pipeline, ordered by
// computation and name; nothing before Run.
func (p *Pipeline) VisitStreams() (out []VisitStream) {
	env := p.environment()
	if env == nil {
		return nil
	}
	for _, n := range p.plan.nodes {
		for i := range n.visitors {
			v, _ := env.visitStream(n, i)
			out = append(out, v)
		}
	}
	return out
}

// Passes returns the completed passes of a visit stream, partition by partition.
// Errors: ErrNotRunning, and an unknown stream.
func (p *Pipeline) Passes(computation, stream string) (out []PartitionPasses, err error) {
	n, i, err := p.plan.visitStream(computation, stream)
	if err != nil {
		return nil, err
	}
	env := p.environment()
	if env == nil {
		return nil, ErrNotRunning
	}
	for _, b := range env.boardsOf(n) {
		s := b.read(0)
		passes := PartitionPasses{Partition: s.ID}
		if len(s.Passes) > i {
			passes.Passes = slices.Clone(s.Passes[i])
		}
		out = append(out, passes)
	}
	return out, nil
}

// completedPasses reads the passes of partitions that no job will tell of.
func (e *environment) completedPasses(ctx context.Context, p *plan) error {
	for _, b := range e.allBoards() {
		n := p.node(b.part.Computation)
		if b.part.State != store.Completed || len(n.visitors) == 0 {
			continue
		}
		rows, err := e.store.Visitors(ctx, b.part.ID)
		if err != nil {
			return fmt.Errorf("read the passes of partition %d: %w", b.part.ID, err)
		}
		b.update(func(s *PartitionStatus) { s.Passes = passesIn(n, rows) })
	}
	return nil
}

// passesIn are the stored passes of each visit stream. A row that cannot be
// decoded shows none; it is of no use but to be shown.
func passesIn(n *node, rows []store.VisitorRow) [][]visit.Summary {
	out := make([][]visit.Summary, len(n.visitors))
	for _, r := range rows {
		i := slices.IndexFunc(n.visitors, func(v visitorPlan) bool { return v.stream == r.Stream })
		if i >= 0 && r.Slot == store.SlotSummaries {
			out[i], _ = visit.Stored{Summaries: r.Value}.Passes()
		}
	}
	return out
}

// States reads the internal states of a running pipeline. It is nil before Run.
func (p *Pipeline) States() store.States {
	if env := p.environment(); env != nil {
		return env.store
	}
	return nil
}

func (p *Pipeline) environment() *environment {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.env
}

// visitStream describes a visit stream of a node; all says that every partition
// had something to say.
func (e *environment) visitStream(n *node, i int) (v VisitStream, all bool) {
	boards := e.boardsOf(n)
	v = VisitStream{Computation: n.id, Partitions: len(boards)}
	all = true
	now := e.clock.now()
	var parts []visit.Status
	for _, b := range boards {
		s := b.read(now.Mono)
		switch {
		case s.Phase == Done:
			parts = append(parts, visit.Completed(n.visitors[i].stream, rangeOf(b.part), now))
		case len(s.Visitors) > i:
			parts = append(parts, s.Visitors[i])
		default:
			all = false
			continue
		}
		v.Parts = append(v.Parts, PartitionVisits{s.ID, parts[len(parts)-1]})
	}
	v.Status = visit.Merge(parts...)
	v.Stream = n.visitors[i].stream
	return v, all
}

// boardsOf are the boards of a node's partitions, ordered by the hash range.
func (e *environment) boardsOf(n *node) []*board {
	boards := slices.DeleteFunc(e.allBoards(), func(b *board) bool { return b.part.Computation != n.id })
	slices.SortStableFunc(boards, func(a, b *board) int { return cmp.Compare(a.part.Lower, b.part.Lower) })
	return boards
}
