package partition

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/internal/invariants"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// openEpoch is the epoch between Accept and Committed. commit is nil until the
// driver has processed it.
type openEpoch struct {
	epoch  *Epoch
	commit *store.Commit
	given  bool // the commit was given to the driver
	// done: everything was completed when it began, and consumers are told so. What
	// completes while it is open is told by the next one.
	done   bool
	takes  []store.InboxTake
	totals store.Totals
	cut    time.Duration // when processing ended and the commit began
}

// Ready says what may be done now. It changes nothing: call Accept with what is
// really begun.
func (m *Machine) Ready(now visit.Instant) Ready {
	var r Ready
	if m.finished {
		return Ready{Finished: true}
	}
	r.ReadInbox = m.inbox.nextRead()
	r.ReadSource = m.source.next(m.params)
	if m.open != nil {
		if m.open.commit != nil && !m.open.given {
			r.Commit = m.open.commit
		}
		return r
	}
	if m.readyTimers(now, &r) {
		return r
	}
	m.readyLists(now, &r)
	r.Epoch = m.nextEpoch(now, &r)
	r.Drained = m.drained() && r.Epoch == nil && (len(m.outputs) == 0 || !m.reportUrgent())
	return r
}

// Accept tells that the driver began what r says.
func (m *Machine) Accept(now visit.Instant, r Ready) {
	if r.ReadInbox != nil {
		m.inbox.acceptRead()
		m.reports.readBegan()
		for _, in := range m.inputs {
			in.system.readBegan()
		}
	}
	if r.ReadSource != nil {
		m.source.reading = true
	}
	for _, t := range r.ReadTimers {
		m.timers[t.Stream].reading = true
	}
	for _, t := range r.SurveyTimers {
		m.timers[t.Stream].least.surveyBegan(now)
	}
	for _, l := range r.Lists {
		m.visitors[l.Visitor].machine.AcceptList(now, l.List)
	}
	if r.Epoch != nil {
		m.openUp(now, r.Epoch)
	}
	if r.Commit != nil {
		m.open.given = true
	}
}

func (m *Machine) openUp(now visit.Instant, e *Epoch) {
	invariants.Assert(m.open == nil, "an epoch was accepted while another is open")
	m.epochs = e.Number
	m.open = &openEpoch{epoch: e, done: e.empty() && m.done(now)}
	m.seeTimers(now)
	for _, v := range m.visitors {
		v.machine.EpochOpened(now)
	}
}

func (m *Machine) readyLists(now visit.Instant, r *Ready) {
	for i, v := range m.visitors {
		if l, ok := v.machine.NextList(now); ok {
			r.Lists = append(r.Lists, List{i, l})
		}
		if at, ok := v.machine.WakeAt(now); ok {
			r.wake(at)
		}
	}
}

func (r *Ready) wake(at time.Duration) {
	if !r.Wake || at < r.WakeAt {
		r.Wake, r.WakeAt = true, at
	}
}

// wakeFrom wakes at a time, unless that is never.
func (r *Ready) wakeFrom(at time.Duration) {
	if at > 0 {
		r.wake(at)
	}
}

// nextEpoch is the epoch to run now. It is empty when there is nothing to
// process but something to store.
func (m *Machine) nextEpoch(now visit.Instant, r *Ready) *Epoch {
	e := &Epoch{Number: m.epochs + 1}
	m.wakeIdle(now, r)
	m.readySource(e, r)
	more := m.nextInputs(now, e, r)
	e.Visits = m.nextVisits(now, e.Inputs()+len(e.Timers) > 0, r)
	if m.visitsFirst(e) {
		more = more || len(e.Timers) > 0
		e.Messages, e.Timers = nil, nil
	}
	if e.empty() && !m.due(now, r) && !m.done(now) {
		return nil
	}
	for _, in := range m.inputs {
		e.Watermarks = append(e.Watermarks, in.watermark)
	}
	e.Budget = m.budget(e)
	e.Budget.Waiting = e.Budget.Waiting || more
	return e
}

// readySource takes what is left of the batch in hand, unless outputs are full, the
// source is too far ahead of others, or it waits for other streams.
func (m *Machine) readySource(e *Epoch, r *Ready) {
	switch {
	case m.source.id == "" || m.heldBack(m.source.id):
	case m.source.ahead():
		r.wakeFrom(m.source.aligned.Until)
	case m.source.early():
		r.wakeFrom(m.source.delayed.Until)
	default:
		e.SourceRows = m.source.rows()
	}
}

// nextInputs peeks at messages and timers, which share the rows of an epoch; more
// tells that timers are left for a later one.
func (m *Machine) nextInputs(now visit.Instant, e *Epoch, r *Ready) (more bool) {
	rows := m.params.MaxRows
	timers, more := m.nextTimers(now, rows, r)
	e.Messages = m.inbox.nextSpans(m.laneOpen, rows-min(len(timers), rows/2), m.params.MaxBytes)
	n := min(len(timers), max(rows-e.Inputs(), 1))
	e.Timers = timers[:n]
	return more || n < len(timers)
}

