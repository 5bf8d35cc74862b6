package crash

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// loses kills a worker that has the lease, or one that has not.
func (f *fleet) loses(controller bool) {
	f.t.Helper()
	i := f.at(controller)
	_ = f.crews[i].cmd.Process.Kill()
	<-f.crews[i].end
	f.crews = slices.Delete(f.crews, i, i+1)
}

// at is the place of the worker that has the lease, or of one that has not.
func (f *fleet) at(controller bool) (i int) {
	f.t.Helper()
	f.await("a controller that lives", func(v *store.View) bool {
		holder := slices.IndexFunc(f.crews, func(c *crew) bool { return c.id() == v.Lease.Holder })
		if i = holder; !controller {
			i = (holder + 1) % len(f.crews)
		}
		return holder >= 0
	})
	return i
}

// target is what the workers were told.
func (f *fleet) target() store.Target {
	f.t.Helper()
	p, err := f.look.Pipeline(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return p.Target
}

// state waits until the workers have come to a state.
func (f *fleet) state(want engine.State) {
	f.t.Helper()
	f.await(string(want), func(v *store.View) bool {
		p, err := f.look.Pipeline(f.t.Context())
		return err == nil && cluster.StateOf(p, v) == want
	})
	if f.over() {
		f.t.Fatalf("the pipeline is completed, and never was %s", want)
	}
}

// inFlight is how many messages wait.
func (f *fleet) inFlight() (n int) {
	f.t.Helper()
	sizes, err := f.look.InboxSizes(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, s := range sizes {
		n += s.Messages
	}
	return n
}

// TestAStopIsCarriedOutThoughWorkersDie: a frozen worker keeps the drain from being
// over; then it is killed, and the controller too. The one that is left drains all,
// others come and wait, and go on exactly there.
func TestAStopIsCarriedOutThoughWorkersDie(t *testing.T) {
	t.Parallel()
	f := newTrioOf(t, newServer(t), "stopped", slowJob)
	f.await("all workers to have partitions", func(*store.View) bool {
		return !slices.ContainsFunc(f.crews, func(c *crew) bool { return !f.owns(c.id()) })
	})
	f.flows("messages to flow")
	frozen := f.crews[f.at(false)]
	if err := frozen.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	stop := exec.CommandContext(t.Context(), f.command, "stop", "--store", f.url)
	stop.Stderr = &said
	if err := stop.Start(); err != nil {
		t.Fatal(err)
	}
	f.await("the stop to be stored", func(*store.View) bool { return f.target() != store.ToWork })
	f.loses(true)
	if f.target() != store.ToDrain {
		t.Error("the drain was over before the controller died, so the test tells little")
	}
	_ = frozen.cmd.Process.Kill()
	<-frozen.end
	f.crews = slices.DeleteFunc(f.crews, func(c *crew) bool { return c == frozen })
	if err := stop.Wait(); err != nil || !strings.Contains(said.String(), "stopped; rondo start goes on") {
		t.Fatalf("rondo stop: %v\n%s", err, said.String())
	}
	if f.over() {
		t.Fatal("there was nothing to stop")
	}
	stopped := f.handled()
	if n := f.inFlight(); n > 0 {
		t.Errorf("%d messages are in flight", n)
	}
	f.hire()
	f.hire()
	f.state(engine.StateStopped)
	if n := f.handled(); n != stopped {
		t.Errorf("%d messages are handled after a stop, %d before", n, stopped)
	}
	f.run("start", filepath.Join(f.dir, "job.yson"), "--store", f.url)
	f.finish()
	f.check()
}

// TestAPauseOutlivesWorkersAndTheDatabase: all are killed, and what comes in their place
// waits until the pipeline is started.
func TestAPauseOutlivesWorkersAndTheDatabase(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	f := newFleet(t, server, buildCommand(t), "paused", slowJob)
	f.hire()
	f.hire()
	f.flows("messages to flow")
	f.run("pause", "--store", f.url)
	if f.over() {
		t.Fatal("there was nothing to pause")
	}
	paused, left := f.handled(), f.inFlight()
	f.loses(false)
	f.loses(true)
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := server.Begin(); err != nil {
		t.Fatal(err)
	}
	f.hire()
	f.hire()
	f.state(engine.StatePaused)
	if n, waits := f.handled(), f.inFlight(); n != paused || waits != left {
		t.Errorf("%d messages are handled and %d in flight, %d and %d at the pause", n, waits, paused, left)
	}
	f.run("start", filepath.Join(f.dir, "job.yson"), "--store", f.url)
	f.finish()
	f.check()
}
