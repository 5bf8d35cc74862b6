package main

import (
	"syscall"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/engine"
)

// told is a display that passes on what it is told.
type told struct {
	shown  chan *engine.Status
	closed bool
}

func (d *told) every() time.Duration  { return time.Millisecond }
func (d *told) show(s *engine.Status) { d.shown <- s }
func (d *told) close()                { d.closed = true }
func status(partitions int) engine.Status {
	return engine.Status{Partitions: make([]engine.PartitionStatus, partitions)}
}

func TestWatchTellsTheDisplayFromTheFirstPartitionUntilItIsDone(t *testing.T) {
	calls := 0
	d := &told{shown: make(chan *engine.Status)}
	done := watch(func() engine.Status { calls++; return status(calls - 1) }, d)
	for want := 1; want <= 3; want++ {
		if got := len((<-d.shown).Partitions); got != want {
			t.Errorf("shown %d partitions, want %d", got, want)
		}
	}
	go func() {
		for range d.shown { // one more may be under way
		}
	}()
	done()
	close(d.shown)
	if !d.closed {
		t.Error("the display is not closed")
	}
}

func TestOnInterruptHearsSIGTERMAndLeavesNoGoroutine(t *testing.T) {
	got := make(chan struct{}, 1)
	ignore := onInterrupt(func() { got <- struct{}{} }, nil, time.Now)
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-got
	ignore()
}
