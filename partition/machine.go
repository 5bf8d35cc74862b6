package partition

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/internal/invariants"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Machine is the machine of one job. It is used by one goroutine.
type Machine struct {
	cfg      Config
	params   Params
	inputs   []*inputStream
	inbox    inbox
	reports  reports
	source   sourceState
	timers   []*timerStream
	visitors []*visitor
	outputs  []outputState
	draining bool

	epochs    uint64 // numbers of epochs given out
	open      *openEpoch
	ahead     []Event       // list answers that came while an epoch was open
	credit    time.Duration // visit time owed
	unpaid    bool          // an epoch of visits alone took little of it
	commits   time.Duration // how long one took lately
	visitTime time.Duration // how long a visit took lately

	rowNumber uint64
	lastRows  []store.LastRow // ordered by target
	told      *store.Report   // what consumers know
	toldAt    visit.Instant
	totals    store.Totals
	finished  bool
}

// New returns the machine of a job. Problems with stored coverage are not
// errors: what cannot be read counts as not covered (see Warnings).
func New(cfg Config, now visit.Instant) *Machine {
	m := &Machine{
		cfg:     cfg,
		params:  cfg.Params,
		inbox:   newInbox(cfg),
		reports: reports{waiting: map[store.PartitionID]int{}, generations: map[store.PartitionID]store.Generation{}},
		source:  newSource(cfg),
		totals:  cloneTotals(cfg.Job.Totals),
		toldAt:  now,
	}
	for _, in := range cfg.Inputs {
		m.inputs = append(m.inputs, newInputStream(in, now))
	}
	m.inbox.moved = m.moved
	m.timers = newTimers(cfg)
	for _, v := range cfg.Visitors {
		m.visitors = append(m.visitors, newVisitor(v, cfg.Job.Visitors, now))
	}
	m.outputs = newOutputs(cfg)
	for _, o := range m.outputs {
		if cfg.Source != "" {
			m.source.watermark = max(m.source.watermark, o.report.Watermark)
		}
	}
	m.settle(now)
	return m
}

// Step takes an event in.
func (m *Machine) Step(now visit.Instant, e Event) {
	if m.open != nil && m.stepOpen(now, e) {
		return
	}
	switch e := e.(type) {
	case Handover:
		m.stepHandover(now, e)
	case HandoverLost:
		m.stepLost(e)
	case ReportsRead:
		m.stepReports(e)
	case InboxRead:
		m.stepInbox(now, e)
	case SourceRead:
		m.source.read(e)
	case TimersRead:
		m.timers[e.Stream].read(e)
	case TimersSurveyed:
		m.timers[e.Stream].least.surveyed(now, e)
	case Listed:
		m.visitors[e.Visitor].machine.Listed(now, e.Token, e.Answers)
	case ListFailed:
		m.visitors[e.Visitor].machine.ListFailed(now, e.Token, e.Err)
	case Reconfigured:
		m.reconfigure(now, e.Params)
	case RunNow:
		_ = m.visitors[e.Visitor].machine.RunNow(now, e.Run)
	case NoRoom:
		for _, v := range m.visitors {
			v.machine.NoRoom(e.On)
		}
	case Draining:
		m.drain(now)
	case SystemPassed:
		for i, in := range m.inputs {
			in.system.look(e.Times[i], m.inbox.gap)
		}
	case Delayed:
		m.source.delayed = e
	case Aligned:
		m.source.aligned = e
	case TimePassed:
		for i, in := range m.inputs {
			in.timePassed(e.known(i, now), e.Held)
		}
	case Blocked:
		for i := range m.outputs[:len(m.cfg.Outputs)] {
			m.outputs[i].blocked, m.outputs[i].looped = e.Outputs[i], e.Loops != nil && e.Loops[i]
		}
	default:
		invariants.Assert(false, "processed or committed without an open epoch")
	}
	m.settle(now)
}

// stepOpen handles what concerns the open epoch, and keeps what must not touch
// a visitor before the epoch is committed: filling is serialised with epochs.
func (m *Machine) stepOpen(now visit.Instant, e Event) bool {
	switch e := e.(type) {
	case Processed:
		m.processed(now, e)
	case Committed:
		m.committed(now, e)
	case Listed, ListFailed, Reconfigured, RunNow, Draining:
		m.ahead = append(m.ahead, e)
	default:
		return false
	}
	return true
}

