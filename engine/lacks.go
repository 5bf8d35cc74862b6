package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/store"
)

// Lack is what a worker cannot run, for want of something that others may have.
type Lack struct {
	// Computation is its id, or that of a sink: COMPUTATION/sinks/SINK.
	Computation string `json:"computation"`
	// Partition is the name of the partition of a source; empty: all.
	Partition string `json:"partition,omitempty"`
	// Why says what is lacking.
	Why string `json:"why"`
	// Outage: it may appear at any time, and who else lacks it may wait for it as well.
	Outage bool `json:"outage,omitempty"`
}

// maxLacks is how many partitions of one source a worker lists as lacking. One that
// lacks more leaves the source to others.
const maxLacks = 100

// Lacking tells what this process cannot run of the pipeline in the store, where it
// is one of several: functions, sources and sinks that it does not know, and files
// that are not here. Everything else is an error of Prepare.
func (p *Pipeline) Lacking(ctx context.Context, s store.Store) ([]Lack, error) {
	parts, err := s.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read partitions: %w", err)
	}
	p.plan.settle(parts)
	return p.plan.lacking(ctx, parts), nil
}

// settle decides what the sinks of unknown classes are, which have partitions of
// their own or are written by their computations.
func (p *plan) settle(parts []store.Partition) {
	p.nodes = slices.DeleteFunc(p.nodes, func(n *node) bool {
		inStore := n.kind == store.SinkPartition && len(n.lacks) > 0 && len(of(parts, n.id)) == 0
		if inStore {
			owner := p.node(n.owner)
			owner.lacks = append(owner.lacks, n.lacks...)
		}
		return inStore
	})
}

func (p *plan) lacking(ctx context.Context, parts []store.Partition) (out []Lack) {
	for _, n := range p.nodes {
		if len(n.lacks) > 0 {
			out = append(out, Lack{Computation: n.id, Why: strings.Join(n.lacks, ", ")})
			continue
		}
		out = append(out, n.absentFiles(parts)...)
		out = append(out, n.absentTables(ctx)...)
	}
	return out
}

// absentFiles are the partitions of a source that lie elsewhere.
func (n *node) absentFiles(parts []store.Partition) (out []Lack) {
	local, ok := n.source.(connector.Local)
	if !ok {
		return nil
	}
	for _, part := range of(parts, n.id) {
		if part.State == store.Completed {
			continue
		}
		there, err := local.Look(n.sourceKey(part))
		if there {
			continue
		}
		l := Lack{Computation: n.id, Partition: part.Name, Why: "the file is not here", Outage: err == nil}
		if err != nil {
			l.Why = err.Error()
		}
		if out = append(out, l); len(out) > maxLacks {
			return []Lack{{Computation: n.id, Why: fmt.Sprintf("more than %d of its files are not here, such as: %s", maxLacks, l.Why)}}
		}
	}
	return out
}

// absentTables are files of static tables. To be without one is an outage, which the
// job is told of, unless others have it.
func (n *node) absentTables(ctx context.Context) (out []Lack) {
	for i := range n.joiners {
		if j := &n.joiners[i]; !j.table.InStore() {
			if err := j.table.Fits(ctx); err != nil && !errors.Is(err, external.ErrUnfit) {
				out = append(out, Lack{Computation: n.id, Why: err.Error(), Outage: true})
			}
		}
	}
	return out
}

// lacksEvery is how often a worker looks again for what it lacks.
const lacksEvery = 5 * time.Second

// tellLacks tells the others what this process cannot run. It is called by whoever
// looks after the round, or between two.
func (e *environment) tellLacks(ctx context.Context, p *plan, parts []store.Partition) {
	if e.member != nil {
		e.lacks = p.lacking(ctx, parts)
		e.member.Lacks(e.lacks)
	}
}

// mayLack tells that it is worth while to look again: something was lacking, or a job
// fails.
func (e *environment) mayLack() bool {
	return len(e.lacks) > 0 || slices.ContainsFunc(e.allBoards(), func(b *board) bool { return b.read(0).Error != "" })
}

// present returns why a partition cannot be run here, which others may have. It is
// looked at before each job: files come and go.
func (e *environment) present(n *node, part *store.Partition) error {
	local, ok := n.source.(connector.Local)
	if e.member == nil || !ok {
		return nil
	}
	if _, err := local.Look(n.sourceKey(*part)); err != nil {
		return fmt.Errorf("it is left to workers that have what it reads: %v", err)
	}
	return nil
}

// stranded tells why nobody runs partitions of a computation, by its id.
func (e *environment) stranded() map[string]string {
	if e.member == nil {
		return nil
	}
	var parts []store.Partition
	for _, b := range e.allBoards() {
		if b.read(0).Phase != Done {
			parts = append(parts, b.part)
		}
	}
	return e.member.Stranded(parts)
}
