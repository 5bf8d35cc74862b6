package partition

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// drive is a driver for tests: it runs a machine over states in memory, tables
// that others own, and messages that producers left in the inbox. It processes
// an epoch in the order that [Epoch] promises. One drive lives through many
// machines.
type drive struct {
	t       testing.TB
	cfg     Config
	machine *Machine
	now     visit.Instant
	states  states
	tables  map[string]map[visit.Key]bool // external tables by name
	scans   []scan                        // of each visit stream
	handle  func(c *call)
	limit   int // most visits of an epoch, 0 for all

	cost time.Duration // what each input takes

	inbox     []store.InboxRow
	messages  map[store.InboxKey][]message
	reports   map[store.PartitionID]*store.Report
	timers    map[store.TimerID]int64 // stored, with their event timestamps
	timerPage int                     // most timers of an answer, 0 for as many as asked for
	fired     []DueTimer              // in committed epochs

	visits   []visited // in committed epochs
	orders   []string  // what each epoch handled, in order
	emitted  []string  // in committed epochs
	finished bool

	late    bool    // the test says what system time has passed
	held    []Event // answers that the driver keeps back
	holding bool
}

// states are the internal states by key and name.
type states map[visit.Key]map[string]string

// message is what a producer sent.
type message struct {
	key     visit.Key
	payload string
}

// visited is a visit that took effect, with what the key's state was then.
type visited struct {
	stream string
	visit.Visit
	state map[string]string
}

// call is one message, timer or visit in the hands of the function. state is the key's,
// shared by the whole epoch.
type call struct {
	stream  string
	key     visit.Key
	payload string // of a message
	visit   *visit.Visit
	timer   *store.Timer
	state   map[string]string
	emit    func(text string)
	set     func(stream string, trigger, event int64) // a timer of the key
	clear   func()                                    // state and timers of the key
}

// scan is what a visit stream reads: internal states, of some names or of all,
// and external tables, each of them one source.
type scan struct {
	internal bool
	names    []string
	tables   []string
}

func (s scan) sources() int {
	if s.internal {
		return 1 + len(s.tables)
	}
	return len(s.tables)
}

// finds says whether a row of the key under this name is scanned.
func (s scan) finds(name string) bool {
	return s.internal && (len(s.names) == 0 || slices.Contains(s.names, name))
}

// everything is the scan of a stream that lists nothing.
func everything() scan { return scan{internal: true} }

// keyOf makes a key of a hash.
func keyOf(hash uint64) visit.Key { return visit.Key{Hash: hash, Bytes: "k"} }

// newDrive makes a driver of a partition over [0, 100) with these inputs and
// these visit streams; change adjusts them before the machine starts.
func newDrive(t testing.TB, inputs string, streams string, change func(d *drive)) *drive {
	d := &drive{
		t: t, now: visit.Instant{Mono: time.Hour, Wall: int64(1000 * time.Second)},
		states: states{}, tables: map[string]map[visit.Key]bool{},
		messages: map[store.InboxKey][]message{}, reports: map[store.PartitionID]*store.Report{},
		timers: map[store.TimerID]int64{},
		handle: func(*call) {},
	}
	d.cfg = Config{Job: &store.Job{Partition: store.Partition{ID: 9, Computation: "c", Layout: 1, Open: true}}, Params: DefaultParams()}
	all := strings.Fields(inputs)
	for i, in := range all {
		d.cfg.Inputs = append(d.cfg.Inputs, Input{Stream: in, Producers: []store.PartitionID{store.PartitionID(i + 1)}})
	}
	for _, stream := range strings.Fields(streams) {
		p := visit.DefaultParams()
		p.Period, p.FillPeriod = 10*time.Millisecond, 50*time.Millisecond
		d.cfg.Visitors = append(d.cfg.Visitors, Visitor{
			Config:   visit.Config{Stream: stream, Range: visit.HashRange(0, 100), Buckets: 1, NoUpstreams: len(all) == 0},
			Params:   p,
			Upstream: all,
		})
		d.scans = append(d.scans, everything())
	}
	if change != nil {
		change(d)
	}
	d.restart()
	return d
}

