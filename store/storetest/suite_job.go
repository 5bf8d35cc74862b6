package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
)

var jobTests = map[string]func(t *testing.T, h Harness){
	"a new partition starts from nothing": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		job := w.raise(0)
		w.equal("job", describeJob(job), fmt.Sprintf("executing visitors[] report=<nil> offset=absent position=absent totals=%+v", store.Totals{}))
		w.equal("routing", job.Partition.Routing, []store.Route{{Computation: "right", Layout: 1}, {Computation: "elsewhere", Layout: 7}})
	},
	"a job starts from what was committed last": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, everyField("1"))
		w.must(0, everyField("2"))
		w.must(1, everyField("9"))
		want := "executing " + everyFieldText(w, "2")
		w.equal("job", describeJob(w.raise(0)), want)
	},
	"what a commit does not name stays as it is": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, everyField("1"))
		want := everyFieldText(w, "1")
		w.must(0, set("a", "/x", "1"))
		w.equal("job", describeJob(w.raise(0)), "executing "+want)
	},
	"an empty offset or position is not an absent one": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, func(c *store.Commit) { c.Offset, c.Position = []byte{}, []byte{} })
		job := w.raise(0)
		if job.Offset == nil || job.Position == nil || len(job.Offset)+len(job.Position) > 0 {
			t.Fatalf("offset %#v, position %#v", job.Offset, job.Position)
		}
	},
	// KV-10: coverage moves only in the transaction of its epoch.
	"visitor rows are replaced and removed one by one": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, visits("sweep 3=a", "sweep 0=b", "sweep -1=r", "audit 0=c", "audit -2=s", "sweepers 0=d"))
		w.must(0, visits("sweep 3=", "sweep 0=bb", "never 1="))
		w.must(1, visits("sweep 0=other"))
		rows, err := w.Visitors(w.ctx, w.parts[0].ID)
		w.check(err)
		w.equal("visitors, just read", describeVisitors(rows), "[audit -2=s, audit 0=c, sweep -1=r, sweep 0=bb, sweepers 0=d]")
		w.must(0, set("a", "/x", "1")) // the reader raised no generation
		_, err = w.Visitors(w.ctx, w.parts[0].ID+1000)
		w.isClass(err, store.ErrFenced)
		w.equal("visitors", describeVisitors(w.raise(0).Visitors), "[audit -2=s, audit 0=c, sweep -1=r, sweep 0=bb, sweepers 0=d]")
	},
	// KV-37
	"the commit that completes a partition removes its coverage and keeps summaries": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, visits("sweep 3=a", "sweep -1=r", "sweep -2=s", "audit 0=c"))
		w.must(1, visits("sweep 0=other"))
		w.must(0, visits("sweep 4=late", "sweep -1=late", "audit -2=last"), set("a", "/x", "1"), func(c *store.Commit) { c.Done = true })
		partitions, err := w.Partitions(w.ctx)
		w.check(err)
		w.equal("states", []store.PartitionState{partitions[0].State, partitions[1].State}, []store.PartitionState{store.Completed, store.Executing})
		w.reopen()
		job := w.raise(0)
		w.equal("visitors", describeVisitors(job.Visitors), "[audit -2=last, sweep -2=s]")
		w.equal("state", job.Partition.State, store.Completed)
		w.equal("other", describeVisitors(w.raise(1).Visitors), "[sweep 0=other]")
		w.gets("left", "a", `{"/x"="1"}`)
	},
}

// everyField sets all that a job starts from to values made of mark.
func everyField(mark string) func(*store.Commit) {
	return func(c *store.Commit) {
		c.Visitors = []store.VisitorRow{{Stream: "sweep", Slot: 0, Value: []byte(mark)}}
		c.Report = &store.Report{
			Partition: c.Partition, Generation: c.Generation, Computation: c.Computation, Layout: 1,
			Streams: []store.StreamReport{
				{Stream: "out-" + mark, Watermark: store.NoTime, MaxEvent: 1<<62 + 1, State: store.Finished},
				{Stream: "", Watermark: -1, State: store.Drained},
			},
			LastRows: []store.LastRow{{Target: 2, Number: 1 << 63}, {Target: 3, Number: 1}},
		}
		c.Offset, c.Position = []byte("o"+mark), []byte("p"+mark)
		c.Totals = &store.Totals{Epochs: 1, Messages: 2, Timers: 9, Visits: 3, Passes: 1 << 40, Counts: []store.Count{{Name: "evicted-" + mark, Value: -4}}}
	}
}

// everyFieldText is the job of partition 0 after everyField.
func everyFieldText(w *world, mark string) string {
	c := w.commit(0, everyField(mark))
	return describeJob(&store.Job{Visitors: c.Visitors, Report: c.Report, Offset: c.Offset, Position: c.Position, Totals: *c.Totals})[len("unknown "):]
}

func describeJob(j *store.Job) string {
	state := map[store.PartitionState]string{store.Executing: "executing", store.Completed: "completed"}[j.Partition.State]
	if state == "" {
		state = "unknown"
	}
	report := "<nil>"
	if j.Report != nil {
		report = fmt.Sprintf("%+v", *j.Report)
	}
	return fmt.Sprintf("%s visitors%s report=%s offset=%s position=%s totals=%+v",
		state, describeVisitors(j.Visitors), report, present(j.Offset), present(j.Position), j.Totals)
}

func present(b []byte) string {
	if b == nil {
		return "absent"
	}
	return fmt.Sprintf("%q", b)
}

