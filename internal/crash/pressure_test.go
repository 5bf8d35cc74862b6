package crash

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/rondo-flow/rondo/store"
)

// pressure follows how much waits for each partition. It lets slow consumers
// wait for producers that are held back, and checks that no more waits than
// the limits allow (D-18).
type pressure struct {
	reporter *reporter
	limits   limits

	mu      sync.Mutex
	parts   map[store.PartitionID]store.Partition
	sizes   map[store.PartitionID]int
	changed chan struct{} // closed, and replaced, at every change
}

func newPressure(r *reporter, l limits) *pressure {
	return &pressure{
		reporter: r, limits: l, changed: make(chan struct{}),
		parts: map[store.PartitionID]store.Partition{}, sizes: map[store.PartitionID]int{},
	}
}

func (p *pressure) learn(ps []store.Partition) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range ps {
		p.parts[part.ID] = part
	}
}

func (p *pressure) start(sizes []store.InboxSize) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sizes = map[store.PartitionID]int{}
	for _, s := range sizes {
		p.sizes[s.Target] = s.Messages
	}
	p.change()
}

// name is a partition for people.
func (p *pressure) name(id store.PartitionID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%s %d", p.parts[id].Computation, id)
}

func (p *pressure) kind(id store.PartitionID) store.Kind {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.parts[id].Kind
}

// committed follows a commit, and says when an inbox becomes full. Consumers
// are followed before the engine knows of their commit, and so are producers,
// so for each other producer one epoch may have come in that the engine does
// not count yet.
func (p *pressure) committed(c *store.Commit) {
	for _, id := range p.apply(c) {
		p.reporter.say("full is %s", p.name(id))
	}
}

func (p *pressure) apply(c *store.Commit) (full []store.PartitionID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range c.Taken {
		p.sizes[c.Partition] -= t.To - t.From
	}
	for _, row := range c.Produced {
		before := p.sizes[row.Target]
		p.sizes[row.Target] += row.Count
		if before < p.limits.inbox && p.full(row.Target) {
			full = append(full, row.Target)
		}
		if most := p.most(row.Target); p.sizes[row.Target] > most {
			fmt.Fprintf(os.Stderr, "%d messages wait for partition %d, at most %d may\n", p.sizes[row.Target], row.Target, most)
		}
	}
	if c.Done {
		part := p.parts[c.Partition]
		part.State = store.Completed
		p.parts[c.Partition] = part
	}
	p.change()
	return full
}

func (p *pressure) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pressure) full(id store.PartitionID) bool { return p.sizes[id] >= p.limits.inbox }

// most is the largest number of messages that may wait for a partition.
func (p *pressure) most(id store.PartitionID) int {
	producers := 0
	for _, part := range p.parts {
		if part.Kind == producerOf(p.parts[id].Kind) {
			producers++
		}
	}
	return p.limits.inbox - 1 + producers*p.limits.rows
}

// producerOf is the kind of partition that produces for another, in this job.
func producerOf(k store.Kind) store.Kind {
	if k == store.SinkPartition {
		return store.RangePartition
	}
	return store.SourcePartition
}

// waitFull waits until producers are held back by a full inbox of a consumer of
// the kind, or have completed.
func (p *pressure) waitFull(ctx context.Context, consumers store.Kind) error {
	for {
		heldBack, changed := p.heldBack(consumers)
		if heldBack {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (p *pressure) heldBack(consumers store.Kind) (yes bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	completed := true
	for id, part := range p.parts {
		if part.Kind == consumers && p.full(id) {
			return true, nil
		}
		if part.Kind == producerOf(consumers) && part.State != store.Completed {
			completed = false
		}
	}
	return completed, p.changed
}
