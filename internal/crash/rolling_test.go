package crash

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// slowJob takes longer, whatever the machine: its source has half the rate.
var slowJob = strings.Replace(clusterJob, "rate = 15000", "rate = 7500", 1)

// newTrioOf is a cluster of three.
func newTrioOf(t *testing.T, name, job string) *fleet {
	t.Helper()
	f := newFleet(t, newServer(t), buildCommand(t), name, job)
	for range 3 {
		f.hire()
	}
	return f
}

// handled is how many messages all partitions have handled.
func (f *fleet) handled() (n uint64) {
	f.t.Helper()
	totals, err := f.look.Totals(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, t := range totals {
		n += t.Totals.Messages
	}
	return n
}

// flows waits until more messages are handled than there are now.
func (f *fleet) flows(what string) {
	f.t.Helper()
	before := f.handled()
	f.await(what, func(*store.View) bool { return f.handled() > before })
}

// TestARollingRestartStopsNothing: each of three workers is told to leave, and another
// takes its place, while messages flow.
func TestARollingRestartStopsNothing(t *testing.T) {
	t.Parallel()
	f := newTrioOf(t, "rolling", slowJob)
	for i := range 3 {
		c := f.crews[0]
		f.await("the worker to have partitions", func(*store.View) bool { return f.owns(c.id()) })
		if f.over() {
			if t.Logf("the pipeline is completed after %d restarts", i); i == 0 {
				t.Fatal("there was nothing to restart for")
			}
			break // the machine is slower than the source
		}
		if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		f.flows("messages to flow while a worker leaves")
		<-c.end
		if !c.cmd.ProcessState.Success() {
			t.Errorf("worker %s: %s", c.id(), c.cmd.ProcessState)
		}
		f.flows("messages to flow without it")
		f.crews = slices.Delete(f.crews, 0, 1)
		f.hire()
		f.flows("messages to flow with another in its place")
	}
	f.finish()
	f.check()
}

// TestAnotherTakesOverWithinTheLease: the controller is killed; the time is that of the
// database. A beat more than the lease is the most that it takes, and the rest is for a
// machine that is busy.
func TestAnotherTakesOverWithinTheLease(t *testing.T) {
	t.Parallel()
	f := newTrioOf(t, "takeover", clusterJob)
	f.await("all workers to have partitions", func(*store.View) bool {
		return !slices.ContainsFunc(f.crews, func(c *crew) bool { return !f.owns(c.id()) })
	})
	before, err := f.look.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(f.crews, func(c *crew) bool { return c.id() == before.Lease.Holder })
	c := f.crews[i]
	_ = c.cmd.Process.Kill()
	f.crews = slices.Delete(f.crews, i, i+1)
	var took time.Duration
	f.await("another controller", func(v *store.View) bool {
		took = time.Duration(v.Now - before.Now)
		return v.Lease.Holder != before.Lease.Holder
	})
	t.Logf("another took over %s after the controller was seen last", took)
	if took > 2500*time.Millisecond {
		t.Errorf("it took %s, with leases of 1 s", took)
	}
	f.await("the partitions of the dead to have owners", func(*store.View) bool { return !f.owns(c.id()) && !f.owns("") })
	f.finish()
	f.check()
}
