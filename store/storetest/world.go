package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

// world is an open store with a small pipeline: partitions 0 and 1 of "left",
// which write to "right", and partition 2 of "right". All have a generation.
type world struct {
	t TB
	h Harness
	store.Store
	ctx   context.Context
	parts []store.Partition
	// numbers are the last inbox rows that the partitions produced.
	numbers map[store.PartitionID]uint64
}

func newWorld(t TB, h Harness) *world {
	t.Helper()
	w := &world{t: t, h: h, ctx: context.Background(), numbers: map[store.PartitionID]uint64{}}
	w.open()
	left := store.Partition{
		Computation: "left", Kind: store.RangePartition, Upper: 1 << 63, Layout: 1,
		Routing: []store.Route{{Computation: "right", Layout: 1}, {Computation: "elsewhere", Layout: 7}},
	}
	upper := left
	upper.Lower, upper.Upper, upper.Open = 1<<63, 0, true
	right := store.Partition{Computation: "right", Kind: store.RangePartition, Open: true, Layout: 1}
	parts, err := w.CreatePartitions(w.ctx, []store.Partition{left, upper, right})
	w.check(err)
	w.parts = parts
	for i := range parts {
		w.raise(i)
	}
	return w
}

// open opens the store where it lies, and closes it when the test ends.
func (w *world) open() {
	w.t.Helper()
	s := w.h.Open(w.t)
	w.t.Cleanup(func() { _ = s.Close() })
	w.Store = s
}

// reopen closes the store and opens it again.
func (w *world) reopen() {
	w.t.Helper()
	w.check(w.Close())
	w.open()
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("unexpected error: %v", err)
	}
}

// raise gives partition i a new generation.
func (w *world) raise(i int) *store.Job {
	w.t.Helper()
	job, err := w.RaiseGeneration(w.ctx, w.parts[i].ID)
	w.check(err)
	w.parts[i] = job.Partition
	w.numbers[job.Partition.ID] = 0
	return job
}

// commit builds a commit of partition i.
func (w *world) commit(i int, edit ...func(*store.Commit)) *store.Commit {
	p := w.parts[i]
	c := &store.Commit{Partition: p.ID, Generation: p.Generation, Computation: p.Computation}
	for _, e := range edit {
		e(c)
	}
	return c
}

// must commits.
func (w *world) must(i int, edit ...func(*store.Commit)) {
	w.t.Helper()
	w.check(w.Commit(w.ctx, w.commit(i, edit...)))
}

// fails commits, and wants the class; a nil class is an error without one.
func (w *world) fails(class error, c *store.Commit) {
	w.t.Helper()
	w.isClass(w.Commit(w.ctx, c), class)
}

// refuses commits, wants the class, and wants nothing to be changed.
func (w *world) refuses(class error, c *store.Commit) {
	w.t.Helper()
	before := w.dump()
	w.fails(class, c)
	if after := w.dump(); after != before {
		w.t.Fatalf("a refused commit changed the store.\nbefore:\n%s\nafter:\n%s", before, after)
	}
}

func classes() []error {
	return []error{store.ErrUnavailable, store.ErrUnknownOutcome, store.ErrFenced, store.ErrConflict, store.ErrNoQueue, store.ErrNoTable, store.ErrCorrupt, store.ErrLocked, store.ErrNewerFormat}
}

func (w *world) isClass(err, class error) {
	w.t.Helper()
	if err == nil {
		w.t.Fatalf("no error, want %v", class)
	}
	for _, c := range classes() {
		if errors.Is(err, c) != (c == class) {
			w.t.Fatalf("got error %q, want class %v", err, class)
		}
	}
}

// set writes a state.
func set(key, name, value string) func(*store.Commit) {
	return func(c *store.Commit) {
		c.States = append(c.States, store.StateWrite{Key: key, Name: name, Value: []byte(value)})
	}
}

// produce adds the next row of the commit's partition for partition target.
func (w *world) produce(target, count int, payload string) func(*store.Commit) {
	return func(c *store.Commit) {
		w.numbers[c.Partition]++
		c.Produced = append(c.Produced, store.InboxRow{
			InboxKey: store.InboxKey{
				Target: w.parts[target].ID, Layout: 1, Producer: c.Partition, Generation: c.Generation, Number: w.numbers[c.Partition],
			},
			Count: count, MinEvent: -5, Payload: []byte(payload),
		})
	}
}

// take takes messages of an inbox row.
func take(key store.InboxKey, from, to int, remove bool) func(*store.Commit) {
	return func(c *store.Commit) {
		c.Taken = append(c.Taken, store.InboxTake{Key: key, From: from, To: to, Remove: remove})
	}
}

// inbox returns all rows that wait for partition i.
func (w *world) inbox(i int) []store.InboxRow {
	w.t.Helper()
	a, err := w.ReadInbox(w.ctx, store.InboxRequest{Target: w.parts[i].ID})
	w.check(err)
	return a.Rows
}

// list reads a whole computation.
func (w *world) list(computation string) []store.ListedKey {
	w.t.Helper()
	a, err := w.ListStates(w.ctx, store.ListRequest{Computation: computation})
	w.check(err)
	return a.Keys
}

// dump prints everything that can be read without changing anything.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	pipeline, err := w.Pipeline(w.ctx)
	w.check(err)
	partitions, err := w.Partitions(w.ctx)
	w.check(err)
	reports, err := w.Reports(w.ctx)
	w.check(err)
	totals, err := w.Totals(w.ctx)
	w.check(err)
	sizes, err := w.InboxSizes(w.ctx)
	w.check(err)
	fmt.Fprintf(&b, "pipeline %+v\npartitions %+v\nreports %+v\ntotals %+v\nsizes %+v\n", pipeline, partitions, reports, totals, sizes)
	for i := range w.parts {
		for _, r := range w.inbox(i) {
			fmt.Fprintf(&b, "inbox %s\n", describeRow(r))
		}
	}
	for _, c := range []string{"left", "right"} {
		fmt.Fprintf(&b, "%s %s\n", c, describeKeys(w.list(c)))
		fmt.Fprintf(&b, "%s %s\n", c, w.dumpTimers(c))
	}
	b.WriteString(w.dumpQueues())
	b.WriteString(w.dumpTables())
	return b.String()
}

func describeRow(r store.InboxRow) string {
	return fmt.Sprintf("%+v previous=%d count=%d consumed=%d min=%d %q", r.InboxKey, r.Previous, r.Count, r.Consumed, r.MinEvent, r.Payload)
}

func describeKeys(keys []store.ListedKey) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%q(%d)%s ", k.Key, k.Bytes, describeRows(k.Rows))
	}
	return strings.TrimSpace(b.String())
}

func describeRows(rows []store.StateRow) string {
	parts := make([]string, len(rows))
	for i, r := range rows {
		parts[i] = fmt.Sprintf("%q=%q", r.Name, r.Value)
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// equal compares what was got with what is wanted, as text.
func (w *world) equal(what string, got, want any) {
	w.t.Helper()
	g, x := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want)
	if g != x {
		w.t.Fatalf("%s:\n got %s\nwant %s", what, g, x)
	}
}

// keysOf returns the keys listed.
func keysOf(keys []store.ListedKey) []string {
	out := make([]string, 0, len(keys))
	for _, k := range keys {
		out = append(out, k.Key)
	}
	return slices.Clip(out)
}