// put writes the states of keys, as epochs before did.
func (d *drive) put(name, value string, hashes ...uint64) {
	for _, h := range hashes {
		k := keyOf(h)
		if d.states[k] == nil {
			d.states[k] = map[string]string{}
		}
		d.states[k][name] = value
	}
}

// restart gives the partition a new generation on what is stored.
func (d *drive) restart() {
	d.cfg.Job.Partition.Generation++
	d.held = nil
	for i := range d.cfg.Visitors {
		c := &d.cfg.Visitors[i].Config
		c.Generation, c.Sources = uint64(d.cfg.Job.Partition.Generation), max(d.scans[i].sources(), 1)
	}
	d.machine = New(d.cfg, d.now)
	var reports []store.Report
	for _, id := range slices.Sorted(maps.Keys(d.reports)) {
		reports = append(reports, *d.reports[id])
	}
	d.step(ReportsRead{reports})
}

func (d *drive) step(e Event) { d.machine.Step(d.now, e) }

// send leaves messages in the inbox, in one row of the stream's producer.
func (d *drive) send(stream string, list ...message) {
	id := d.producer(stream)
	r := d.report(stream)
	last := &r.LastRows[0].Number
	*last++
	row := store.InboxRow{
		InboxKey: store.InboxKey{Target: 9, Layout: 1, Producer: id, Generation: 1, Number: *last},
		Previous: *last - 1, Count: len(list), Payload: make([]byte, len(list)),
	}
	d.inbox = append(d.inbox, row)
	d.messages[row.InboxKey] = list
	d.step(HandoverLost{})
}

// complete reports streams as completed at their producers.
func (d *drive) complete(streams ...string) {
	for _, stream := range streams {
		r := d.report(stream)
		r.Streams[0].State = store.Finished
		d.step(HandoverLost{[]store.Report{*r}})
	}
}

func (d *drive) producer(stream string) store.PartitionID {
	i := slices.IndexFunc(d.cfg.Inputs, func(in Input) bool { return in.Stream == stream })
	if i < 0 {
		d.t.Fatalf("there is no input %s", stream)
	}
	return d.cfg.Inputs[i].Producers[0]
}

func (d *drive) report(stream string) *store.Report {
	id := d.producer(stream)
	if d.reports[id] == nil {
		d.reports[id] = &store.Report{
			Partition: id, Generation: 1, Layout: 1,
			Streams:  []store.StreamReport{{Stream: stream, Watermark: store.NoTime, MaxEvent: store.NoTime}},
			LastRows: []store.LastRow{{Target: 9}},
		}
	}
	return d.reports[id]
}

// passed tells that nothing before a system time is on its way.
func (d *drive) passed(at int64) SystemPassed {
	return SystemPassed{slices.Repeat([]int64{at}, len(d.cfg.Inputs))}
}

// tick lets time pass.
func (d *drive) tick(by time.Duration) {
	d.now.Mono += by
	d.now.Wall += int64(by)
}

// run works, letting time pass where the machine waits, until the time is over
// or the partition has finished.
func (d *drive) run(by time.Duration) {
	for end := d.now.Mono + by; d.now.Mono < end && !d.finished; {
		if r := d.work(); !d.worked(r) {
			next := end
			if r.Wake {
				next = min(next, max(r.WakeAt, d.now.Mono+1))
			}
			d.tick(next - d.now.Mono)
		}
	}
}

// take works until n more visits have taken effect, each in an epoch of its own,
// and fails the test if that takes a minute.
func (d *drive) take(n int) {
	n += len(d.visits)
	d.limit = 1
	for end := d.now.Mono + time.Minute; len(d.visits) < n && d.now.Mono < end; {
		if !d.worked(d.work()) {
			d.tick(10 * time.Millisecond)
		}
	}
	d.limit = 0
	if len(d.visits) < n {
		d.t.Fatalf("%d of %d visits came within a minute", len(d.visits), n)
	}
}

func (d *drive) worked(r Ready) bool {
	return r.ReadInbox != nil || len(r.Lists)+len(r.ReadTimers)+len(r.SurveyTimers) > 0 || r.Epoch != nil
}

