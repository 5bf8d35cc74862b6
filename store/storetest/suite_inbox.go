package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

var conflictTests = map[string]func(t *testing.T, h Harness){
	// D-9
	"taking a row with another prefix changes nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 5, "p"))
		row := w.inbox(2)[0].InboxKey
		everything := func(c *store.Commit) {
			set("a", "/x", "1")(c)
			w.produce(0, 1, "q")(c)
			c.Visitors = []store.VisitorRow{{Stream: "sweep", Value: []byte("v")}}
			c.Offset, c.Position, c.Totals = []byte("o"), []byte("p"), &store.Totals{Epochs: 1}
			c.Report = &store.Report{Partition: c.Partition, Generation: c.Generation, Computation: c.Computation}
			c.Done = true
		}
		w.refuses(store.ErrConflict, w.commit(2, everything, take(row, 2, 3, false)))
		w.numbers[w.parts[2].ID] = 0
		w.must(2, take(row, 0, 2, false))
		w.refuses(store.ErrConflict, w.commit(2, everything, take(row, 0, 3, false)))
		w.refuses(store.ErrConflict, w.commit(2, everything, take(row, 3, 5, true)))
		w.must(2, take(row, 2, 5, true))
		w.refuses(store.ErrConflict, w.commit(2, everything, take(row, 2, 5, true)))
		job := w.raise(2)
		w.equal("job", fmt.Sprintf("%v %q %q %+v %v %v", job.Visitors, job.Offset, job.Position, job.Totals, job.Report, job.Partition.State),
			`[] "" "" {Epochs:0 Messages:0 Timers:0 Visits:0 Passes:0 Counts:[]} <nil> 1`)
	},
	"taking a row that was never there changes nothing, whatever else is taken": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 5, "p"))
		there := w.inbox(2)[0].InboxKey
		absent := there
		absent.Number++
		w.refuses(store.ErrConflict, w.commit(2, take(there, 0, 5, true), take(absent, 0, 1, false)))
		w.refuses(store.ErrConflict, w.commit(2, take(absent, 0, 1, false), take(there, 0, 5, true)))
		w.must(2, take(there, 0, 5, true))
	},
	// D-12
	"rows routed by another layout are refused": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		routed := func(r ...store.Route) func(*store.Commit) {
			return func(c *store.Commit) { c.Routing = r }
		}
		right := store.Route{Computation: "right", Layout: 1}
		w.refuses(store.ErrConflict, w.commit(0, set("a", "/x", "1"), w.produce(2, 1, "p"), routed(store.Route{Computation: "right", Layout: 2})))
		w.refuses(store.ErrConflict, w.commit(0, routed(right, store.Route{Computation: "unknown", Layout: 1})))
		w.refuses(store.ErrConflict, w.commit(2, routed(right)))
		w.must(0, routed(right))
		w.must(0, routed(store.Route{Computation: "elsewhere", Layout: 7}, right))
	},
}

