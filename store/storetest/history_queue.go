package storetest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/store"
)

// queueSteps are the steps of a history that concern queues.
func (g *history) queueSteps() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"queue create": g.createQueue,
		"queue drop":   g.dropQueue,
		"queue push":   g.push,
		"queue read":   g.readQueue,
		"queue trim":   g.trim,
	}
}

// queuePlace is a partition of a queue: mostly one that is there.
func (g *history) queuePlace(t *rapid.T) (name string, partition int) {
	qs, err := g.model.Queues(g.model.ctx)
	g.model.check(err)
	if len(qs) == 0 || rapid.IntRange(0, 19).Draw(t, "absent") == 0 {
		return queueNames().Draw(t, "queue"), rapid.IntRange(-1, 3).Draw(t, "queue partition")
	}
	q := rapid.SampledFrom(qs).Draw(t, "queue")
	return q.Name, rapid.IntRange(0, len(q.Partitions)-1).Draw(t, "queue partition")
}

func queueNames() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"q", "qq", "//home/q", "\xff", "d\x01", ""})
}

func (g *history) createQueue(t *rapid.T) {
	name, n := queueNames().Draw(t, "name"), rapid.IntRange(0, 3).Draw(t, "partitions")
	g.same(t, fmt.Sprintf("create queue %q %d", name, n), func(w *world) string { return outcome(w.CreateQueue(w.ctx, name, n)) })
}

func (g *history) dropQueue(t *rapid.T) {
	if rapid.IntRange(0, 2).Draw(t, "rarely") > 0 {
		return
	}
	name, _ := g.queuePlace(t)
	g.same(t, fmt.Sprintf("drop queue %q", name), func(w *world) string { return outcome(w.DropQueue(w.ctx, name)) })
}

func (g *history) queueRows(t *rapid.T, most int) (rows []store.QueueAppend) {
	for range rapid.IntRange(0, most).Draw(t, "queue rows") {
		name, partition := g.queuePlace(t)
		value := rapid.SampledFrom([]string{"", "v", "ww", "\x00\xff", strings.Repeat("long", 30)}).Draw(t, "value")
		rows = append(rows, store.QueueAppend{
			Queue: name, Partition: partition, Time: rapid.Int64().Draw(t, "time"), Value: []byte(value),
		})
	}
	return rows
}

func (g *history) push(t *rapid.T) {
	rows := g.queueRows(t, 5)
	g.same(t, fmt.Sprintf("push %+v", rows), func(w *world) string { return outcome(w.PushQueue(w.ctx, rows)) })
}

// drawQueues adds rows and positions to a commit.
func (g *history) drawQueues(t *rapid.T, c *store.Commit) {
	c.Appended = g.queueRows(t, 3)
	for range rapid.IntRange(0, 2).Draw(t, "positions") {
		name, partition := g.queuePlace(t)
		consumer := rapid.SampledFrom([]string{"c", "cc", "//c", "\xff"}).Draw(t, "consumer")
		consumed(name, consumer, partition, rapid.Uint64().Draw(t, "offset"))(c)
	}
}

func (g *history) readQueue(t *rapid.T) {
	r := store.QueueRequest{
		From:    rapid.OneOf(rapid.Uint64Range(0, 12), rapid.Uint64()).Draw(t, "from"),
		MaxRows: rapid.IntRange(0, 4).Draw(t, "rows"), MaxBytes: rapid.IntRange(0, 130).Draw(t, "bytes"),
	}
	r.Queue, r.Partition = g.queuePlace(t)
	g.same(t, fmt.Sprintf("read %+v", r), func(w *world) string {
		rows, err := w.ReadQueue(w.ctx, r)
		return outcome(err) + " " + describeQueueRows(rows)
	})
}

func (g *history) trim(t *rapid.T) {
	name, partition := g.queuePlace(t)
	before := rapid.OneOf(rapid.Uint64Range(0, 12), rapid.Uint64()).Draw(t, "before")
	g.same(t, fmt.Sprintf("trim %q/%d before %d", name, partition, before), func(w *world) string {
		return outcome(w.TrimQueue(w.ctx, name, partition, before))
	})
}
