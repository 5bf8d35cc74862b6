package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Phase says what a partition's job is doing.
type Phase string

// The phases of a partition.
const (
	Starting  Phase = "starting"
	Working   Phase = "working"
	BackedOff Phase = "backing off"
	Paused    Phase = "paused"
	Done      Phase = "completed"
)

// PartitionStatus is what is shown of one partition.
type PartitionStatus struct {
	ID          store.PartitionID
	Computation string
	Kind        store.Kind
	Phase       Phase
	// Restarts counts the jobs that failed in this run; Error is what the last
	// one failed of, until a good epoch (D-24).
	Restarts int
	Error    string
	// Conflicts counts the epochs of this run that ran again because others had changed
	// rows that they write (KV-22).
	Conflicts int
	// Status is the machine's, as of its last report.
	partition.Status
	// Failed names the inputs that were left out, as on_visit_error and
	// on_message_error say, by path.
	Failed []visit.Problem
	// Busy is the key of a handler call that has run for BusyFor, if that is long
	// (D-23).
	Busy    string
	BusyFor time.Duration
}

// progress counts what good epochs handled. Epochs that only store something do
// not tell that the input which failed a job is past.
func (s *PartitionStatus) progress() uint64 {
	return s.Totals.Messages + s.Totals.Timers + s.Totals.Visits
}

// board is where one partition's supervisor and job write what others read.
type board struct {
	part store.Partition // as of the start

	mu      sync.Mutex
	status  PartitionStatus
	shown   time.Duration // when the machine's part of it was so
	drained bool
	away    bool // the log has that the store does not answer, and not yet that it does again
	busy    *busy
}

func newBoard(p store.Partition) *board {
	return &board{part: p, status: PartitionStatus{ID: p.ID, Computation: p.Computation, Kind: p.Kind, Phase: Starting}}
}

func (b *board) update(f func(*PartitionStatus)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.status)
}

// setDrained tells whether that is news.
func (b *board) setDrained(on bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := on && !b.drained
	b.drained = on
	return news
}

// setAway tells whether that is news.
func (b *board) setAway(on bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	news := on != b.away
	b.away = on
	return news
}

// quiet tells that nothing more comes from the partition in this run.
func (b *board) quiet() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.drained || b.status.Phase == Done
}

func (b *board) read(now time.Duration) PartitionStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.status
	s.Visitors = slices.Clone(s.Visitors)
	for i := range s.Visitors {
		s.Visitors[i] = s.Visitors[i].Later(max(now-b.shown, 0))
	}
	if b.busy != nil {
		if key, spent, ok := b.busy.longest(now, longCall); ok {
			s.Busy, s.BusyFor = key.String(), spent
		}
	}
	return s
}

// longCall is how long a handler call may take before it shows (D-23).
const longCall = 30 * time.Second
