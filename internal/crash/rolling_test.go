package crash

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// slowJob takes longer, whatever the machine: its source has half the rate.
var slowJob = strings.Replace(clusterJob, "rate = 15000", "rate = 7500", 1)

// newTrioOf is a cluster of three.
func newTrioOf(t *testing.T, server *pgtest.Server, name, job string) *fleet {
	t.Helper()
	f := newFleet(t, server, buildCommand(t), name, job)
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
	f := newTrioOf(t, newServer(t), "rolling", slowJob)
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

// tenure tells who leads, whether for longer than the lease from now on, and whether
// somebody else has beaten since the lease has ended.
const tenure = `SELECT holder, until > clock_timestamp() + interval '1 second',
	EXISTS (SELECT FROM takeover.workers w WHERE w.id <> holder AND w.seen > until) FROM takeover.lease`

// TestAnotherTakesOverAtTheEndOfTheLease: the controller is killed. Its lease ends as
// long after its last beat as it says, and whoever beats first then leads. How long a
// beat takes is up to the machine.
func TestAnotherTakesOverAtTheEndOfTheLease(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	f := newTrioOf(t, server, "takeover", clusterJob)
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
	look, err := pgx.Connect(t.Context(), server.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close(context.Background())
	f.await("another controller", func(*store.View) bool {
		var holder string
		var long, left bool
		if err := look.QueryRow(t.Context(), tenure).Scan(&holder, &long, &left); err != nil {
			t.Fatal(err)
		}
		if long || left {
			t.Fatalf("%s leads for longer than the lease: %v; it is over and another has left it: %v", holder, long, left)
		}
		return holder != before.Lease.Holder
	})
	f.await("the partitions of the dead to have owners", func(*store.View) bool { return !f.owns(c.id()) && !f.owns("") })
	f.finish()
	f.check()
}
