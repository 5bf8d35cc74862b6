package main

import (
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/console"
)

func known[T any](v T) *T { return &v }

// Each stream is shown as a row of the table and as a bar.
func TestAVisitStreamShows(t *testing.T) {
	for _, c := range []struct {
		name string
		v    console.VisitStream
		row  string
		bar  string
	}{
		{
			"before anything is known",
			console.VisitStream{State: "scanning", Pass: 1},
			"routes/sweep scanning 1 0% - 0s - - - - 0 0",
			"routes/sweep [                        ] scanning, pass 1, 0%, - left, lag 0s  - ready  - of - visits/s  0 failed  0 gone",
		},
		{
			"in the middle of the last pass",
			console.VisitStream{
				State: "scanning", Pass: 12, Final: true, Progress: 0.504, Left: known(61.4), Lag: 1.26, Ready: known(1234),
				Offered: known(20_000.4), Processed: known(2.345), Pace: known(0.876), Failed: 1, Gone: 2345,
			},
			"routes/sweep scanning 12 final 50% 1m1s 1.3s 1 234 20 000 2.3 88% 1 2 345",
			"routes/sweep [============            ] scanning, pass 12 final, 50%, 1m1s left, lag 1.3s  1 234 ready  2.3 of 20 000 visits/s  1 failed  2345 gone",
		},
		{
			"disabled, which aims at nothing",
			console.VisitStream{State: "disabled", Pass: 3, RunNow: true, Progress: 1, Left: known(0.0), Ready: known(0), Offered: known(0.0), Processed: known(0.0), Pace: known(1.0)},
			"routes/sweep disabled 3 run-now 100% - 0s 0 - 0 - 0 0",
			"routes/sweep [========================] disabled, pass 3 run-now, 100%, - left, lag 0s  0 ready  0 of - visits/s  0 failed  0 gone",
		},
		{
			"when it is through",
			console.VisitStream{State: "completed", Progress: 1},
			"routes/sweep completed - 100% - 0s - - - - 0 0",
			"routes/sweep [========================] completed, pass -, 100%, - left, lag 0s  - ready  - of - visits/s  0 failed  0 gone",
		},
	} {
		c.v.Computation, c.v.Stream = "routes", "sweep"
		if got := strings.Join(row(&c.v), " "); got != c.row {
			t.Errorf("%s: the row is\n%s, want\n%s", c.name, got, c.row)
		}
		if got := barLine(&console.Visits{Streams: []console.VisitStream{c.v}}, 0); got != c.bar {
			t.Errorf("%s: the bar is\n%s, want\n%s", c.name, got, c.bar)
		}
	}
}

func TestTheLineBelowTheBarsTellsTheFirstProblem(t *testing.T) {
	v := &console.Visits{Streams: []console.VisitStream{{}, {Problems: []console.Problem{{Path: "/a", Message: "no"}, {Path: "/b", Message: "never"}}}}}
	for i, want := range map[int]string{2: "! /a: no (and 1 more)", 3: ""} {
		if got := barLine(v, i); got != want {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
	if got, want := problemLines([]console.Problem{{Path: "/a", Message: "no\nnever"}, {Path: "/b", Message: "rests", Warning: true}}), "! /a: no\n  never\n? /b: rests\n"; got != want {
		t.Errorf("the tree is %q, want %q", got, want)
	}
}
