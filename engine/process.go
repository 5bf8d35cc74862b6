package engine

import (
	"context"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// processor does what an epoch of one kind of partition does: calls a function,
// passes source rows on, or writes a sink. It belongs to one job.
type processor interface {
	// process handles the epoch's inputs in order, as far as its budget allows,
	// and fills res. An error fails the epoch.
	process(ctx context.Context, e *partition.Epoch, res *result) error
	// close ends the processor; it is called once.
	close() error
}

// follower is a processor that goes by orders; it hears of new ones between two
// epochs. An error fails the job.
type follower interface{ follow(o *orders) error }

// result is what an epoch adds to the machine's part of the commit.
type result struct {
	processed partition.Processed
	states    []store.StateWrite
	rows      []store.TableWrite
	written   []visit.Key
	names     []string // of states that have got rows, as far as visit streams list them
	payloads  [][]byte // parallel to processed.Rows
	appended  []store.QueueAppend
	offset    []byte
	consumed  []store.QueuePosition
	position  []byte
}

// fill completes the machine's commit.
func (r *result) fill(c *store.Commit) {
	c.States, c.Rows = r.states, r.rows
	for i := range r.payloads {
		c.Produced[i].Payload = r.payloads[i]
	}
	c.Appended, c.Positions = r.appended, r.consumed
	c.Offset, c.Position = r.offset, r.position
}
