package storetest

import (
	"errors"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// relayoutTests are about partitions that are replaced (D-13).
var relayoutTests = map[string]func(t *testing.T, h Harness){
	"successors begin with what they were given, under the next layout": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 3, "abc"), w.produce(2, 2, "de"))
		rows := w.inbox(2)
		w.must(2, take(rows[0].InboxKey, 0, 1, false), visits("sweep 0=a"))
		rows = w.inbox(2)
		made, err := w.Relayout(w.ctx, store.Relayout{
			Computation: "right", Replaced: []store.PartitionID{w.parts[2].ID},
			Plan: func(f *store.Former) ([]store.Successor, error) {
				w.equal("partitions", len(f.All), 3)
				w.equal("visitors", describeVisitors(f.Jobs[0].Visitors), "[sweep 0=a]")
				w.equal("row", describeRow(f.Inbox[0]), describeRow(rows[0]))
				half := store.Partition{Computation: "right", Kind: store.RangePartition, Upper: 1 << 63}
				other := store.Partition{Computation: "right", Kind: store.RangePartition, Lower: 1 << 63, Open: true}
				cut := f.Inbox[0]
				cut.Count, cut.Consumed, cut.Payload = 1, 0, []byte("b")
				rest := cut
				rest.Payload = []byte("c")
				return []store.Successor{
					{Partition: half, Inbox: []store.InboxRow{cut, f.Inbox[1]}, Visitors: f.Jobs[0].Visitors, Report: &store.Report{Computation: "right"}},
					{Partition: other, Inbox: []store.InboxRow{rest}, Totals: &store.Totals{Epochs: 7}},
				}, nil
			},
		})
		w.check(err)
		w.equal("layout", []uint64{made[0].Layout, made[1].Layout}, []uint64{2, 2})
		w.reopen()
		w.parts = append(w.parts[:2], made...)
		w.equal("first", describeVisitors(w.raise(2).Visitors), "[sweep 0=a]")
		w.equal("counters of the second", w.raise(3).Totals.Epochs, 7)
		w.equal("rows of the first", len(w.inbox(2)), 2)
		w.equal("rows of the second", string(w.inbox(3)[0].Payload), "c")
		reports, err := w.Reports(w.ctx)
		w.check(err)
		w.equal("report", reports, []store.Report{{Partition: made[0].ID, Computation: "right", Layout: 2}})
		w.must(2, take(w.inbox(2)[0].InboxKey, 0, 1, true))
	},
	"what is replaced exists no longer": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(2, set("k", "/x", "1"), everyField("1"))
		stale := w.commit(2, set("k", "/x", "2"))
		former := w.parts[2].ID
		w.equal("outcome", w.relayout("right", 1, false) != "", true)
		w.refuses(store.ErrFenced, stale)
		_, err := w.RaiseGeneration(w.ctx, former)
		w.isClass(err, store.ErrFenced)
		w.equal("states", describeKeys(w.list("right")), describeKeys([]store.ListedKey{{Key: "k", Bytes: 4, Rows: []store.StateRow{{Name: "/x", Value: []byte("1")}}}}))
	},
	"producers are told by a conflict": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		routed := func(c *store.Commit) { c.Routing = []store.Route{{Computation: "right", Layout: 1}} }
		stale := w.commit(0, set("a", "/x", "1"), routed)
		made, err := w.Relayout(w.ctx, store.Relayout{
			Computation: "right", Replaced: []store.PartitionID{w.parts[2].ID},
			Plan: func(f *store.Former) ([]store.Successor, error) { return successors(f, "right", 2), nil },
		})
		w.check(err)
		w.refuses(store.ErrConflict, stale)
		w.equal("routing", w.raise(0).Partition.Routing, []store.Route{{Computation: "right", Layout: made[0].Layout}, {Computation: "elsewhere", Layout: 7}})
	},
	"consumers of completed partitions that are replaced get new generations": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		replace := func() {
			_, err := w.Relayout(w.ctx, store.Relayout{
				Computation: "left", Replaced: []store.PartitionID{w.parts[0].ID, w.parts[1].ID},
				Plan: func(f *store.Former) ([]store.Successor, error) { return successors(f, "left", 2), nil },
			})
			w.check(err)
			all, err := w.Partitions(w.ctx)
			w.check(err)
			w.parts = append(all[1:], all[0]) // as they were: of left, left, right
		}
		replace()
		w.raise(0)
		w.raise(1)
		w.must(2, set("k", "/x", "1")) // whom nothing concerns
		w.must(0, func(c *store.Commit) { c.Done = true })
		stale := w.commit(2, set("k", "/x", "2"), func(c *store.Commit) { c.Done = true })
		replace()
		w.refuses(store.ErrFenced, stale)
		w.equal("state", w.parts[2].State, store.Executing)
		w.reopen()
		w.must(2, set("k", "/x", "3"))
	},
	"a refused relayout changes nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 2, "p"))
		before := w.dump()
		no := errors.New("no")
		_, err := w.Relayout(w.ctx, store.Relayout{
			Computation: "right", Replaced: []store.PartitionID{w.parts[2].ID},
			Plan: func(*store.Former) ([]store.Successor, error) { return nil, no },
		})
		if !errors.Is(err, no) {
			t.Fatalf("error %v, want the plan's own", err)
		}
		_, err = w.Relayout(w.ctx, store.Relayout{
			Computation: "right", Replaced: []store.PartitionID{w.parts[1].ID},
			Plan: func(*store.Former) ([]store.Successor, error) { return nil, nil },
		})
		w.isClass(err, store.ErrConflict)
		_, err = w.Relayout(w.ctx, store.Relayout{
			Computation: "right", Replaced: []store.PartitionID{w.parts[2].ID},
			Plan: func(f *store.Former) ([]store.Successor, error) { return successors(f, "left", 1), nil },
		})
		w.isClass(err, nil)
		w.equal("dump", w.dump(), before)
	},
	"no pipelined commit takes effect after its partition was replaced": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		p := &pipeline{w: w, owner: w.parts[0], begun: make(chan struct{}, 40)}
		for i := range 8 {
			p.workers.Add(1)
			go p.commitUntilFenced(i)
		}
		for range cap(p.begun) {
			<-p.begun
		}
		w.relayout("left", 3, false)
		p.check(t, keysOf(w.list("left")))
	},
}
