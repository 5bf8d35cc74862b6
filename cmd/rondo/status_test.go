package main

import (
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
)

// Timers show where there are timer streams, what is in flight where nothing runs, and
// what a pipeline is about unless it works.
func TestTheHeadOfTheStatusShows(t *testing.T) {
	waiting := []console.Partition{{ID: 1, Waiting: 1200}, {ID: 2, Waiting: 3}}
	for _, c := range []struct {
		name   string
		status console.Status
		want   string
	}{
		{"a running pipeline", console.Status{Running: true, State: string(engine.Running), Elapsed: 4, Messages: 5, Partitions: waiting},
			"p: running for 4s, spec version 0\n5 messages, 0 epochs, 0 visits, 0 passes\nPARTITION"},
		{"one that is told to stop", console.Status{Running: true, State: string(engine.Draining), Elapsed: 4, Timers: &console.Timers{Fired: 1200, Pending: 3}},
			"p: draining, running for 4s, spec version 0\n0 messages, 0 epochs, 0 visits, 0 passes\n1 200 timers fired, 3 pending\nPARTITION"},
		{"one that was paused", console.Status{State: "stopped", Partitions: waiting, Timers: &console.Timers{Pending: 100_000, More: true}},
			"p: stopped, spec version 0\n0 messages, 0 epochs, 0 visits, 0 passes, 1 203 messages in flight\n0 timers fired, more than 100 000 pending\nPARTITION"},
		{"one of a cluster", console.Status{Running: true, State: string(engine.Running), Workers: []console.Worker{{ID: "a", Unseen: 1}, {ID: "b"}}},
			"p: running on 2 workers, spec version 0\n"},
		{"one whose workers are silent", console.Status{Running: true, State: string(engine.Running), Workers: []console.Worker{{ID: "a", Unseen: 11.6, Silent: true}, {ID: "b", Unseen: 3}}},
			"p: running on 1 worker, 1 more silent for 12s, spec version 0\n"},
		{"one whose workers are all silent", console.Status{Running: true, State: string(engine.Running), Workers: []console.Worker{{ID: "a", Unseen: 11.6, Silent: true}, {ID: "b", Unseen: 25, Silent: true}}},
			"p: running on 0 workers, 2 more silent for 12s to 25s, spec version 0\n"},
		{"one whose workers drain", console.Status{Running: true, State: string(engine.Draining), Workers: []console.Worker{{ID: "a"}, {ID: "b"}}},
			"p: draining on 2 workers, spec version 0\n"},
		{"one whose workers wait", console.Status{State: string(engine.StatePaused), Workers: []console.Worker{{ID: "a"}}, Partitions: waiting},
			"p: paused, waiting on 1 worker, spec version 0\n0 messages, 0 epochs, 0 visits, 0 passes, 1 203 messages in flight\n"},
		{"a completed one", console.Status{State: "completed", Completed: true, Timers: &console.Timers{}},
			"p: completed, spec version 0\n0 messages, 0 epochs, 0 visits, 0 passes\n0 timers fired, 0 pending\nPARTITION"},
	} {
		c.status.Pipeline = "p"
		var out strings.Builder
		if err := printStatus(&out, &c.status); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%s: got\n%swant\n%s", c.name, out.String(), c.want)
		}
	}
}
