package partition

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"pgregory.net/rapid"
)

// world is a brute-force twin of everything around one consumer: producers that
// commit rows and reports, the stored inbox, a hand-over that may lose things,
// and a record of what was emitted and consumed.
type world struct {
	t         *rapid.T
	producers []*simProducer // of the present layout
	former    []*simProducer // of layouts that were replaced
	layout    uint64
	rows      []store.InboxRow // stored, in the order of commits
	queue     []Event          // handed over and not yet delivered
	machine   *Machine
	job       *store.Job
	now       visit.Instant
	consumed  map[store.PartitionID]int
	finished  bool
	doneSeen  bool
	clock     int64                    // of all, for system times
	systems   map[store.InboxKey]int64 // of rows
}

type simProducer struct {
	id         store.PartitionID
	layout     uint64
	generation store.Generation
	number     uint64
	last       uint64
	base       int64   // the largest event of the producers before it
	events     []int64 // of all messages emitted, in order
	report     *store.Report
	finished   bool
	silent     bool // the last commit was not handed over: its job ended
	// begun is the system time of the epoch under way, unsure that of the first one
	// since the last that was handed over; 0 for none.
	begun, unsure int64
}

const simTarget = store.PartitionID(100)

func newWorld(t *rapid.T) *world {
	w := &world{t: t, layout: 1, consumed: map[store.PartitionID]int{}, clock: 1, systems: map[store.InboxKey]int64{}}
	w.job = &store.Job{Partition: store.Partition{ID: simTarget, Computation: "c", Layout: 1, Generation: 1}}
	for i := range rapid.IntRange(1, 3).Draw(t, "producers") {
		w.producers = append(w.producers, &simProducer{id: store.PartitionID(i + 1), layout: 1, generation: 1})
	}
	w.restart()
	return w
}

// restart starts the consumer's job again on what is stored.
func (w *world) restart() {
	w.job.Partition.Generation++
	w.queue = nil
	in := Input{Stream: "s"}
	var reports []store.Report
	for _, p := range w.producers {
		in.Producers = append(in.Producers, p.id)
		if p.report != nil {
			reports = append(reports, *p.report)
		}
	}
	params := DefaultParams()
	params.MaxRows = rapid.IntRange(1, 7).Draw(w.t, "max rows")
	params.HoldBytes = rapid.SampledFrom([]int{3, 20, 1000}).Draw(w.t, "hold bytes")
	system := func(r *store.InboxRow) int64 { return w.systems[r.InboxKey] }
	w.machine = New(Config{Job: w.job, Inputs: []Input{in}, Params: params, System: system}, w.now)
	w.machine.Step(w.now, ReportsRead{reports})
}

// relayout replaces the producers by others (D-13). Those begin with the least of
// what the former ones reported, and the consumer's job starts again.
func (w *world) relayout() {
	least := store.StreamReport{Stream: "s", Watermark: 1<<63 - 1, MaxEvent: store.NoTime, State: store.Finished}
	for _, p := range w.producers {
		said := store.StreamReport{Watermark: store.NoTime, MaxEvent: store.NoTime}
		if p.report != nil {
			said = p.report.Streams[0]
		}
		least.Watermark, least.MaxEvent = min(least.Watermark, said.Watermark), max(least.MaxEvent, said.MaxEvent)
		least.State = min(least.State, said.State)
	}
	if least.State == store.Finished {
		return // what has completed stays so (KV-15)
	}
	w.layout++
	next := store.PartitionID(len(w.former) + len(w.producers) + 1)
	w.former, w.producers = append(w.former, w.producers...), nil
	for i := range rapid.IntRange(1, 3).Draw(w.t, "successors") {
		p := &simProducer{id: next + store.PartitionID(i), layout: w.layout, base: least.MaxEvent}
		p.report = &store.Report{Partition: p.id, Layout: p.layout, Streams: []store.StreamReport{least}}
		w.producers = append(w.producers, p)
	}
	w.restart()
}

// produce commits an epoch of a producer, and hands it over or loses it.
func (w *world) produce(p *simProducer) {
	if p.finished {
		return
	}
	if p.silent || rapid.IntRange(0, 9).Draw(w.t, "restart") == 0 {
		p.generation, p.number, p.last, p.silent = p.generation+10, 0, 0, false
	}
	w.begin(p)
	var row *store.InboxRow
	if n := rapid.IntRange(0, 4).Draw(w.t, "messages"); n > 0 {
		row = w.row(p, n)
		w.rows = append(w.rows, *row)
		w.systems[row.InboxKey] = p.begun
	}
	p.begun = 0
	p.silent = rapid.IntRange(0, 9).Draw(w.t, "silent") == 0
	p.finished = !p.silent && rapid.IntRange(0, 7).Draw(w.t, "finish") == 0
	p.report = w.report(p)
	if p.silent {
		return
	}
	p.unsure = 0
	switch h := (Handover{Row: row, Report: p.report}); rapid.IntRange(0, 5).Draw(w.t, "lost") {
	case 0:
		w.queue = append(w.queue, HandoverLost{[]store.Report{*p.report}})
	default:
		w.queue = append(w.queue, h)
	}
}

