package partition

import (
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// merging is a stream with a reader: what its producers said so far, and what the
// reader heard of that.
type merging struct {
	t       *testing.T
	machine *Machine
	ids     []store.PartitionID
	stored  []store.StreamReport // the last one that each committed
	heard   []store.StreamReport // the most of what the reader heard of each
	seen    int64                // the watermark that the reader had
	history []any                // for failures
}

func (g *merging) restart(ids []store.PartitionID, stored []store.StreamReport) {
	g.ids, g.stored, g.heard = ids, slices.Clone(stored), slices.Clone(stored)
	g.machine = New(Config{
		Job:    &store.Job{Partition: store.Partition{ID: 99, Generation: 1}},
		Inputs: []Input{{Stream: "s", Producers: ids}}, Params: DefaultParams(),
	}, visit.Instant{})
	var reports []store.Report
	for i, id := range ids {
		reports = append(reports, store.Report{Partition: id, Generation: 1, Streams: []store.StreamReport{stored[i]}})
	}
	g.machine.Step(visit.Instant{}, ReportsRead{reports})
	g.read()
	g.check()
}

// read finds the inbox empty, after which every report counts.
func (g *merging) read() {
	if r := g.machine.Ready(visit.Instant{}); r.ReadInbox != nil {
		g.machine.Accept(visit.Instant{}, Ready{ReadInbox: r.ReadInbox})
		g.machine.Step(visit.Instant{}, InboxRead{End: true})
	}
}

// hear gives the reader a report, which may be older than others of its producer.
func (g *merging) hear(said told) {
	g.history = append(g.history, said)
	i := said.producer
	g.stored[i], g.heard[i] = more(g.stored[i], said.StreamReport), more(g.heard[i], said.StreamReport)
	g.machine.Step(visit.Instant{}, Handover{Report: &store.Report{Partition: g.ids[i], Generation: 1, Streams: []store.StreamReport{said.StreamReport}}})
	g.check()
}

func more(a, b store.StreamReport) store.StreamReport {
	return store.StreamReport{
		Stream: "s", Watermark: max(a.Watermark, b.Watermark), MaxEvent: max(a.MaxEvent, b.MaxEvent), State: max(a.State, b.State),
	}
}

// check looks at all producers: the plain rule of D-15.
func (g *merging) check() {
	g.t.Helper()
	least, largest, finished := endOfTime, store.NoTime, true
	for _, r := range g.heard {
		largest = max(largest, r.MaxEvent)
		if r.State != store.Finished {
			least, finished = min(least, r.Watermark), false
		}
	}
	want := max(g.seen, least)
	if finished {
		want = max(g.seen, largest)
	}
	in := g.machine.inputs[0]
	if in.watermark != want || in.finished != finished {
		g.t.Fatalf("after %+v: watermark %d, completed %v; want %d, %v", g.history, in.watermark, in.finished, want, finished)
	}
	g.seen = want
}

// split replaces the producers by others, each of which takes over from some.
func (g *merging) split(from [][]int) {
	g.history = append(g.history, from)
	var ids []store.PartitionID
	var stored []store.StreamReport
	for i, of := range from {
		var said []store.StreamReport
		for _, j := range of {
			said = append(said, g.stored[j])
		}
		ids = append(ids, g.ids[len(g.ids)-1]+store.PartitionID(i+1))
		stored = append(stored, Inherit("s", said))
	}
	g.restart(ids, stored)
}

// told is a report of a producer, by index.
type told struct {
	producer int
	store.StreamReport
}

func says(producer int, watermark, largest int64, state store.StreamState) told {
	return told{producer, store.StreamReport{Stream: "s", Watermark: watermark, MaxEvent: largest, State: state}}
}

// orders calls do with every order of the reports.
func orders(list []told, do func([]told)) {
	if len(list) < 2 {
		do(list)
		return
	}
	for i := range list {
		rest := slices.Delete(slices.Clone(list), i, i+1)
		orders(rest, func(tail []told) { do(append([]told{list[i]}, tail...)) })
	}
}

// TestWatermarksMergeInEveryOrder: reports of two producers in every order, later ones
// before earlier ones too; at every point the producers are split, merged or moved,
// and their successors report in every order. The reader has the watermark of a plain
// look at all producers, which never goes back, across splits neither (D-13, D-15, D-17).
func TestWatermarksMergeInEveryOrder(t *testing.T) {
	first := []told{
		says(0, 10, 12, store.Active), says(0, 15, 35, store.Finished), // it is behind the other
		says(1, 20, 20, store.Active), says(1, 25, 40, store.Active),
	}
	layouts := map[string][][]int{"none": nil, "merged": {{0, 1}}, "moved": {{0}, {0, 1}}, "split": {{0}, {1}, {1}}}
	cases := 0
	for name, from := range layouts {
		t.Run(name, func(t *testing.T) {
			orders(first, func(list []told) {
				for at := range len(list) + 1 {
					if from == nil && at > 0 {
						return // a split nowhere is one case
					}
					after := slices.Clone(list[at:])
					if from != nil {
						after = nil
						for i := range from {
							after = append(after, says(i, 50, 60, store.Active), says(i, 50, 70+int64(i), store.Finished))
						}
						after = after[:min(len(after), 4)] // of three, one stays open
					}
					orders(after, func(after []told) {
						g := &merging{t: t, seen: store.NoTime}
						nothing := store.StreamReport{Stream: "s", Watermark: store.NoTime, MaxEvent: store.NoTime}
						g.restart([]store.PartitionID{1, 2}, []store.StreamReport{nothing, nothing})
						for _, said := range list[:at] {
							g.hear(said)
						}
						if from != nil {
							g.split(from)
						}
						for _, said := range after {
							g.hear(said)
						}
						cases++
					})
				}
			})
		})
	}
	if cases < 5000 {
		t.Errorf("%d cases", cases)
	}
}
