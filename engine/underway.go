package engine

import (
	"slices"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// beginEpoch notes that an epoch of a partition is under way, and returns its system
// time, which what it emits will have. Time and note are taken together: whoever
// looks later (passed) either sees the note, or has read the clock before.
//
// A former epoch whose commit failed keeps its time until the partition's next job has
// a generation (settleEpoch): its rows may be in the store, or come there.
//
// Epochs of other processes are not known here: those tell (tidings).
func (x *exchange) beginEpoch(id store.PartitionID, c clock) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	wall := c.now().Wall
	x.underway[id] = wall
	return wall
}

// settleEpoch is called when a partition has a new generation, after which no former
// epoch can be committed (D-1). What such an epoch may have left for consumers, they are
// made to read.
func (x *exchange) settleEpoch(id store.PartitionID, consumers []store.PartitionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, unsure := x.underway[id]; !unsure {
		return
	}
	delete(x.underway, id)
	for _, c := range consumers {
		if b := x.boxes[c]; b != nil {
			b.lost = true
			b.wake()
		}
	}
}

// endEpoch tells that everything the partition has committed was handed over, or that
// it failed before a commit. Consumers whose time it held back go on.
func (x *exchange) endEpoch(id store.PartitionID, consumers []store.PartitionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.underway, id)
	for _, c := range consumers {
		if b := x.boxes[c]; b != nil && b.behind {
			b.wake()
		}
	}
}

// passed returns, for each input of a job, up to which system time nothing is on its
// way any more. from are the inputs that a producer writes.
func (x *exchange) passed(b *mailbox, inputs int, from map[store.PartitionID][]int, c clock) []int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	times := slices.Repeat([]int64{c.now().Wall}, inputs)
	b.behind = false
	for id, at := range x.underway {
		for _, input := range from[id] {
			times[input] = min(times[input], at)
			b.behind = true
		}
	}
	return times
}

// beginEpoch returns the system time of an epoch, which is noted if a consumer wants
// to know.
func (j *job) beginEpoch() int64 {
	if j.node.heeded {
		return j.env.exchange.beginEpoch(j.stored.Partition.ID, j.env.clock)
	}
	return j.env.clock.now().Wall
}

func (j *job) endEpoch() {
	if j.node.heeded {
		j.env.exchange.endEpoch(j.stored.Partition.ID, j.node.consumers)
	}
}

// passed is nil where nobody asks for system times.
func (j *job) passed() []int64 {
	if j.writers == nil {
		return nil
	}
	times := j.env.exchange.passed(j.box, len(j.node.inputs), j.writers, j.env.clock)
	if j.mind != nil {
		j.mind.hear(j.env.exchange)
		j.mind.bound(times)
	}
	return times
}

// systemTimed tells that a timer stream of the computation goes by system time.
func (n *node) systemTimed() bool {
	return slices.ContainsFunc(n.timers, func(t timerPlan) bool { return t.config.Clock == partition.SystemClock })
}

// writers are the inputs that each producer writes, by index.
func (n *node) writers() map[store.PartitionID][]int {
	from := map[store.PartitionID][]int{}
	for i, producers := range n.producers {
		for _, id := range producers {
			from[id] = append(from[id], i)
		}
	}
	return from
}

// systemOf is the system time of an inbox row.
func systemOf(row *store.InboxRow) int64 {
	system, _ := headOf(row.Payload, nil)
	return system
}
