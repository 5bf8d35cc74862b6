package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Cluster is what the workers of a pipeline share beside its data. Stores that
// several processes may open at once have it. A store that is opened for a worker
// gives no other partition a generation than those assigned to it.
//
// Errors are as those of Committer. Whatever loses its outcome may be asked again.
type Cluster interface {
	// Submit is SavePipeline and CreatePartitions in one transaction, so that of two
	// who submit at once one makes everything and the other nothing: ErrConflict.
	Submit(ctx context.Context, p *Pipeline, more []Partition) error
	// Beat says that a worker lives, takes the lease for it if nobody else holds
	// it, and tells what all are to know. Workers are for the holder alone: to tell
	// all of all would grow with the square of their number.
	Beat(ctx context.Context, b *Beat) (*View, error)
	// View tells what a beat tells, for those who only look.
	View(ctx context.Context) (*View, error)
	// Assign is a controller's transaction (D-5): it gives partitions other
	// workers, raising their generations first, so that the former owner commits
	// nothing more. ErrFenced: the lease has another term. ErrConflict: one of the
	// partitions has another owner than the move says, or is no more; none moves.
	Assign(ctx context.Context, term uint64, moves []Move) error
	// Bury is a controller's transaction too: it ends the sessions of workers that
	// are taken for dead, which may hold locks, raises the generations of their
	// partitions (D-4), which then have no owner, and forgets them.
	Bury(ctx context.Context, term uint64, workers []string) error
	// Leave forgets a worker that ends by itself: its partitions have no owner
	// then, and the lease, if it has it, is free.
	Leave(ctx context.Context, worker string) error
}

// Worker is a process that runs partitions.
type Worker struct {
	// ID is never used by another process, or by the same one started again.
	ID string
	// Group is the worker_group of the computations that it runs.
	Group string
	// Build names the version of its program.
	Build string
	// Info is what it tells about itself; opaque here.
	Info []byte
	// Unseen is how long ago its last beat was, by the store's clock; Joined is
	// when the first was, unix nanoseconds.
	Unseen time.Duration
	Joined int64
}

// Beat is a worker's sign of life.
type Beat struct {
	Worker Worker
	// Lease is how long the lease holds without another beat; 0 asks for none,
	// and gives none up.
	Lease time.Duration
}

// View is what is known of a cluster at a moment.
type View struct {
	// Now is the moment by the store's clock, unix nanoseconds.
	Now     int64
	Lease   Lease
	Workers []Worker // ordered by id; only of View, and of a beat of the holder
	// Layout changes with every new partition, Assignment with every owner,
	// Pipeline with everything stored of that.
	Layout, Assignment, Pipeline uint64
	// Unfinished is 0 once all partitions are Completed.
	Unfinished int
}

// Lease says who is controller. Its term grows with every change of the holder.
type Lease struct {
	Holder string
	Term   uint64
}

// Move gives a partition another worker. From and To are empty for none.
type Move struct {
	Partition PartitionID
	From, To  string
}

// Validate returns what makes the beat impossible to record, without a class.
func (b *Beat) Validate() error {
	switch {
	case b.Worker.ID == "":
		return errors.New("a worker without an id")
	case b.Lease < 0:
		return fmt.Errorf("a lease of %s: it cannot be negative", b.Lease)
	}
	return nil
}

// Worker returns the worker of an id, nil if there is none.
func (v *View) Worker(id string) *Worker {
	i := slices.IndexFunc(v.Workers, func(w Worker) bool { return w.ID == id })
	if i < 0 {
		return nil
	}
	return &v.Workers[i]
}
