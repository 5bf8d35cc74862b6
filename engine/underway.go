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
// Epochs of other processes are not known here. Of what those send, only that holds
// system time back which was read and waits.
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
// it failed before a commit.
func (x *exchange) endEpoch(id store.PartitionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.underway, id)
}

// passed returns, for each input, up to which system time nothing is on its way any
// more. from are the inputs that a producer writes.
func (x *exchange) passed(inputs int, from map[store.PartitionID][]int, c clock) []int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	times := slices.Repeat([]int64{c.now().Wall}, inputs)
	for id, at := range x.underway {
		for _, input := range from[id] {
			times[input] = min(times[input], at)
		}
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
