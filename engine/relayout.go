package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

// notNow is why the partitions of a computation are not replaced (KV-15).
type notNow struct {
	verdict partition.Verdict
	why     string
}

func (e *notNow) Error() string { return e.why }

func verdictOf(err error) partition.Verdict {
	var n *notNow
	if errors.As(err, &n) {
		return n.verdict
	}
	return partition.Go
}

// relayout replaces the partitions of a computation by count others, in one
// transaction that judges again whether it may (D-13). Nothing of the computation,
// its producers and its consumers runs meanwhile; whatever ran without our
// knowing is fenced.
func (p *plan) relayout(ctx context.Context, s store.Store, n *node, d *spec.DynamicComputation, count int, term uint64, log *slog.Logger) error {
	all, err := s.Partitions(ctx)
	if err != nil {
		return fmt.Errorf("read partitions: %w", err)
	}
	former := of(all, n.id)
	var next *successors
	_, err = s.Relayout(ctx, store.Relayout{
		Computation: n.id, Term: term, Replaced: ids(former),
		Plan: func(f *store.Former) ([]store.Successor, error) {
			rows := map[store.PartitionID][]store.VisitorRow{}
			for i := range f.Jobs {
				rows[f.Jobs[i].Partition.ID] = f.Jobs[i].Visitors
			}
			err := p.judge(n, d, f.All, func(id store.PartitionID) ([]store.VisitorRow, error) { return rows[id], nil })
			if err != nil {
				return nil, err
			}
			if next, err = newSuccessors(n, f, count); err != nil {
				return nil, err
			}
			return next.next, nil
		},
	})
	if err != nil {
		return fmt.Errorf("replace the %d partitions of computation %s by %d: %w", len(former), n.id, count, err)
	}
	for _, w := range next.warnings {
		log.Warn("stored coverage is read again", "computation", n.id, "reason", w)
	}
	log.Info("partitions are replaced", "computation", n.id, "before", len(former), "now", count)
	return nil
}

// judge returns nil if the partitions may be replaced, or notNow.
func (p *plan) judge(n *node, d *spec.DynamicComputation, all []store.Partition, rows func(store.PartitionID) ([]store.VisitorRow, error)) error {
	s := partition.Standing{Computation: n.id, Finite: true, CompletedConsumer: p.completedConsumer(n, all)}
	for i := range n.visitors {
		s.Finite = s.Finite && d.VisitStream(n.visitors[i].stream).Finite
	}
	for _, part := range of(all, n.id) {
		s.Partitions++
		if part.State == store.Completed {
			s.Completed++
			continue
		}
		visitors, err := rows(part.ID)
		if err != nil {
			return fmt.Errorf("read the visit streams of computation %s, partition %d: %w", n.id, part.ID, err)
		}
		for i := range n.visitors {
			if partition.StoredVisits(n.visitors[i].stream, visitors).Final() {
				s.Final++
				break
			}
		}
	}
	if verdict, why := s.Judge(); verdict != partition.Go {
		return &notNow{verdict, why}
	}
	return nil
}

// completedConsumer is a reader of the node's output that will read no more.
func (p *plan) completedConsumer(n *node, all []store.Partition) string {
	for _, c := range p.nodes {
		for _, in := range c.inputs {
			if in.producer != n.id {
				continue
			}
			for _, part := range of(all, c.id) {
				if part.State == store.Completed {
					return c.id
				}
			}
		}
	}
	return ""
}

// wished tells how many partitions a node is to have, if it is not what it has.
func (n *node) wished(d *spec.DynamicComputation, have int) (count int, differs bool) {
	if n.kind != store.RangePartition || d.DesiredPartitionCount == nil {
		return have, false
	}
	return *d.DesiredPartitionCount, *d.DesiredPartitionCount != have
}

// Repartition gives a computation another number of partitions while the pipeline
// runs; the dynamic spec's desired_partition_count becomes that number, so that it
// holds over restarts. 0 means the number that the dynamic spec asks for. It
// returns when the partitions are replaced: after the final passes that are under
// way (KV-15), or with an error that says why they stay. With the number that
// there is, it only starts Completed partitions of a scanner again, whose finite
// has become false.
func (p *Pipeline) Repartition(ctx context.Context, computation string, partitions int) error {
	env, err := p.running()
	if err != nil {
		return err
	}
	n := p.plan.node(computation)
	if n == nil || n.kind != store.RangePartition {
		return p.plan.noPartitions(computation)
	}
	if err := env.working("partitions are replaced"); err != nil {
		return err
	}
	if partitions != 0 {
		path := yson.Join("computations", computation, "desired_partition_count")
		if _, err := p.SetDynamic(ctx, path, yson.Int64(int64(partitions)), 0); err != nil {
			return err
		}
	} else {
		partitions = env.orders.Load().of(n).PartitionCount(p.opts.Cores)
	}
	done := make(chan error, 1)
	env.wishes.add(&wish{node: n, count: partitions, forced: true, done: []chan<- error{done}})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *plan) noPartitions(computation string) error {
	var known []string
	for _, n := range p.nodes {
		if n.kind == store.RangePartition {
			known = append(known, n.id)
		}
	}
	return fmt.Errorf("there is no computation %s whose partitions can be replaced: there are %s (those of sources and sinks follow their files)", computation, strings.Join(known, ", "))
}