// begin begins an epoch of a producer, which is committed later.
func (w *world) begin(p *simProducer) {
	w.clock += int64(rapid.IntRange(0, 2).Draw(w.t, "time"))
	if p.begun == 0 && !p.finished {
		p.begun = w.clock
	}
	if p.unsure == 0 {
		p.unsure = p.begun
	}
}

// look tells the consumer what has passed by now, behind what was handed over.
func (w *world) look() {
	passed := w.clock
	for _, p := range w.producers {
		if p.unsure > 0 {
			passed = min(passed, p.unsure)
		}
	}
	w.queue = append(w.queue, SystemPassed{[]int64{passed}})
}

// checkSystem: the system watermark is at or below all that is to come.
func (w *world) checkSystem() {
	got := w.machine.systemWatermark("s", w.now)
	for _, r := range w.rows {
		if got > w.systems[r.InboxKey] {
			w.t.Fatalf("the system watermark is %d, and row %+v of %d is not consumed", got, r.InboxKey, w.systems[r.InboxKey])
		}
	}
	for _, p := range w.producers {
		if p.begun > 0 && got > p.begun {
			w.t.Fatalf("the system watermark is %d, and producer %d is in an epoch of %d", got, p.id, p.begun)
		}
	}
}

// checkPassed: nothing else holds it back.
func (w *world) checkPassed(s SystemPassed) {
	want := s.Times[0]
	for _, r := range w.rows {
		want = min(want, w.systems[r.InboxKey])
	}
	if got := w.machine.systemWatermark("s", w.now); !w.machine.inbox.gap && got != want {
		w.t.Fatalf("the system watermark is %d, and everything before %d is consumed", got, want)
	}
}

func (w *world) row(p *simProducer, n int) *store.InboxRow {
	p.number++
	if rapid.IntRange(0, 3).Draw(w.t, "other target") == 0 {
		p.number++ // a row for somebody else used the number before
	}
	row := &store.InboxRow{
		InboxKey: store.InboxKey{Target: simTarget, Layout: p.layout, Producer: p.id, Generation: p.generation, Number: p.number},
		Previous: p.last, Count: n, Payload: make([]byte, n),
	}
	p.last = p.number
	for range n {
		event := int64(rapid.IntRange(0, 3).Draw(w.t, "event step"))
		if len(p.events) > 0 {
			event += p.events[len(p.events)-1]
		} else {
			event += max(0, p.base)
		}
		p.events = append(p.events, event)
	}
	row.MinEvent = p.events[len(p.events)-n]
	return row
}

func (w *world) report(p *simProducer) *store.Report {
	r := &store.Report{Partition: p.id, Generation: p.generation, Layout: p.layout}
	s := store.StreamReport{Stream: "s", Watermark: store.NoTime, MaxEvent: store.NoTime}
	if p.report != nil {
		s = p.report.Streams[0]
	}
	if len(p.events) > 0 {
		s.Watermark = p.events[len(p.events)-1]
		s.MaxEvent = s.Watermark
	}
	if p.finished {
		s.State = store.Finished
	}
	if p.last > 0 {
		r.LastRows = []store.LastRow{{Target: simTarget, Number: p.last}}
	}
	r.Streams = []store.StreamReport{s}
	return r
}

// consume lets the machine do one thing: read, or run an epoch that takes a part
// of what it may, and commits or crashes.
func (w *world) consume() {
	r := w.machine.Ready(w.now)
	if r.Finished {
		w.finished = true
		return
	}
	w.machine.Accept(w.now, r)
	if r.ReadInbox != nil {
		rows, end := w.read(r.ReadInbox)
		for range rapid.IntRange(0, 2).Draw(w.t, "commits during read") {
			w.produce(rapid.SampledFrom(w.producers).Draw(w.t, "producer"))
			w.deliver()
		}
		w.machine.Step(w.now, InboxRead{rows, end})
	}
	if r.Epoch != nil {
		w.runEpoch(r.Epoch)
	}
}

func (w *world) read(r *store.InboxRequest) (out []store.InboxRow, end bool) {
	end = true
	for _, p := range slices.Concat(w.former, w.producers) {
		var after store.Place
		for _, a := range r.After {
			if a.Lane.Producer == p.id {
				after = a.Place
			}
		}
		bytes := 0
		for _, row := range w.rows {
			if row.Producer != p.id || row.Place().Compare(after) <= 0 {
				continue
			}
			if bytes > 0 && bytes+len(row.Payload) > r.MaxBytes {
				end = false
				break
			}
			bytes += len(row.Payload)
			out = append(out, row)
		}
	}
	return out, end
}

