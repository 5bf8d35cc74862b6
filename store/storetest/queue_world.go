package storetest

import (
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

// queue makes a queue.
func (w *world) queue(name string, partitions int) {
	w.t.Helper()
	w.check(w.CreateQueue(w.ctx, name, partitions))
}

// appends adds rows for queues, given as "queue/partition=value"; the n-th of a
// call has time n.
func appends(rows ...string) func(*store.Commit) {
	return func(c *store.Commit) { c.Appended = append(c.Appended, queueRows(rows...)...) }
}

func queueRows(rows ...string) []store.QueueAppend {
	out := make([]store.QueueAppend, len(rows))
	for i, text := range rows {
		place, value, _ := strings.Cut(text, "=")
		name, partition, _ := strings.Cut(place, "/")
		out[i] = store.QueueAppend{Queue: name, Time: int64(i + 1), Value: []byte(value)}
		if _, err := fmt.Sscan(partition, &out[i].Partition); err != nil {
			panic(fmt.Sprintf("queue row %q: %v", text, err))
		}
	}
	return out
}

// consumed tells a position.
func consumed(queue, consumer string, partition int, offset uint64) func(*store.Commit) {
	return func(c *store.Commit) {
		c.Positions = append(c.Positions, store.QueuePosition{Queue: queue, Consumer: consumer, Partition: partition, Offset: offset})
	}
}

// push pushes rows as appends gives them.
func (w *world) push(rows ...string) {
	w.t.Helper()
	w.check(w.PushQueue(w.ctx, queueRows(rows...)))
}

// readsQueue compares the rows of one read.
func (w *world) readsQueue(r store.QueueRequest, want string) {
	w.t.Helper()
	rows, err := w.ReadQueue(w.ctx, r)
	w.check(err)
	w.equal(fmt.Sprintf("read %+v", r), describeQueueRows(rows), want)
}

func describeQueueRows(rows []store.QueueRow) string {
	words := make([]string, len(rows))
	for i, r := range rows {
		words[i] = fmt.Sprintf("%d:%s@%d", r.Offset, r.Value, r.Time)
	}
	return strings.Join(words, " ")
}

// described compares all queues without their rows.
func (w *world) described(want string) {
	w.t.Helper()
	qs, err := w.Queues(w.ctx)
	w.check(err)
	words := make([]string, len(qs))
	for i, q := range qs {
		words[i] = describeQueue(q)
	}
	w.equal("queues", strings.Join(words, "; "), want)
}

func describeQueue(q store.Queue) string {
	var b strings.Builder
	b.WriteString(q.Name)
	for _, p := range q.Partitions {
		fmt.Fprintf(&b, " [%d,%d)%dB", p.First, p.Next, p.Bytes)
	}
	for _, c := range q.Consumers {
		fmt.Fprintf(&b, " %s/%d=%d", c.Consumer, c.Partition, c.Offset)
		if c.Queue != q.Name {
			fmt.Fprintf(&b, " in %s", c.Queue)
		}
	}
	return b.String()
}

// dumpQueues prints all queues with their rows.
func (w *world) dumpQueues() string {
	w.t.Helper()
	qs, err := w.Queues(w.ctx)
	w.check(err)
	var b strings.Builder
	for _, q := range qs {
		fmt.Fprintf(&b, "queue %d %s\n", q.ID, describeQueue(q))
		for i := range q.Partitions {
			rows, err := w.ReadQueue(w.ctx, store.QueueRequest{Queue: q.Name, Partition: i})
			w.check(err)
			fmt.Fprintf(&b, "  %d: %s\n", i, describeQueueRows(rows))
		}
	}
	return b.String()
}