// moved tells the inputs that the rows held of a producer have changed.
func (m *Machine) moved(l *lane) {
	for _, in := range m.inputs {
		in.moved(l)
	}
}

func (m *Machine) stepHandover(now visit.Instant, e Handover) {
	if e.Row != nil {
		m.inbox.handover(e.Row)
	}
	if e.Report != nil && m.reports.add(e.Report) {
		m.inbox.lost()
	}
	m.applyReports(now, false, e.producer())
}

func (m *Machine) stepLost(e HandoverLost) {
	m.inbox.lost()
	for i := range e.Reports {
		m.reports.add(&e.Reports[i])
	}
}

// stepReports passes over the reports of others than producers.
func (m *Machine) stepReports(e ReportsRead) {
	for i := range e.Reports {
		if r := &e.Reports[i]; m.inbox.present[r.Partition] {
			m.reports.add(r)
		}
	}
}

func (m *Machine) stepInbox(now visit.Instant, e InboxRead) {
	end := m.inbox.readDone(e.Rows, e.End)
	for _, in := range m.inputs {
		in.system.readDone()
	}
	m.applyReports(now, end, anyProducer)
}

func (m *Machine) applyReports(now visit.Instant, atEnd bool, of store.PartitionID) {
	for _, r := range m.reports.release(&m.inbox, atEnd, of) {
		for _, in := range m.inputs {
			for _, s := range r.Streams {
				if s.Stream == in.id {
					in.apply(now, r.Partition, r.Generation, s)
				}
			}
		}
	}
}

func (m *Machine) reconfigure(now visit.Instant, p Params) {
	m.params = p
	m.inbox.limit = p.HoldBytes
	for i, v := range m.visitors {
		if p.Visitors != nil {
			if err := v.machine.Reconfigure(now, p.Visitors[i]); err != nil {
				invariants.Assert(false, err.Error()) // checked before it got here (KV-50)
			}
		}
	}
}

func (m *Machine) drain(now visit.Instant) {
	m.draining = true
	m.source.drain()
	for _, v := range m.visitors {
		v.machine.Drain(now, true)
	}
}

// settle derives everything that follows from the events so far. Nothing is
// told to visit streams while an epoch is open: what it took is not committed.
func (m *Machine) settle(now visit.Instant) {
	for _, in := range m.inputs {
		in.refresh(now, &m.inbox)
	}
	if m.open != nil {
		return
	}
	m.seeTimers(now)
	for _, v := range m.visitors {
		v.followed = v.followed || m.completed(v.upstream) && !m.timersDueBefore(v.stream)
		v.machine.UpstreamCompleted(now, v.followed)
	}
	m.refreshOutputs(now)
}

// completed tells whether all the streams are completed and everything of them
// is committed (KV-33).
func (m *Machine) completed(streams []string) bool {
	return !slices.ContainsFunc(streams, func(id string) bool {
		state, _ := m.parent(id, visit.Instant{})
		return state != store.Finished
	})
}

// done tells that every stream of the partition is completed, so that it can be
// marked Completed.
func (m *Machine) done(now visit.Instant) bool {
	for _, in := range m.inputs {
		if !in.finished {
			return false
		}
	}
	if m.source.id != "" && m.source.state() != store.Finished {
		return false
	}
	for _, t := range m.timers {
		if state, _ := m.timerState(t, now); state != store.Finished {
			return false
		}
	}
	return !slices.ContainsFunc(m.visitors, func(v *visitor) bool { return !v.machine.Empty() })
}

// drained tells that the stop has nothing left to wait for here.
func (m *Machine) drained() bool {
	if !m.draining || m.open != nil {
		return false
	}
	for _, in := range m.inputs {
		if !in.drained(&m.inbox) {
			return false
		}
	}
	return m.source.id == "" || m.source.state() >= store.Drained
}

func cloneTotals(t store.Totals) store.Totals {
	t.Counts = slices.Clone(t.Counts)
	return t
}