// work does what the machine is ready for.
func (d *drive) work() Ready {
	if !d.late {
		d.step(d.passed(d.now.Wall))
	}
	r := d.machine.Ready(d.now)
	d.machine.Accept(d.now, r)
	d.finished = d.finished || r.Finished
	if r.ReadInbox != nil {
		d.readInbox(r.ReadInbox)
	}
	d.answerTimers(r)
	for _, l := range r.Lists {
		answer := Listed{l.Visitor, l.List.Token, d.answers(l)}
		if d.holding {
			d.held = append(d.held, answer)
		} else {
			d.step(answer)
		}
	}
	if r.Epoch != nil {
		if e := d.process(r.Epoch); e != nil {
			d.commit(e)
		}
	}
	return r
}

func (d *drive) readInbox(r *store.InboxRequest) {
	var rows []store.InboxRow
	for _, row := range d.inbox {
		read := slices.ContainsFunc(r.After, func(a store.LanePlace) bool {
			return a.Lane == row.Lane() && row.Place().Compare(a.Place) <= 0
		})
		if !read {
			rows = append(rows, row)
		}
	}
	d.step(InboxRead{rows, true})
}

// answers reads the sources of a list.
func (d *drive) answers(l List) []visit.Answer {
	s := d.scans[l.Visitor]
	var out []visit.Answer
	if s.internal {
		out = append(out, d.listStates(s, l.List))
	}
	for _, name := range s.tables {
		var a visit.Answer
		for _, k := range slices.SortedFunc(maps.Keys(d.tables[name]), visit.Key.Compare) {
			if l.List.Range.Contains(k) {
				a.Keys = append(a.Keys, visit.Found{Key: k})
				a.Rows, a.Names = a.Rows+1, []string{name}
			}
		}
		out = append(out, a)
	}
	return out
}

func (d *drive) listStates(s scan, l visit.List) (a visit.Answer) {
	for _, k := range slices.SortedFunc(maps.Keys(d.states), visit.Key.Compare) {
		rows := 0
		for _, name := range slices.Sorted(maps.Keys(d.states[k])) {
			if s.finds(name) {
				rows++
				a.Names = append(a.Names, name)
			}
		}
		if rows > 0 && l.Range.Contains(k) {
			a.Keys = append(a.Keys, visit.Found{Key: k, Bytes: rows})
			a.Rows += rows
		}
	}
	return a
}

// epoch is an epoch that was processed and is not committed.
type epoch struct {
	commit  *store.Commit
	states  states
	visits  []visited
	timers  timerEdits
	fired   []DueTimer
	emitted []string
	order   []string
}

// process runs an epoch: messages, then timers, then visits.
func (d *drive) process(e *Epoch) *epoch {
	out := &epoch{states: states{}, timers: newTimerEdits()}
	p := Processed{SourceEvent: store.NoTime, Visits: make([]visit.Outcome, len(d.cfg.Visitors))}
	for range d.cfg.Outputs {
		p.MaxEvents = append(p.MaxEvents, store.NoTime)
	}
	for _, span := range e.Messages {
		for _, m := range d.messages[span.Row.InboxKey][span.From:span.To] {
			if p.Messages > 0 && !e.Budget.MoreMessages(p.MessageTime, 0, 0) {
				break
			}
			d.call(out, &call{stream: "message", key: m.key, payload: m.payload})
			p.Messages++
			p.MessageTime += d.cost
		}
	}
	for i := range e.Timers {
		if !e.Budget.MoreTimers(i, p.MessageTime, 0) {
			break
		}
		d.fire(out, &e.Timers[i])
		p.Timers++
		p.MessageTime += d.cost
	}
	taken := 0
	for _, vs := range e.Visits {
		for i := range vs.Visits {
			if d.limit > 0 && taken == d.limit || !e.Budget.MoreVisits(i, p.MessageTime, p.VisitTime, 0, false) {
				break
			}
			taken++
			p.VisitTime += d.cost
			d.deliver(out, vs.Visitor, &vs.Visits[i], &p.Visits[vs.Visitor])
		}
	}
	d.tick(p.MessageTime + p.VisitTime)
	out.timers.fill(&p)
	d.step(p)
	r := d.machine.Ready(d.now)
	d.machine.Accept(d.now, Ready{Commit: r.Commit})
	out.commit = r.Commit
	return out
}