var inboxTests = map[string]func(t *testing.T, h Harness){
	// D-8: older layouts first, then producers, then generation and number.
	"rows come by lane, then place": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(1, w.produce(2, 1, "p1"), w.produce(0, 1, "elsewhere"))
		newer := w.commit(0, w.produce(2, 1, "newer layout"))
		newer.Produced[0].Layout = 2
		w.check(w.Commit(w.ctx, newer))
		w.must(0, w.produce(2, 1, "a"), w.produce(2, 1, "b"))
		w.raise(0)
		w.must(0, w.produce(2, 1, "c"))
		w.reads(store.InboxRequest{}, "a b c p1 newer_layout end")
		w.equal("other inboxes", len(w.inbox(0))+len(w.inbox(1)), 1)
	},
	"a row comes back whole": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		c := w.commit(0, w.produce(2, 1, "x"), w.produce(2, 40, "payload\x00\xff"))
		r := &c.Produced[1]
		r.Previous, r.MinEvent = 1, store.NoTime
		w.check(w.Commit(w.ctx, c))
		w.must(2, take(r.InboxKey, 0, 39, false))
		want := *r
		want.Consumed = 39
		w.equal("row", describeRow(w.inbox(2)[1]), describeRow(want))
	},
	"a row without payload is a row": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 3, ""))
		w.equal("rows", len(w.inbox(2)), 1)
		w.must(2, take(w.inbox(2)[0].InboxKey, 0, 3, true))
		w.equal("rows", len(w.inbox(2)), 0)
	},
	// D-11
	"a read goes on beyond its positions": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 1, "a"), w.produce(2, 1, "b"))
		w.must(1, w.produce(2, 1, "k"))
		first := w.parts[0].Generation
		w.raise(0)
		w.must(0, w.produce(2, 1, "c"))
		lane := store.Lane{Layout: 1, Producer: w.parts[0].ID}
		after := func(g store.Generation, n uint64) store.InboxRequest {
			return store.InboxRequest{After: []store.LanePlace{{Lane: lane, Place: store.Place{Generation: g, Number: n}}}}
		}
		w.reads(after(0, 0), "a b c k end")
		w.reads(after(first, 1), "b c k end")
		w.reads(after(first, 2), "c k end")
		w.reads(after(first, 1000), "c k end")
		w.reads(after(w.parts[0].Generation, 1), "k end")
		other := after(first, 2)
		other.After = append(other.After, store.LanePlace{Lane: store.Lane{Layout: 1, Producer: w.parts[1].ID}, Place: store.Place{Generation: w.parts[1].Generation, Number: 1}})
		other.After = append(other.After, store.LanePlace{Lane: store.Lane{Layout: 9, Producer: 77}, Place: store.Place{Generation: 1, Number: 1}})
		w.reads(other, "c end")
	},
	"bytes are limited for each lane, and each gives a row": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 1, "aaaa"), w.produce(2, 1, "bb"), w.produce(2, 1, "c"))
		w.must(1, w.produce(2, 1, "kkkkkkkk"), w.produce(2, 1, "l"))
		w.reads(store.InboxRequest{MaxBytes: 1}, "aaaa kkkkkkkk")
		w.reads(store.InboxRequest{MaxBytes: 6}, "aaaa bb kkkkkkkk")
		w.reads(store.InboxRequest{MaxBytes: 7}, "aaaa bb c kkkkkkkk")
		w.reads(store.InboxRequest{MaxBytes: 9}, "aaaa bb c kkkkkkkk l end")
	},
	"an empty inbox is at its end": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.reads(store.InboxRequest{MaxBytes: 1}, "end")
		a, err := w.ReadInbox(w.ctx, store.InboxRequest{Target: 1000})
		w.check(err)
		w.equal("inbox of nobody", *a, store.InboxAnswer{End: true})
	},
	"a removed row is gone, and its place is passed over": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(2, 2, "a"), w.produce(2, 2, "b"), w.produce(2, 2, "c"))
		rows := w.inbox(2)
		w.must(2, take(rows[0].InboxKey, 0, 1, false))
		w.must(2, take(rows[0].InboxKey, 1, 2, true), take(rows[1].InboxKey, 0, 2, true))
		w.reads(store.InboxRequest{}, "c end")
		w.reopen()
		w.reads(store.InboxRequest{}, "c end")
		w.equal("sizes", w.sizes(), "2:2/1")
	},
	"sizes are what is not consumed, and the payload that holds it": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.equal("sizes", w.sizes(), "")
		w.must(0, w.produce(2, 5, "abc"), w.produce(1, 7, "de"))
		w.must(1, w.produce(2, 2, "f"))
		w.equal("sizes", w.sizes(), "1:7/2 2:7/4")
		w.must(2, take(w.inbox(2)[0].InboxKey, 0, 4, false))
		w.equal("sizes", w.sizes(), "1:7/2 2:3/4")
		w.must(1, take(w.inbox(1)[0].InboxKey, 0, 7, true))
		w.equal("sizes", w.sizes(), "2:3/4")
	},
	"a partition may write to itself": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, w.produce(0, 1, "first"))
		w.must(0, take(w.inbox(0)[0].InboxKey, 0, 1, true), w.produce(0, 1, "second"))
		w.equal("rows", string(w.inbox(0)[0].Payload), "second")
	},
}

// reads compares the payloads of one read of partition 2's inbox.
func (w *world) reads(r store.InboxRequest, want string) {
	w.t.Helper()
	r.Target = w.parts[2].ID
	a, err := w.ReadInbox(w.ctx, r)
	w.check(err)
	w.equal(fmt.Sprintf("read %+v", r), describeInbox(a), want)
}

func describeInbox(a *store.InboxAnswer) string {
	var words []string
	for _, row := range a.Rows {
		words = append(words, strings.ReplaceAll(string(row.Payload), " ", "_"))
	}
	if a.End {
		words = append(words, "end")
	}
	return strings.Join(words, " ")
}

// sizes prints the inbox sizes by partition index.
func (w *world) sizes() string {
	w.t.Helper()
	sizes, err := w.InboxSizes(w.ctx)
	w.check(err)
	var words []string
	for _, s := range sizes {
		for i, p := range w.parts {
			if p.ID == s.Target {
				words = append(words, fmt.Sprintf("%d:%d/%d", i, s.Messages, s.Bytes))
			}
		}
	}
	return strings.Join(words, " ")
}
