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
// A former epoch of the partition whose outcome is unknown keeps its time: its rows
// may be in the store, and nobody is told of them before the next commit.
//
// Epochs of other processes are not known here. Of what those send, only that holds
// system time back which was read and waits.
func (x *exchange) beginEpoch(id store.PartitionID, c clock) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	wall := c.now().Wall
	if _, former := x.underway[id]; !former {
		x.underway[id] = wall
	}
	return wall
}

// endEpoch tells that everything the partition has committed was handed over.
func (x *exchange) endEpoch(id store.PartitionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.underway, id)
}

// dropEpoch tells that the epoch with this system time failed before its commit. What
// it may have kept of a former one stays.
func (x *exchange) dropEpoch(id store.PartitionID, system int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.underway[id] == system {
		delete(x.underway, id)
	}
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
