package main

import (
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// sweeping is a partition of routes in a pass of sweep.
func sweeping(id store.PartitionID, pass uint64, progress float64, evicted int64) engine.PartitionStatus {
	return engine.PartitionStatus{
		ID: id, Computation: "routes", Kind: store.RangePartition, Phase: engine.Working,
		Status: partition.Status{
			Totals: store.Totals{Counts: []store.Count{{Name: "evictions", Value: evicted}}},
			Visitors: []visit.Status{{
				Stream: "sweep", Pass: pass, Progress: progress, Processed: visit.Rate{Value: 400.125, Known: true},
				Left: time.Duration(id) * time.Second, LeftKnown: true,
			}},
		},
	}
}

func completed(p engine.PartitionStatus) engine.PartitionStatus {
	p.Phase = engine.Done
	return p
}

func final(p engine.PartitionStatus) engine.PartitionStatus {
	p.Visitors[0].Final = true
	return p
}

func failing(p engine.PartitionStatus) engine.PartitionStatus {
	p.Phase, p.Error = engine.BackedOff, "key [7 DTW LAS]:\nno"
	return p
}

func stuck(p engine.PartitionStatus) engine.PartitionStatus {
	p.Busy, p.BusyFor = "[7 DTW LAS]", 31400*time.Millisecond
	p.Visitors[0].Problems = []visit.Problem{{Path: "/key_visitor/sweep/scan_cap_stall", Message: "raise the cap"}}
	return p
}

func TestTheBlockShows(t *testing.T) {
	reader := engine.PartitionStatus{ID: 1, Computation: "reader", Kind: store.SourcePartition, Phase: engine.Working}
	starting := engine.PartitionStatus{ID: 9, Computation: "routes", Phase: engine.Starting}
	formerly := engine.PartitionStatus{ID: 8, Computation: "routes", Phase: engine.Done}
	for _, c := range []struct {
		name  string
		parts []engine.PartitionStatus
		want  string
	}{
		{"a pipeline that has just begun", []engine.PartitionStatus{reader}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
Ctrl-C stops; the same command goes on
`},
		{"the slowest partition's pass, in which others are through", []engine.PartitionStatus{sweeping(2, 3, 0.5, 7), sweeping(3, 4, 0.1, 1), reader}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
routes/sweep [==================      ] pass 3, 75%, 3s left  800 visits/s  8 evictions
Ctrl-C stops; the same command goes on
`},
		{"a partition that has not begun holds the pass back", []engine.PartitionStatus{sweeping(2, 3, 1, 7), starting}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
routes/sweep [============            ] pass 3, 50%, 2s left  400 visits/s  7 evictions
Ctrl-C stops; the same command goes on
`},
		{"the final pass is the last one of all partitions", []engine.PartitionStatus{final(sweeping(2, 3, 0.5, 0)), completed(sweeping(3, 3, 1, 1)), formerly, formerly}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
routes/sweep [=====================   ] final pass 3, 88%, 2s left  400 visits/s  1 evictions
Ctrl-C stops; the same command goes on
`},
		{"one final pass among others", []engine.PartitionStatus{final(sweeping(2, 3, 0, 0)), sweeping(3, 3, 0, 0)}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
routes/sweep [                        ] pass 3, 0%, 3s left  800 visits/s  0 evictions
Ctrl-C stops; the same command goes on
`},
		{"sinks yet to write after all passes", []engine.PartitionStatus{completed(sweeping(2, 3, 1, 1))}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
routes/sweep [========================] done  0 visits/s  1 evictions
Ctrl-C stops; the same command goes on
`},
		{"the first trouble on one line", []engine.PartitionStatus{failing(sweeping(2, 0, 0, 0)), stuck(sweeping(3, 0, 0, 0))}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
routes/sweep [                        ] pass 0, 0%, 3s left  800 visits/s  0 evictions
! routes, partition 2, backing off: key [7 DTW LAS]: no (and 2 more)
`},
		{"a handler that does not return", []engine.PartitionStatus{stuck(sweeping(5, 0, 0, 0))}, `
12 840 messages  61 230/s  1 214 epochs  1m3s
routes/sweep [                        ] pass 0, 0%, 5s left  400 visits/s  0 evictions
! routes, partition 5: key [7 DTW LAS] has been in its handler for 31s (and 1 more)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := engine.Status{Partitions: c.parts}
			s.Messages, s.Epochs, s.Elapsed = 12_840, 1214, 63900*time.Millisecond
			v := newView(&s, 61_230.7)
			var got strings.Builder
			for i := range blockLines + len(v.sweeps) {
				got.WriteString("\n" + v.line(i, 120))
			}
			if got := got.String() + "\n"; got != c.want {
				t.Errorf("got:%swant:%s", got, c.want)
			}
		})
	}
}

func TestALineIsCutToTheWidthOfTheTerminal(t *testing.T) {
	for width, want := range map[int]string{0: "…", 1: "…", 4: "abc…", 5: "abcdé", 80: "abcdé"} {
		if got := cut("abcdé", width); got != want {
			t.Errorf("width %d: got %q, want %q", width, got, want)
		}
	}
}

func TestAVisitStreamThatHasNotBegunIsAnEmptyLine(t *testing.T) {
	v := newView(&engine.Status{}, 0)
	if got := v.line(2, 80); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestDigitsAreInGroupsOfThree(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1 000", -6: "-6", -154078: "-154 078", 1234567: "1 234 567"} {
		if got := digits(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestTheRateIsThatOfTheLastTwoSeconds(t *testing.T) {
	var r rates
	for _, step := range []struct {
		at       time.Duration
		messages uint64
		want     float64
	}{
		{0, 1000, 0},
		{500 * time.Millisecond, 1500, 1000},
		{time.Second, 2500, 1500},
		{2 * time.Second, 2500, 750},
		{3 * time.Second, 2500, 0},
		{13 * time.Second, 3500, 100}, // since the reading before
	} {
		s := engine.Status{Summary: engine.Summary{Messages: step.messages, Elapsed: step.at}}
		if got := r.add(&s); got != step.want {
			t.Errorf("at %v: got %v, want %v", step.at, got, step.want)
		}
	}
	first := rates{}
	if got := first.add(&engine.Status{Summary: engine.Summary{Messages: 10, Elapsed: time.Second, Rate: 7}}); got != 7 {
		t.Errorf("at the first reading: got %v, want that of the run", got)
	}
}