func (w *world) runEpoch(e *Epoch) {
	w.checkWatermark(e)
	n := rapid.IntRange(0, e.Inputs()).Draw(w.t, "taken")
	if e.Inputs() > 0 && n == 0 {
		n = 1
	}
	w.machine.Step(w.now, Processed{Messages: n})
	r := w.machine.Ready(w.now)
	w.machine.Accept(w.now, Ready{Commit: r.Commit})
	switch rapid.IntRange(0, 9).Draw(w.t, "outcome") {
	case 0:
		w.restart() // the epoch failed
		return
	case 1:
		w.apply(r.Commit)
		w.restart() // it is durable, and nobody was told
		return
	}
	w.apply(r.Commit)
	w.machine.Step(w.now, Committed{})
}

// apply is the store's commit: every row must be there with the expected prefix.
func (w *world) apply(c *store.Commit) {
	for _, take := range c.Taken {
		i := slices.IndexFunc(w.rows, func(r store.InboxRow) bool { return r.InboxKey == take.Key })
		if i < 0 || w.rows[i].Consumed != take.From {
			w.t.Fatalf("take %+v: the row is not there with that prefix", take)
		}
		w.checkOrder(c, &w.rows[i])
		w.consumed[take.Key.Producer] += take.To - take.From
		if w.rows[i].Consumed = take.To; take.Remove {
			w.rows = slices.Delete(w.rows, i, i+1)
		}
	}
	if c.Done {
		w.doneSeen = true
		w.checkAllConsumed()
	}
}

// checkOrder: a producer's rows are consumed in its order, those of an older
// layout first (D-8).
func (w *world) checkOrder(c *store.Commit, row *store.InboxRow) {
	for _, r := range w.rows {
		if r.Producer == row.Producer && r.Place().Compare(row.Place()) < 0 {
			w.t.Fatalf("row %v was taken before %v", row.Place(), r.Place())
		}
		if r.Layout < row.Layout && !slices.ContainsFunc(c.Taken, func(t store.InboxTake) bool { return t.Key == r.InboxKey }) {
			w.t.Fatalf("row %+v was taken before %+v", row.InboxKey, r.InboxKey)
		}
	}
}

func (w *world) checkAllConsumed() {
	for _, p := range slices.Concat(w.former, w.producers) {
		if p.layout == w.layout && !p.finished || w.consumed[p.id] != len(p.events) {
			w.t.Fatalf("completed, but of producer %d (finished: %v) %d of %d messages are consumed", p.id, p.finished, w.consumed[p.id], len(p.events))
		}
	}
}

// checkWatermark: the watermark that functions see is never above an event that
// is still to come or waits in the inbox, and at completion it is the largest
// event of the stream (D-15, D-16).
func (w *world) checkWatermark(e *Epoch) {
	got := e.Watermarks[0]
	largest, finished := store.NoTime, true
	for _, p := range slices.Concat(w.former, w.producers) {
		finished = finished && (p.finished || p.layout < w.layout) && w.consumed[p.id] == len(p.events)
		if len(p.events) > 0 {
			largest = max(largest, p.events[len(p.events)-1])
		}
		if n := w.consumed[p.id]; n < len(p.events) && got > p.events[n] {
			w.t.Fatalf("watermark %d, but producer %d has an unconsumed message at %d", got, p.id, p.events[n])
		}
	}
	if got > largest {
		w.t.Fatalf("watermark %d is above every event (%d)", got, largest)
	}
	if w.machine.inputs[0].finished && (!finished || got != largest) {
		w.t.Fatalf("completed watermark is %d, want %d (all consumed: %v)", got, largest, finished)
	}
}

// TestInboxConsumesEverythingOnceInOrder runs random histories of commits, lost
// hand-overs, partial epochs and crashes (D-6 to D-10, D-15, D-16), and looks at the
// system watermark after each step. rapid prints
// the seed and how to run a failure again.
func TestInboxConsumesEverythingOnceInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 16).Draw(t, "action") {
			case 0, 1, 2:
				w.produce(rapid.SampledFrom(w.producers).Draw(t, "producer"))
			case 3, 4, 5:
				w.deliver()
			case 6:
				w.relayout()
			case 7:
				w.begin(rapid.SampledFrom(w.producers).Draw(t, "producer"))
			case 8, 9, 10:
				w.look()
			default:
				w.consume()
			}
			w.checkSystem()
		}
		w.quiesce()
	})
}

func (w *world) deliver() {
	if len(w.queue) > 0 {
		w.machine.Step(w.now, w.queue[0])
		if s, ok := w.queue[0].(SystemPassed); ok {
			w.checkPassed(s)
		}
		w.queue = w.queue[1:]
	}
}

// quiesce lets every producer finish and the consumer run until it is done; a
// machine that waits for something that never comes fails here.
func (w *world) quiesce() {
	for _, p := range w.producers {
		for !p.finished {
			w.produce(p)
		}
	}
	for step := 0; !w.finished && !w.doneSeen; step++ {
		if step > 10_000 {
			w.t.Fatalf("does not come to an end: %s", w.describe())
		}
		w.look()
		w.deliver()
		w.consume()
		w.checkSystem()
	}
}

func (w *world) describe() string {
	return fmt.Sprintf("%d rows stored, gap %v, %d reports pending, open %v", len(w.rows), w.machine.inbox.gap, len(w.machine.reports.pending), w.machine.open != nil)
}