func (m *Machine) budget(e *Epoch) Budget {
	b := Budget{MaxBytes: m.params.MaxBytes, Max: m.params.MaxEpoch, Waiting: m.messagesWait(e), Credit: m.credit, Patience: patience(m.commits)}
	b.Timers = len(e.Timers) > 0
	b.Beside = b.Timers || e.Inputs() > 0
	if len(e.Visits) > 0 {
		b.Share = m.params.VisitShare
	}
	return b
}

// messagesWait tells whether messages are left for a later epoch. Those that are held
// back want no time: visits that lead elsewhere have all of it.
func (m *Machine) messagesWait(e *Epoch) bool {
	if slices.ContainsFunc(m.inputs, func(in *inputStream) bool { return m.inputHeldBack(in.id) }) {
		return m.inbox.waitingIn(m.laneOpen) > e.Inputs()
	}
	return m.inbox.gap || m.inbox.waiting > e.Inputs()
}

// nextVisits peeks at the visits of an epoch. Beside messages they come along;
// alone they wait until the epoch is full or their time is up (KV-32). The stream
// that had the fewest so far comes first, and has the most of the epoch's time
// (KV-30). Those that are spread give what is due of them.
func (m *Machine) nextVisits(now visit.Instant, beside bool, r *Ready) []Visits {
	var open []int
	due := beside
	for i, v := range m.visitors {
		at, ready := m.visitsAt(now, v)
		if !ready {
			continue
		}
		open = append(open, i)
		if at <= now.Mono {
			due = true
		} else {
			r.wake(at)
		}
	}
	if !due {
		return nil
	}
	slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(m.visitors[a].served, m.visitors[b].served) })
	var out []Visits
	for _, i := range open {
		n := max(1, m.params.MaxRows/len(open))
		if s, ok := m.spreadOf(now, m.visitors[i]); ok {
			n = min(n, s.due(now.Mono))
		}
		if visits := m.visitors[i].machine.NextVisits(now, nil, n); len(visits) > 0 {
			out = append(out, Visits{i, visits})
		}
	}
	return out
}

// visitsAt returns when the visits of a stream deserve an epoch of their own; not
// ready: there are none, or none may be handed out.
func (m *Machine) visitsAt(now visit.Instant, v *visitor) (at time.Duration, ready bool) {
	at, ready = v.machine.ReadyAt(now, m.params.MaxRows)
	if !ready || m.heldBack(v.stream) {
		return 0, false
	}
	if s, ok := m.spreadOf(now, v); ok {
		at = max(at, s.portionAt())
	}
	return at, true
}

// heldBack tells that an output which depends on the stream has a full target:
// nothing of the stream is admitted (D-18). This is for what begins here: rows of
// sources, timers and visits. An epoch once begun is not held back.
func (m *Machine) heldBack(stream string) bool {
	return slices.ContainsFunc(m.outputs, func(o outputState) bool {
		return (o.blocked || o.looped) && slices.Contains(o.Parents, stream)
	})
}

// inputHeldBack is heldBack for messages, which do not wait for the loop that they are
// in: they are what it is full of. What comes into it waits, so that is not for ever.
func (m *Machine) inputHeldBack(stream string) bool {
	return slices.ContainsFunc(m.outputs, func(o outputState) bool {
		return o.blocked && slices.Contains(o.Parents, stream)
	})
}

// laneOpen tells whether rows of a producer are admitted. What is of a former
// layout may be of any input.
func (m *Machine) laneOpen(id store.PartitionID) bool {
	former := !m.inbox.present[id]
	return !slices.ContainsFunc(m.inputs, func(in *inputStream) bool {
		_, of := in.index[id]
		return (former || of) && m.inputHeldBack(in.id)
	})
}

// due tells that something is to be stored though there is no input: coverage
// that has waited long enough (KV-10, KV-12), or a report that consumers wait
// for.
func (m *Machine) due(now visit.Instant, r *Ready) bool {
	due := m.reportDue(now, r)
	for _, v := range m.visitors {
		if at, ok := v.machine.StoreBy(); ok && at <= now.Mono {
			due = true
		} else if ok {
			r.wake(at)
		}
	}
	return due
}

// clockedReports is how often a watermark is told that moves with the clock
// alone: that of outputs which depend on a visit stream. An idle partition would
// commit for ever otherwise.
const clockedReports = 30 * time.Second

func (m *Machine) reportDue(now visit.Instant, r *Ready) bool {
	if len(m.outputs) == 0 || !m.reportChanged() {
		return false
	}
	if m.reportUrgent() {
		return true
	}
	at := m.toldAt.Mono + m.reportEvery()
	if at > now.Mono {
		r.wake(at)
	}
	return at <= now.Mono
}

