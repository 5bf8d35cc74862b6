package storetest

import (
	"context"
	"fmt"
	"sync"

	"github.com/rondo-flow/rondo/store"
)

// Op names a call of a store.
type Op string

// The calls that Faults sees.
const (
	OpCommit           Op = "commit"
	OpRaiseGeneration  Op = "raise"
	OpGetStates        Op = "get"
	OpListStates       Op = "list"
	OpListTimers       Op = "timers"
	OpLeastTimerEvent  Op = "timer-events"
	OpKeyTimers        Op = "key-timers"
	OpReadInbox        Op = "inbox"
	OpInboxSizes       Op = "sizes"
	OpPipeline         Op = "pipeline"
	OpSavePipeline     Op = "save"
	OpPartitions       Op = "partitions"
	OpCreatePartitions Op = "create"
	OpRelayout         Op = "relayout"
	OpReports          Op = "reports"
	OpTotals           Op = "totals"
	OpVisitors         Op = "visitors"
	OpCreateQueue      Op = "queue-create"
	OpQueues           Op = "queues"
	OpReadQueue        Op = "queue-read"
	OpPushQueue        Op = "queue-push"
	OpTrimQueue        Op = "queue-trim"
	OpDropQueue        Op = "queue-drop"
	OpCreateTable      Op = "table-create"
	OpTables           Op = "tables"
	OpRenameTable      Op = "table-rename"
	OpDropTable        Op = "table-drop"
	OpGetRows          Op = "table-get"
	OpListRows         Op = "table-list"
	OpWriteRows        Op = "table-write"
)

// Call is a call about to be made. What belongs to other operations is nil.
type Call struct {
	Op Op
	// Number counts the calls of this operation, from 1.
	Number int
	// Partition is set for OpCommit, OpRaiseGeneration and OpReadInbox.
	Partition store.PartitionID
	Commit    *store.Commit
	List      *store.ListRequest
	Timers    *store.TimerRequest
}

// Fault is what happens to one call, in the order of the fields. The zero Fault
// is none.
type Fault struct {
	// Hold delays the call itself until the channel is closed.
	Hold <-chan struct{}
	// Instead is returned and the store is not called.
	Instead error
	// Release delays the answer, which the store has given already, until the
	// channel is closed.
	Release <-chan struct{}
	// After is returned in place of the answer.
	After error
}

// Unavailable is a store that cannot be reached.
func Unavailable() Fault {
	return Fault{Instead: fmt.Errorf("injected: %w", store.ErrUnavailable)}
}

// DiskFull is a store without room.
func DiskFull() Fault {
	return Fault{Instead: fmt.Errorf("injected: no space left on device: %w", store.ErrUnavailable)}
}

// Lost loses the outcome of a commit, which was applied or not.
func Lost(applied bool) Fault {
	err := fmt.Errorf("injected: %w", store.ErrUnknownOutcome)
	if applied {
		return Fault{After: err}
	}
	return Fault{Instead: err}
}

// Fails returns err without calling the store: store.ErrFenced, a conflict.
func Fails(err error) Fault { return Fault{Instead: fmt.Errorf("injected: %w", err)} }

// Held delays a call until release is closed.
func Held(release <-chan struct{}) Fault { return Fault{Hold: release} }

// Late delays an answer until release is closed: it says what was true before.
func Late(release <-chan struct{}) Fault { return Fault{Release: release} }

// Faults is a store on which a test decides what happens to each call. A held
// call ends early when its context does: ErrUnavailable before the store was
// called, ErrUnknownOutcome for a write after it.
type Faults struct {
	store  store.Store
	decide func(Call) Fault

	mu     sync.Mutex
	counts map[Op]int
	killed chan struct{}
	dead   bool
}

var _ store.Store = (*Faults)(nil)

// NewFaults wraps s. decide is called once for each call, by one goroutine at a
// time; nil decides for no fault.
func NewFaults(s store.Store, decide func(Call) Fault) *Faults {
	if decide == nil {
		decide = func(Call) Fault { return Fault{} }
	}
	return &Faults{store: s, decide: decide, counts: map[Op]int{}, killed: make(chan struct{})}
}

// Kill cuts whoever uses the wrapper off the store, as if their process had
// died: held and later calls fail with ErrUnavailable and change nothing. Those
// that the store is working on come to their end. The store stays open, for the
// next incarnation.
func (f *Faults) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dead {
		f.dead = true
		close(f.killed)
	}
}

// Close closes the store, unless the wrapper was killed.
func (f *Faults) Close() error {
	if f.isDead() {
		return nil
	}
	return f.store.Close()
}

func (f *Faults) isDead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.dead
}

// next numbers the call and asks what is to happen to it.
func (f *Faults) next(c Call) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[c.Op]++
	c.Number = f.counts[c.Op]
	return f.decide(c)
}

// wait waits for release, which may be nil. class is what it fails with when
// the wait ends otherwise.
func (f *Faults) wait(ctx context.Context, release <-chan struct{}, class error) error {
	if release == nil {
		return nil
	}
	select {
	case <-release:
		return nil
	case <-f.killed:
		return fmt.Errorf("injected: this process is dead: %w", class)
	case <-ctx.Done():
		return fmt.Errorf("injected delay: %w: %w", class, ctx.Err())
	}
}

// answerLost is the class of a call that was made and whose answer was not
// waited for.
func answerLost(op Op) error {
	switch op {
	case OpCommit, OpSavePipeline, OpCreatePartitions, OpRelayout, OpCreateQueue, OpPushQueue, OpTrimQueue, OpDropQueue:
		return store.ErrUnknownOutcome
	}
	return store.ErrUnavailable
}

// through makes one call with its fault.
func through[T any](ctx context.Context, f *Faults, c Call, call func() (T, error)) (T, error) {
	var none T
	fault := f.next(c)
	if err := f.wait(ctx, fault.Hold, store.ErrUnavailable); err != nil {
		return none, err
	}
	if f.isDead() {
		return none, fmt.Errorf("injected: this process is dead: %w", store.ErrUnavailable)
	}
	if fault.Instead != nil {
		return none, fault.Instead
	}
	answer, err := call()
	if e := f.wait(ctx, fault.Release, answerLost(c.Op)); e != nil {
		return none, e
	}
	if fault.After != nil {
		return none, fault.After
	}
	return answer, err
}