// deliver hands one visit over, unless its key has gone (KV-28).
func (d *drive) deliver(e *epoch, visitor int, v *visit.Visit, o *visit.Outcome) {
	s, stream := d.scans[visitor], d.cfg.Visitors[visitor].Config.Stream
	state := d.state(e, v.Key)
	present := slices.ContainsFunc(v.Parts, func(p visit.Part) bool { return !s.internal || p.Source > 0 })
	for name := range state {
		present = present || s.finds(name)
	}
	if !present {
		o.Gone++
		return
	}
	o.Delivered++
	e.visits = append(e.visits, visited{stream, *v, maps.Clone(state)})
	d.call(e, &call{stream: stream, key: v.Key, visit: v})
}

// state returns the state object that the epoch shares for a key.
func (d *drive) state(e *epoch, k visit.Key) map[string]string {
	if e.states[k] == nil {
		e.states[k] = maps.Clone(d.states[k])
		if e.states[k] == nil {
			e.states[k] = map[string]string{}
		}
	}
	return e.states[k]
}

func (d *drive) call(e *epoch, c *call) {
	c.state = d.state(e, c.key)
	c.emit = func(text string) { e.emitted = append(e.emitted, text) }
	c.set = func(stream string, trigger, event int64) {
		e.timers.add(store.Timer{TimerID: store.TimerID{Key: timerKey(c.key), Trigger: trigger, Stream: stream}, Event: event})
	}
	c.clear = func() {
		clear(c.state)
		e.timers.clear(d.timers, timerKey(c.key))
	}
	e.order = append(e.order, c.stream)
	d.handle(c)
}

// commit makes an epoch durable and tells the machine.
func (d *drive) commit(e *epoch) {
	var written []visit.Key
	for _, k := range slices.SortedFunc(maps.Keys(e.states), visit.Key.Compare) {
		if !maps.Equal(e.states[k], d.states[k]) {
			written = append(written, k)
		}
	}
	d.store(e)
	d.step(Committed{Written: written})
}

// store is the transaction.
func (d *drive) store(e *epoch) {
	for _, t := range e.commit.Taken {
		i := slices.IndexFunc(d.inbox, func(r store.InboxRow) bool { return r.InboxKey == t.Key })
		if d.inbox[i].Consumed = t.To; t.Remove {
			d.inbox = slices.Delete(d.inbox, i, i+1)
		}
	}
	for k, state := range e.states {
		if d.states[k] = state; len(state) == 0 {
			delete(d.states, k)
		}
	}
	job := d.cfg.Job
	for _, row := range e.commit.Visitors {
		job.Visitors = slices.DeleteFunc(job.Visitors, func(r store.VisitorRow) bool { return r.Stream == row.Stream && r.Slot == row.Slot })
		if row.Value != nil {
			job.Visitors = append(job.Visitors, row)
		}
	}
	if e.commit.Done {
		job.Visitors = slices.DeleteFunc(job.Visitors, func(r store.VisitorRow) bool { return r.Slot != store.SlotSummaries })
	}
	d.storeTimers(e.commit)
	d.fired = append(d.fired, e.fired...)
	job.Totals = *e.commit.Totals
	if e.commit.Report != nil {
		job.Report = e.commit.Report
	}
	d.visits = append(d.visits, e.visits...)
	d.emitted = append(d.emitted, e.emitted...)
	if len(e.order) > 0 {
		d.orders = append(d.orders, strings.Join(e.order, " "))
	}
}

// release lets the answers through that were kept back.
func (d *drive) release() {
	held := d.held
	d.held, d.holding = nil, false
	for _, e := range held {
		d.step(e)
	}
}

// status describes one visit stream.
func (d *drive) status(i int) visit.Status { return d.machine.Status(d.now).Visitors[i] }

// reconfigure changes the parameters of one visit stream.
func (d *drive) reconfigure(i int, change func(p *visit.Params)) {
	change(&d.cfg.Visitors[i].Params)
	p := d.cfg.Params
	for _, v := range d.cfg.Visitors {
		p.Visitors = append(p.Visitors, v.Params)
	}
	d.step(Reconfigured{p})
}

// hashesOf prints the hashes of visits, sorted.
func hashesOf(visits []visited) []uint64 {
	var out []uint64
	for _, v := range visits {
		out = append(out, v.Key.Hash)
	}
	slices.Sort(out)
	return out
}
