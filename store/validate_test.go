package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// valid returns a commit that uses every field in the promised form.
func valid() *store.Commit {
	own := store.InboxKey{Target: 1, Layout: 1, Producer: 9, Generation: 3, Number: 4}
	row := func(target store.PartitionID, number uint64) store.InboxRow {
		key := store.InboxKey{Target: target, Layout: 1, Producer: 1, Generation: 7, Number: number}
		return store.InboxRow{InboxKey: key, Count: 2}
	}
	return &store.Commit{
		Partition: 1, Generation: 7, Computation: "c",
		States:     []store.StateWrite{{Key: "k", Name: "/a"}},
		TimersGone: []store.TimerID{{Key: "k", Trigger: 5, Stream: "t"}, {Key: "l", Trigger: 5, Stream: "t"}},
		TimersSet: []store.Timer{
			{TimerID: store.TimerID{Key: "k", Trigger: 5, Stream: "t"}}, {TimerID: store.TimerID{Key: "a", Trigger: 6, Stream: "t"}},
		},
		Visitors: []store.VisitorRow{{Stream: "sweep", Slot: store.SlotSummaries}},
		Taken:    []store.InboxTake{{Key: own, From: 0, To: 2}},
		Produced: []store.InboxRow{row(2, 1), row(1, 2)},
		Appended: []store.QueueAppend{{Queue: "q"}, {Queue: "q", Partition: 3}},
		Positions: []store.QueuePosition{
			{Queue: "q", Consumer: "c"}, {Queue: "q", Consumer: "c", Partition: 3, Offset: 1},
		},
		Report: &store.Report{Partition: 1, Generation: 7},
	}
}

