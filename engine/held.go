package engine

import (
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// heldState tells whether a partition is held back, or when it last was (D-17). version
// grows with every change of any partition, so that readers find what is new.
type heldState struct {
	held    bool
	at      time.Duration
	version uint64
	ours    bool // a partition of this process
}

// holdBack notes that a partition is held back from now on, or was until now.
func (x *exchange) holdBack(id store.PartitionID, now time.Duration, held, ours bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.held[id]; s.held != held {
		x.held[id] = heldState{held: held, at: now, version: x.heldVersion.Add(1), ours: ours}
	}
}

// heldSince tells which of some partitions have come to be held back, or are so no
// longer, since a version. Readers must know before they take silence for idleness
// (D-17), so they ask and are not told; mostly nothing is new, which takes no lock.
func (x *exchange) heldSince(version uint64, of []store.PartitionID) (changes []partition.Held, now uint64) {
	if now = x.heldVersion.Load(); now == version {
		return nil, now
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range of {
		if s := x.held[id]; s.version > version {
			changes = append(changes, partition.Held{Producer: id, Held: s.held, At: s.at})
		}
	}
	return changes, x.heldVersion.Load()
}

// tellHeld tells readers whether the source is held back.
func (j *job) tellHeld(now visit.Instant, held bool) {
	if held != j.held {
		j.held = held
		j.env.exchange.holdBack(j.stored.Partition.ID, now.Mono, held, true)
	}
}

// letGo tells at the end of a job that nothing is held back by others: a partition that
// fails again and again may be idle.
func (j *job) letGo(now visit.Instant) {
	j.tellHeld(now, false)
	a, id := j.env.alignments.Load(), j.stored.Partition.ID
	wake := a.move(now.Mono, j.node, id, func(d *delayPlan) partition.Progress {
		p := j.progress(d, now)
		p.Held = false
		return p
	})
	if j.node.alignment != nil {
		p := j.machine.Source()
		p.Held = false
		wake = append(wake, a.report(now.Mono, j.node, id, p)...)
	}
	j.env.exchange.wake(wake)
}

// passTime tells the machine who is held back, where producers may be idle.
func (j *job) passTime(now visit.Instant) {
	if j.idlers == nil {
		return
	}
	var e partition.TimePassed
	if j.mind != nil {
		j.mind.hear(j.env.exchange) // before what is held is looked up
		e.Known = j.mind.upTo(now.Mono)
	}
	e.Held, j.heldSeen = j.env.exchange.heldSince(j.heldSeen, j.idlers)
	j.machine.Step(now, e)
}

// idlers are the producers of inputs that may be idle.
func (n *node) idlers() (out []store.PartitionID) {
	for i := range n.inputs {
		if n.inputs[i].idle != nil {
			out = append(out, n.producers[i]...)
		}
	}
	return out
}
