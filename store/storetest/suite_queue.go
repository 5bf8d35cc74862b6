package storetest

import (
	"fmt"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

// queueTests are about what one caller sees; suite_queue_together.go has those
// with many.
var queueTests = map[string]func(t *testing.T, h Harness){
	"a queue is made once and keeps its partitions": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("b", 2)
		w.queue("//any/path", 1)
		w.push("b/1=x")
		w.queue("b", 2)
		w.described("//any/path [0,0)0B; b [0,0)0B [0,1)1B")
		w.isClass(w.CreateQueue(w.ctx, "b", 3), store.ErrConflict)
		w.reopen()
		w.isClass(w.CreateQueue(w.ctx, "b", 1), store.ErrConflict)
		w.queue("b", 2)
		w.described("//any/path [0,0)0B; b [0,0)0B [0,1)1B")
	},
	"names and numbers of partitions that cannot be are refused": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		before := w.dump()
		for _, n := range []int{-1, 0, store.MaxQueuePartitions + 1} {
			w.isClass(w.CreateQueue(w.ctx, "q", n), nil)
		}
		w.isClass(w.CreateQueue(w.ctx, "", 1), nil)
		w.isClass(w.CreateQueue(w.ctx, "a\x00b", 1), nil)
		w.equal("dump", w.dump(), before)
		w.queue("q", store.MaxQueuePartitions)
	},
	"rows of a commit get the next offsets, in their order": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		w.queue("r", 1)
		w.must(0, appends("q/1=a", "r/0=b", "q/1=c", "q/0=d", "q/1=e"))
		w.must(1, appends("q/1=f", "r/0=g"))
		w.readsQueue(store.QueueRequest{Queue: "q"}, "0:d@4")
		w.readsQueue(store.QueueRequest{Queue: "q", Partition: 1}, "0:a@1 1:c@3 2:e@5 3:f@1")
		w.readsQueue(store.QueueRequest{Queue: "r"}, "0:b@2 1:g@2")
		w.described("q [0,1)1B [0,4)4B; r [0,2)2B")
	},
	"pushed rows continue those of commits": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		w.must(0, appends("q/0=a"))
		w.push("q/0=b", "q/0=c")
		w.reopen()
		w.must(0, appends("q/0=d"))
		w.push()
		w.readsQueue(store.QueueRequest{Queue: "q"}, "0:a@1 1:b@1 2:c@2 3:d@1")
	},
	"values of any bytes, sizes and times come back as they were": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		values := []string{"", "\x00", "\xff\xfe", string(make([]byte, 300_000))}
		var rows []store.QueueAppend
		for i, v := range values {
			rows = append(rows, store.QueueAppend{Queue: "q", Time: []int64{0, -5, 1 << 62, -1 << 63}[i], Value: []byte(v)})
		}
		w.check(w.PushQueue(w.ctx, rows))
		w.reopen()
		got, err := w.ReadQueue(w.ctx, store.QueueRequest{Queue: "q"})
		w.check(err)
		for i, row := range got {
			if row.Time != rows[i].Time || string(row.Value) != values[i] || row.Offset != uint64(i) {
				t.Fatalf("row %d is %d, %d, %.50q", i, row.Offset, row.Time, row.Value)
			}
		}
		w.equal("rows", len(got), len(values))
	},
	"the store keeps copies of queue rows": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		rows := queueRows("q/0=kept", "q/0=kept")
		w.check(w.Commit(w.ctx, w.commit(0, func(c *store.Commit) { c.Appended = rows[:1] })))
		w.check(w.PushQueue(w.ctx, rows[1:]))
		for _, r := range rows {
			copy(r.Value, "lost")
		}
		w.readsQueue(store.QueueRequest{Queue: "q"}, "0:kept@1 1:kept@2")
	},
	"reads begin where they are told and keep their limits": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		w.push("q/1=elsewhere", "q/0=a", "q/0=bb", "q/0=ccc", "q/0=", "q/0=dddd")
		w.readsQueue(store.QueueRequest{Queue: "q", From: 3}, "3:@5 4:dddd@6")
		w.readsQueue(store.QueueRequest{Queue: "q", From: 5}, "")
		w.readsQueue(store.QueueRequest{Queue: "q", From: 1 << 63}, "")
		w.readsQueue(store.QueueRequest{Queue: "q", From: ^uint64(0)}, "")
		w.readsQueue(store.QueueRequest{Queue: "q", From: 1, MaxRows: 2}, "1:bb@3 2:ccc@4")
		w.readsQueue(store.QueueRequest{Queue: "q", MaxBytes: 3}, "0:a@2 1:bb@3")
		w.readsQueue(store.QueueRequest{Queue: "q", MaxBytes: 5}, "0:a@2 1:bb@3")
		w.readsQueue(store.QueueRequest{Queue: "q", MaxBytes: 6}, "0:a@2 1:bb@3 2:ccc@4 3:@5")
		w.readsQueue(store.QueueRequest{Queue: "q", From: 2, MaxBytes: 1}, "2:ccc@4")
		w.readsQueue(store.QueueRequest{Queue: "q", MaxRows: 1, MaxBytes: 6}, "0:a@2")
	},
	"reading what is not there says so": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		for _, r := range []store.QueueRequest{{Queue: "r"}, {Queue: "q", Partition: 2}, {Queue: "q", Partition: -1}, {}} {
			_, err := w.ReadQueue(w.ctx, r)
			w.isClass(err, store.ErrNoQueue)
		}
	},
	"a commit that names no queue changes nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		for _, place := range []string{"r/0=x", "q/2=x"} {
			w.refuses(store.ErrNoQueue, w.commit(0, set("a", "/x", "1"), appends("q/0=x", place, "q/1=x")))
			before := w.dump()
			w.isClass(w.PushQueue(w.ctx, queueRows("q/1=x", place)), store.ErrNoQueue)
			w.equal("dump", w.dump(), before)
		}
		w.must(0, appends("q/0=a", "q/1=b"))
		w.readsQueue(store.QueueRequest{Queue: "q"}, "0:a@1")
		w.readsQueue(store.QueueRequest{Queue: "q", Partition: 1}, "0:b@2")
	},
	// D-2
	"a commit that fails appends nothing and leaves no gap": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		w.must(0, appends("q/0=a"))
		stale := w.commit(0, appends("q/0=stale"), consumed("q", "c", 0, 1))
		w.raise(0)
		w.refuses(store.ErrFenced, stale)
		row := store.InboxKey{Target: w.parts[0].ID, Layout: 1, Producer: w.parts[1].ID, Generation: 1, Number: 1}
		w.refuses(store.ErrConflict, w.commit(0, appends("q/0=conflict"), take(row, 0, 1, true)))
		w.refuses(nil, w.commit(0, appends("q/0=defect"), set("a", "", "1")))
		w.must(0, appends("q/0=b"))
		w.readsQueue(store.QueueRequest{Queue: "q"}, "0:a@1 1:b@1")
	},
	"rows and positions that cannot be are refused": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		w.refuses(nil, w.commit(0, appends("q/-1=x")))
		w.refuses(nil, w.commit(0, appends("/0=x")))
		w.refuses(nil, w.commit(0, consumed("q", "", 0, 1)))
		w.refuses(nil, w.commit(0, consumed("q", "c", -1, 1)))
		before := w.dump()
		w.isClass(w.PushQueue(w.ctx, queueRows("q/0=x", "q/-1=x")), nil)
		w.equal("dump", w.dump(), before)
	},
	"trimmed rows are gone and offsets go on": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		w.push("q/0=a", "q/0=bb", "q/0=ccc", "q/0=dddd", "q/1=other")
		w.check(w.TrimQueue(w.ctx, "q", 0, 2))
		w.described("q [2,4)7B [0,1)5B")
		w.readsQueue(store.QueueRequest{Queue: "q"}, "2:ccc@3 3:dddd@4")
		w.readsQueue(store.QueueRequest{Queue: "q", From: 3, MaxRows: 9}, "3:dddd@4")
		for range 2 {
			w.check(w.TrimQueue(w.ctx, "q", 0, 1)) // trimmed already
			w.described("q [2,4)7B [0,1)5B")
			w.reopen()
		}
		w.check(w.TrimQueue(w.ctx, "q", 0, 1000)) // all there are
		w.described("q [4,4)0B [0,1)5B")
		w.readsQueue(store.QueueRequest{Queue: "q"}, "")
		w.reopen()
		w.must(0, appends("q/0=e"))
		w.described("q [4,5)1B [0,1)5B")
		w.readsQueue(store.QueueRequest{Queue: "q"}, "4:e@1")
		w.isClass(w.TrimQueue(w.ctx, "q", 2, 1), store.ErrNoQueue)
		w.isClass(w.TrimQueue(w.ctx, "r", 0, 1), store.ErrNoQueue)
	},
	"positions are those told last, and move with their commits": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		w.queue("r", 1)
		w.push("q/0=a", "q/0=b", "q/1=c")
		w.must(0, consumed("q", "zoe", 0, 1), consumed("q", "ann", 1, 1), consumed("q", "ann", 0, 2), appends("r/0=x"))
		w.must(1, consumed("r", "ann", 0, 7), consumed("q", "ann", 0, 1))
		w.described("q [0,2)2B [0,1)1B ann/0=1 ann/1=1 zoe/0=1; r [0,1)1B ann/0=7")
		w.reopen()
		w.described("q [0,2)2B [0,1)1B ann/0=1 ann/1=1 zoe/0=1; r [0,1)1B ann/0=7")
	},
	"a position in a queue that is not there is passed over": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		w.must(0, set("a", "/x", "1"), appends("q/0=a"), consumed("gone", "c", 0, 5), consumed("q", "c", 1, 5), consumed("q", "c", 0, 1))
		w.described("q [0,1)1B c/0=1")
		w.gets("left", "a", `{"/x"="1"}`)
	},
	"a dropped queue is gone, and one of its name is another": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 2)
		w.queue("qq", 1)
		w.must(0, appends("q/0=a", "q/1=b", "qq/0=c"), consumed("q", "c", 0, 1))
		ids := w.queueIDs()
		w.check(w.DropQueue(w.ctx, "q"))
		w.isClass(w.DropQueue(w.ctx, "q"), store.ErrNoQueue)
		w.refuses(store.ErrNoQueue, w.commit(0, appends("q/0=x")))
		w.described("qq [0,1)1B")
		w.reopen()
		_, err := w.ReadQueue(w.ctx, store.QueueRequest{Queue: "q"})
		w.isClass(err, store.ErrNoQueue)
		w.queue("q", 1)
		w.described("q [0,0)0B; qq [0,1)1B")
		w.push("q/0=z")
		w.readsQueue(store.QueueRequest{Queue: "q"}, "0:z@1")
		w.readsQueue(store.QueueRequest{Queue: "qq", ID: ids["qq"]}, "0:c@3")
		_, err = w.ReadQueue(w.ctx, store.QueueRequest{Queue: "q", ID: ids["q"]})
		w.isClass(err, store.ErrNoQueue)
		if now := w.queueIDs(); now["q"] == ids["q"] || now["q"] == now["qq"] || now["qq"] != ids["qq"] {
			t.Fatalf("ids were %v and are %v", ids, now)
		}
	},
	"calls on queues after Close fail": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.queue("q", 1)
		w.check(w.Close())
		_, read := w.ReadQueue(w.ctx, store.QueueRequest{Queue: "q"})
		_, list := w.Queues(w.ctx)
		for _, err := range []error{
			read, list, w.CreateQueue(w.ctx, "q", 1), w.DropQueue(w.ctx, "q"), w.TrimQueue(w.ctx, "q", 0, 1), w.PushQueue(w.ctx, queueRows("q/0=x")),
		} {
			w.isClass(err, store.ErrUnavailable)
		}
	},
}