func TestValidateAcceptsTheFormThatThePackagePromises(t *testing.T) {
	if err := valid().Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestValidateNamesWhatIsWrong(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(c *store.Commit)
		want  string
	}{
		{"no partition", func(c *store.Commit) { c.Partition = 0 }, "no partition"},
		{"no computation", func(c *store.Commit) { c.Computation = "" }, "no computation"},
		{"foreign report", func(c *store.Commit) { c.Report.Generation = 6 }, "report is by partition 1, generation 6"},
		{"empty state name", func(c *store.Commit) { c.States[0].Name = "" }, "state name"},
		{"zero byte in a state name", func(c *store.Commit) { c.States[0].Name = "/a\x00b" }, "zero byte"},
		{"timer without stream", func(c *store.Commit) { c.TimersSet[0].Stream = "" }, "timer stream"},
		{"timer removed twice", func(c *store.Commit) { c.TimersGone[1] = c.TimersGone[0] }, "removes timer {Key:k Trigger:5 Stream:t} out of order"},
		{"timers out of order", func(c *store.Commit) { c.TimersSet[1].Trigger = 4 }, "sets timer"},
		{"visitor row without stream", func(c *store.Commit) { c.Visitors[0].Stream = "" }, "no stream"},
		{"unknown slot", func(c *store.Commit) { c.Visitors[0].Slot = -3 }, "slot -3"},
		{"take of another's row", func(c *store.Commit) { c.Taken[0].Key.Target = 2 }, "another partition"},
		{"take of nothing", func(c *store.Commit) { c.Taken[0].From = 2 }, "messages 2 to 2"},
		{"take of a negative prefix", func(c *store.Commit) { c.Taken[0].From = -1 }, "messages -1 to 2"},
		{"row taken twice", func(c *store.Commit) { c.Taken = append(c.Taken, c.Taken[0]) }, "twice"},
		{"row for nobody", func(c *store.Commit) { c.Produced[0].Target = 0 }, "no partition"},
		{"row by another partition", func(c *store.Commit) { c.Produced[0].Producer = 2 }, "another owner"},
		{"row by another generation", func(c *store.Commit) { c.Produced[0].Generation = 6 }, "another owner"},
		{"number zero", func(c *store.Commit) { c.Produced[0].Number = 0 }, "number 0 after 0"},
		{"numbers out of order", func(c *store.Commit) { c.Produced[1].Number = 1 }, "number 1 after 1"},
		{"previous row is not earlier", func(c *store.Commit) { c.Produced[1].Previous = 2 }, "names 2"},
		{"row without messages", func(c *store.Commit) { c.Produced[0].Count = 0 }, "0 messages"},
		{"row for a queue without a name", func(c *store.Commit) { c.Appended[1].Queue = "" }, "appended row 1: the queue name"},
		{"row for a partition below zero", func(c *store.Commit) { c.Appended[0].Partition = -1 }, "no partition -1"},
		{"position in a queue without a name", func(c *store.Commit) { c.Positions[0].Queue = "" }, `consumer "c": the queue name`},
		{"position of nobody", func(c *store.Commit) { c.Positions[1].Consumer = "" }, "the consumer name"},
		{"position in a partition below zero", func(c *store.Commit) { c.Positions[1].Partition = -1 }, "no partition -1"},
		{"row already consumed", func(c *store.Commit) { c.Produced[0].Consumed = 1 }, "1 of them consumed"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c := valid()
			tc.spoil(c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestValidateReportsEveryProblem(t *testing.T) {
	c := valid()
	c.Computation, c.States[0].Name, c.Taken[0].To = "", "", 0
	err := c.Validate()
	for _, want := range []string{"no computation", "state name", "messages 0 to 0"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("got %v, want it to name %q too", err, want)
		}
	}
}

func TestATakeMustFitTheStoredRow(t *testing.T) {
	cases := []struct {
		name            string
		take            store.InboxTake
		count, consumed int
		conflict, ok    bool
	}{
		{"the whole row", store.InboxTake{From: 0, To: 5, Remove: true}, 5, 0, false, true},
		{"a prefix", store.InboxTake{From: 2, To: 4}, 5, 2, false, true},
		{"another prefix is stored", store.InboxTake{From: 1, To: 4}, 5, 2, true, false},
		{"beyond the row", store.InboxTake{From: 0, To: 6, Remove: true}, 5, 0, false, false},
		{"the end without removing", store.InboxTake{From: 0, To: 5}, 5, 0, false, false},
		{"removing before the end", store.InboxTake{From: 0, To: 4, Remove: true}, 5, 0, false, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.take.Check(tc.count, tc.consumed)
			if (err == nil) != tc.ok || errors.Is(err, store.ErrConflict) != tc.conflict {
				t.Fatalf("got %v, want ok %v, conflict %v", err, tc.ok, tc.conflict)
			}
		})
	}
}

func TestRoutingMustBeTheStoredOne(t *testing.T) {
	stored := []store.Route{{Computation: "a", Layout: 3}, {Computation: "b", Layout: 1}}
	cases := []struct {
		name string
		used []store.Route
		ok   bool
	}{
		{"nothing routed", nil, true},
		{"the stored layout", []store.Route{{Computation: "b", Layout: 1}}, true},
		{"an older layout", []store.Route{{Computation: "b", Layout: 1}, {Computation: "a", Layout: 2}}, false},
		{"a computation without a route", []store.Route{{Computation: "c", Layout: 1}}, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			err := store.CheckRouting(tc.used, stored)
			if (err == nil) != tc.ok || errors.Is(err, store.ErrConflict) == tc.ok {
				t.Fatalf("got %v, want ok %v", err, tc.ok)
			}
		})
	}
}

func TestAQueueNeedsANameAndPartitions(t *testing.T) {
	for _, tc := range []struct {
		name       string
		partitions int
		want       string
	}{
		{"//any/path", 1, ""},
		{"\xff", store.MaxQueuePartitions, ""},
		{"", 1, "queue name"},
		{"a\x00", 1, "zero byte"},
		{"q", 0, "0 partitions"},
		{"q", store.MaxQueuePartitions + 1, "4097 partitions"},
	} {
		err := store.ValidateQueue(tc.name, tc.partitions)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("queue %q of %d partitions: got %v, want %q", tc.name, tc.partitions, err, tc.want)
		}
	}
}