func (m *Machine) reportEvery() time.Duration {
	for i, o := range m.outputs {
		if m.told.Streams[i] != o.report && !m.clocked(o) {
			return m.params.ReportEvery
		}
	}
	return max(clockedReports, m.params.ReportEvery)
}

func (m *Machine) clocked(o outputState) bool {
	return slices.ContainsFunc(o.Parents, m.followsVisits)
}

func (m *Machine) newCommit() *store.Commit {
	part := m.cfg.Job.Partition
	return &store.Commit{
		Partition: part.ID, Generation: part.Generation, Computation: part.Computation,
		Routing: part.Routing,
	}
}

func (m *Machine) addVisitors(c *store.Commit, totals *store.Totals) {
	for _, v := range m.visitors {
		if c.Report != nil && m.announces(v) {
			v.machine.AnnounceWatermark(v.watermark)
		}
		d := v.machine.Delta()
		if c.Done {
			d = v.machine.Retire()
		}
		c.Visitors = append(c.Visitors, v.rows(d)...)
		totals.Passes += v.machine.Ended() - v.counted
	}
}

// announces tells that consumers are told of the stream's watermark (KV-46).
func (m *Machine) announces(v *visitor) bool {
	return v.watermark != store.NoTime && slices.ContainsFunc(m.outputs, func(o outputState) bool {
		return slices.ContainsFunc(o.Parents, func(p string) bool { return m.dependsOn(p, v.stream) })
	})
}

// processed turns what the driver did into the commit.
func (m *Machine) processed(now visit.Instant, p Processed) {
	o := m.open
	o.cut = now.Mono
	o.takes = m.inbox.take(o.epoch.Messages, p.Messages)
	m.source.take(p.SourceRows, p.SourceEvent)
	o.totals = cloneTotals(m.totals)
	o.totals.Epochs++
	o.totals.Messages += uint64(p.Messages + p.SourceRows - p.Refused)
	o.totals.Timers += uint64(p.Timers)
	for i, outcome := range p.Visits {
		m.visitors[i].machine.AcceptVisits(now, outcome)
		o.totals.Visits += uint64(outcome.Delivered)
	}
	m.serve(o.epoch.Visits, p.Visits)
	m.noteVisits(now, p)
	o.totals.Counts = addCounts(o.totals.Counts, p.Counts)
	m.account(now, p)
	for i, event := range p.MaxEvents {
		m.outputs[i].report.MaxEvent = max(m.outputs[i].report.MaxEvent, event)
	}
	c := m.newCommit()
	c.Taken = o.takes
	m.takeTimers(c, o.epoch.Timers[:p.Timers], p)
	c.Produced = m.number(p.Rows)
	c.Done = o.done
	m.refreshSource()
	c.Report = m.nextReport()
	m.addVisitors(c, &o.totals)
	c.Totals = &o.totals
	o.commit = c
}

// serve notes how many visits each stream had. One that had none to offer saves
// nothing up: it goes on from where the others are.
func (m *Machine) serve(offered []Visits, outcomes []visit.Outcome) {
	if len(offered) == 0 {
		return
	}
	least := uint64(math.MaxUint64)
	for _, o := range offered {
		v := m.visitors[o.Visitor]
		v.served += uint64(outcomes[o.Visitor].Total())
		least = min(least, v.served)
	}
	for _, v := range m.visitors {
		v.served = max(v.served, least)
	}
}

// refreshSource brings the watermark of a source's outputs up to the rows that
// this very epoch emits: the report is stored with the data it speaks of.
func (m *Machine) refreshSource() {
	if m.source.id == "" {
		return
	}
	for i := range m.outputs {
		m.outputs[i].report.Watermark = max(m.outputs[i].report.Watermark, m.source.watermark)
	}
}

func addCounts(counts, more []store.Count) []store.Count {
	for _, c := range more {
		i, ok := slices.BinarySearchFunc(counts, c.Name, func(c store.Count, name string) int {
			return strings.Compare(c.Name, name)
		})
		if !ok {
			counts = slices.Insert(counts, i, store.Count{Name: c.Name})
		}
		counts[i].Value = flow.AddCounts(counts[i].Value, c.Value)
	}
	return counts
}

// committed takes note that the epoch is durable, and only now lets in what
// waited for that.
func (m *Machine) committed(now visit.Instant, e Committed) {
	o := m.open
	m.commits = (3*m.commits + now.Mono - o.cut) / 4
	m.inbox.committed(o.takes)
	m.totals = o.totals
	if o.commit.Report != nil {
		m.told, m.toldAt = o.commit.Report, now
	}
	m.open = nil
	m.finished = o.commit.Done
	for _, v := range m.visitors {
		v.counted = v.machine.Ended()
		v.machine.EpochCommitted(now)
		v.machine.Wrote(e.Names)
		for _, k := range e.Written {
			v.machine.Touch(k)
		}
	}
	ahead := m.ahead
	m.ahead = nil
	m.settle(now)
	for _, e := range ahead {
		m.Step(now, e)
	}
}