func (w *world) queueIDs() map[string]uint64 {
	w.t.Helper()
	qs, err := w.Queues(w.ctx)
	w.check(err)
	ids := map[string]uint64{}
	for _, q := range qs {
		ids[q.Name] = q.ID
	}
	return ids
}

// fillQueues puts a row of every kind into queues: kept, trimmed, consumed.
func fillQueues(w *world) {
	w.t.Helper()
	w.queue("q", 2)
	w.queue("dropped", 1)
	w.push("q/0=a", "q/0=b", "dropped/0=x", "q/1=c")
	w.must(1, appends("q/0=d"), consumed("q", "c", 0, 2))
	w.check(w.TrimQueue(w.ctx, "q", 0, 1))
	w.check(w.DropQueue(w.ctx, "dropped"))
}

// appendedBy counts the rows of queue "q" that wholeCommit wrote for a
// partition, which have to be in order.
func (w *world) appendedBy(id store.PartitionID) int64 {
	w.t.Helper()
	rows, err := w.ReadQueue(w.ctx, store.QueueRequest{Queue: "q"})
	w.check(err)
	n := int64(0)
	for i, row := range rows {
		if row.Offset != uint64(i) {
			w.t.Fatalf("row %d of the queue has offset %d", i, row.Offset)
		}
		var by store.PartitionID
		var number int64
		if _, err := fmt.Sscanf(string(row.Value), "%d-%d", &by, &number); err != nil {
			w.t.Fatalf("row %q: %v", row.Value, err)
		}
		if by != id {
			continue
		}
		if n++; number != n {
			w.t.Fatalf("row %d of partition %d is of its commit %d", n, id, number)
		}
	}
	return n
}
