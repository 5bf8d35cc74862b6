package engine

import (
	"sync"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/visit"
)

// DefaultVisitBuffer is the budget of all buffers of visit streams.
const DefaultVisitBuffer = 256 << 20

// visitBudget is what the buffers of all visit streams share. A list reserves the
// bytes it may return before it begins; what it does not return is given back
// with its answer, and the rest when the visits are taken.
type visitBudget struct {
	mu    sync.Mutex
	free  int // below 0 when keys were larger than what was left
	total int
	short bool
	wake  func() // called when there is room again
}

func newVisitBudget(total int, wake func()) *visitBudget {
	return &visitBudget{free: total, total: total, wake: wake}
}

// The budget counts as used up when less than a 256th is left, and until a 64th
// is free again. No list gets more than a quarter of what is free, so that many
// that begin together all get something.
const (
	shortAt     = 256
	roomAt      = 64
	listPortion = 4
)

// take reserves bytes for a list: at most what it wants, and at least 1, which is
// enough for one key.
func (b *visitBudget) take(want int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := max(1, min(want, b.free/listPortion))
	b.free -= n
	b.short = b.short || b.free < b.total/shortAt
	return n
}

// give returns bytes to the budget, or takes what was not reserved if n is
// negative.
func (b *visitBudget) give(n int) {
	if b.put(n) {
		b.wake()
	}
}

// put tells whether there is room again.
func (b *visitBudget) put(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free += n
	was := b.short
	b.short = b.free < b.total/shortAt || was && b.free < b.total/roomAt
	return was && !b.short
}

func (b *visitBudget) isShort() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.short
}

// buffers is a job's part of the budget.
type buffers struct {
	held     int   // all that the budget counts for the job
	reserved []int // by lists in flight, by visit stream
	short    bool  // as the machine was told
}

// reserve lowers lists that are about to begin to what the budget has left.
func (j *job) reserve(lists []partition.List) {
	for i := range lists {
		l := &lists[i]
		l.List.MaxBytes = j.env.buffers.take(l.List.MaxBytes)
		if j.buffers.reserved == nil {
			j.buffers.reserved = make([]int, len(j.node.visitors))
		}
		j.buffers.reserved[l.Visitor] = l.List.MaxBytes
		j.buffers.held += l.List.MaxBytes
	}
}

// stepAnswer gives the machine the answer to a list, which ends its reservation.
func (j *job) stepAnswer(now visit.Instant, e partition.Event) {
	switch e := e.(type) {
	case partition.Listed:
		j.buffers.reserved[e.Visitor] = 0
	case partition.ListFailed:
		j.buffers.reserved[e.Visitor] = 0
	}
	j.machine.Step(now, e)
}

// takeRoom brings the budget up to what the job holds by now, and tells the
// machine when it is used up or no longer.
func (j *job) takeRoom(now visit.Instant) {
	if len(j.node.visitors) == 0 {
		return
	}
	held := j.machine.BufferedBytes()
	for _, n := range j.buffers.reserved {
		held += n
	}
	if held != j.buffers.held {
		j.env.buffers.give(j.buffers.held - held)
		j.buffers.held = held
	}
	if short := j.env.buffers.isShort(); short != j.buffers.short {
		j.buffers.short = short
		j.machine.Step(now, partition.NoRoom{On: short})
	}
}