func describeVisitors(rows []store.VisitorRow) string {
	words := make([]string, len(rows))
	for i, r := range rows {
		words[i] = fmt.Sprintf("%s %d=%s", r.Stream, r.Slot, r.Value)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// visits writes visitor rows given as "stream slot=value".
func visits(rows ...string) func(*store.Commit) {
	return func(c *store.Commit) {
		for _, text := range rows {
			head, value, _ := strings.Cut(text, "=")
			row := store.VisitorRow{Value: []byte(value)}
			if _, err := fmt.Sscan(head, &row.Stream, &row.Slot); err != nil {
				panic(fmt.Sprintf("visitor row %q: %v", text, err))
			}
			c.Visitors = append(c.Visitors, row)
		}
	}
}

var catalogTests = map[string]func(t *testing.T, h Harness){
	"partitions get ids of their own and are ordered by them": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		given := []store.Partition{
			{ID: 1, Computation: "new", Kind: store.SourcePartition, Name: "file/a", State: store.Completed, Generation: 9, Layout: 4},
			{ID: 1, Computation: "left", Kind: store.SinkPartition, Name: "out"},
		}
		made, err := w.CreatePartitions(w.ctx, given)
		w.check(err)
		want := append([]store.Partition(nil), given...)
		for i := range want {
			want[i].ID, want[i].State, want[i].Generation = made[i].ID, store.Executing, 0
		}
		w.equal("created", made, want)
		all, err := w.Partitions(w.ctx)
		w.check(err)
		w.equal("all", all, append(append([]store.Partition(nil), w.parts...), made...))
		for i := 1; i < len(all); i++ {
			if all[i-1].ID >= all[i].ID || all[i-1].ID == 0 {
				t.Fatalf("ids are not distinct and ordered: %+v", all)
			}
		}
	},
	"ids are not used again after the store was reopened": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.reopen()
		made, err := w.CreatePartitions(w.ctx, []store.Partition{{Computation: "left", Kind: store.SinkPartition}})
		w.check(err)
		if made[0].ID <= w.parts[2].ID {
			t.Fatalf("id %d after %d", made[0].ID, w.parts[2].ID)
		}
	},
	"partitions that are not valid create none": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		before := w.dump()
		good := store.Partition{Computation: "left", Kind: store.RangePartition, Open: true}
		for _, bad := range []store.Partition{{Kind: store.RangePartition}, {Computation: "left"}, {Computation: "left", Kind: store.RangePartition, Lower: 2, Upper: 1}} {
			_, err := w.CreatePartitions(w.ctx, []store.Partition{good, bad})
			w.isClass(err, nil)
		}
		w.equal("dump", w.dump(), before)
	},
	"what is returned is the caller's": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(0, everyField("1"))
		before := w.dump()
		parts, err := w.Partitions(w.ctx)
		w.check(err)
		parts[0].Routing[0].Layout = 99
		job := w.raise(1)
		job.Partition.Routing[0].Layout = 99
		reports, err := w.Reports(w.ctx)
		w.check(err)
		reports[0].LastRows[0].Number = 99
		w.raise(1) // as before, but for the generation
		after, err := w.Partitions(w.ctx)
		w.check(err)
		w.equal("routing", []uint64{after[0].Routing[0].Layout, after[1].Routing[0].Layout}, []uint64{1, 1})
		got, err := w.Reports(w.ctx)
		w.check(err)
		if !strings.Contains(before, fmt.Sprintf("reports %+v\n", got)) {
			t.Fatalf("reports are %+v, were in %s", got, before)
		}
	},
	"reports and totals are those of each partition's last commit": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		w.must(1, everyField("1"))
		w.must(0, everyField("2"))
		w.must(1, everyField("3"))
		w.raise(1)
		reports, err := w.Reports(w.ctx)
		w.check(err)
		totals, err := w.Totals(w.ctx)
		w.check(err)
		w.equal("reports", len(reports), 2)
		for i, mark := range []string{"2", "3"} {
			w.equal("report", reports[i].Streams[0].Stream, "out-"+mark)
			w.equal("reporter", reports[i].Partition, w.parts[i].ID)
			w.equal("totals", totals[i].Totals.Counts, []store.Count{{Name: "evicted-" + mark, Value: -4}})
			w.equal("counter", totals[i].Partition, w.parts[i].ID)
		}
	},
	"a pipeline is saved only over the version it was read at": func(t *testing.T, h Harness) {
		w := newWorld(t, h)
		none, err := w.Pipeline(w.ctx)
		w.check(err)
		w.equal("before", none, (*store.Pipeline)(nil))
		p := &store.Pipeline{Name: "flights", Static: "{a=1}", Dynamic: "{}", Loaded: "\x00\xff"}
		late := *p
		w.check(w.SavePipeline(w.ctx, p))
		w.equal("version", p.Version, 1)
		w.isClass(w.SavePipeline(w.ctx, &late), store.ErrConflict)
		w.equal("version of the refused", late.Version, 0)
		second := *p
		second.Dynamic = "{b=2}"
		second.Runs = []store.Run{{Computation: "routes", Stream: "sweep", ID: 2, Period: 7}, {Computation: "c", Stream: "s", ID: 1 << 60}}
		second.Aim(store.ToRest)
		w.check(w.SavePipeline(w.ctx, &second))
		w.isClass(w.SavePipeline(w.ctx, p), store.ErrConflict)
		w.reopen()
		stored, err := w.Pipeline(w.ctx)
		w.check(err)
		w.equal("stored", *stored, second)
		stored.Name, stored.Runs[0].ID = "changed by the reader", 9
		again, err := w.Pipeline(w.ctx)
		w.check(err)
		w.equal("stored", *again, second)
		second.Runs = nil
		second.Aim(store.ToWork)
		w.check(w.SavePipeline(w.ctx, &second))
		again, err = w.Pipeline(w.ctx)
		w.check(err)
		w.equal("stored", *again, second)
	},
}
