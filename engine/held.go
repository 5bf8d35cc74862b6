package engine

import (
	"maps"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// stillHeld stands for the present while a partition is held back.
const stillHeld = time.Duration(-1)

// holdBack notes that a partition is held back from now on, or was until now.
func (x *exchange) holdBack(id store.PartitionID, now time.Duration, held bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.held[id] = now; held {
		x.held[id] = stillHeld
	}
}

// heldBack tells when partitions were last held back. Readers must know before they
// take silence for idleness (D-17), so they ask and are not told.
func (x *exchange) heldBack(now time.Duration) map[store.PartitionID]time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	held := maps.Clone(x.held)
	for id, at := range held {
		if at == stillHeld {
			held[id] = now
		}
	}
	return held
}

// tellHeld tells readers whether the partition is held back. A job that ends is not:
// a partition that fails again and again may be idle.
func (j *job) tellHeld(now visit.Instant, held bool) {
	if held != j.held {
		j.held = held
		j.env.exchange.holdBack(j.stored.Partition.ID, now.Mono, held)
	}
}
