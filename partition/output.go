package partition

import (
	"slices"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// outputState is what consumers are told of an output stream.
type outputState struct {
	Output
	report  store.StreamReport
	blocked bool
	looped  bool // it leads into the partition's own loop, which is full
}

func newOutputs(cfg Config) []outputState {
	var outs []outputState
	for _, o := range slices.Concat(cfg.Outputs, cfg.Told) {
		out := outputState{Output: o}
		out.report = store.StreamReport{Stream: o.Stream, Watermark: store.NoTime, MaxEvent: store.NoTime}
		out.restore(cfg.Job.Report)
		outs = append(outs, out)
	}
	return outs
}

// restore takes over what a former job reported, except that it was drained:
// that ended with the stop.
func (o *outputState) restore(r *store.Report) {
	if r == nil {
		return
	}
	for _, s := range r.Streams {
		if s.Stream == o.Stream {
			o.report = s
		}
	}
	if o.report.State == store.Drained {
		o.report.State = store.Active
	}
}

// refreshOutputs derives state and watermark of each output from its parents: the
// least of them, where completed ones hold no watermark back. It is called when no
// epoch is open.
func (m *Machine) refreshOutputs(now visit.Instant) {
	for _, v := range m.visitors {
		v.watermark = v.machine.Watermark(now)
	}
	for i := range m.outputs {
		o := &m.outputs[i]
		state, watermark := m.merged(o.Parents, o.Stream, now)
		o.report.State = max(o.report.State, state)
		if state != store.Finished {
			o.report.Watermark = max(o.report.Watermark, watermark)
		}
	}
}

// merged is the least state and watermark of streams; completed ones hold no
// watermark back. A stream is no parent of itself.
func (m *Machine) merged(parents []string, of string, now visit.Instant) (store.StreamState, int64) {
	state, watermark := store.Finished, endOfTime
	for _, parent := range parents {
		if parent == of {
			continue
		}
		s, w := m.parent(parent, now)
		state = min(state, s)
		if s != store.Finished {
			watermark = min(watermark, w)
		}
	}
	return state, watermark
}

func (m *Machine) parent(stream string, now visit.Instant) (store.StreamState, int64) {
	if stream == m.source.id {
		return m.source.state(), m.source.watermark
	}
	for _, in := range m.inputs {
		if in.id == stream {
			return m.inputState(in), in.watermark
		}
	}
	for _, t := range m.timers {
		if t.Stream == stream {
			return m.timerState(t, now)
		}
	}
	for _, v := range m.visitors {
		if v.stream == stream {
			return v.state(), v.machine.Watermark(now)
		}
	}
	return store.Active, store.NoTime
}

// inputState is the state of an input for outputs. While the pipeline does not stop, one
// that is drained is so by what a former job of its producer said.
func (m *Machine) inputState(s *inputStream) store.StreamState {
	switch {
	case s.finished:
		return store.Finished
	case m.draining && s.drained(&m.inbox):
		return store.Drained
	default:
		return store.Active
	}
}

// nextReport is the report as it stands, nil when it was told before.
func (m *Machine) nextReport() *store.Report {
	if len(m.outputs) == 0 || !m.reportChanged() {
		return nil
	}
	part := m.cfg.Job.Partition
	r := &store.Report{
		Partition: part.ID, Generation: part.Generation,
		Computation: part.Computation, Layout: part.Layout,
		LastRows: slices.Clone(m.lastRows),
	}
	for _, o := range m.outputs {
		r.Streams = append(r.Streams, o.report)
	}
	return r
}

func (m *Machine) reportChanged() bool {
	return m.told == nil || !slices.Equal(m.told.LastRows, m.lastRows) ||
		!slices.EqualFunc(m.told.Streams, m.outputs, func(s store.StreamReport, o outputState) bool { return s == o.report })
}

// reportUrgent tells that a state changed, which consumers wait for.
func (m *Machine) reportUrgent() bool {
	return m.told == nil || !slices.EqualFunc(m.told.Streams, m.outputs, func(s store.StreamReport, o outputState) bool {
		return s.State == o.report.State
	})
}

// number gives the epoch's rows their numbers, one counter for the generation,
// and chains them by target (D-7).
func (m *Machine) number(rows []Produced) []store.InboxRow {
	part := m.cfg.Job.Partition
	out := make([]store.InboxRow, 0, len(rows))
	for _, p := range rows {
		m.rowNumber++
		last := m.lastRow(store.PartitionID(p.Target))
		out = append(out, store.InboxRow{
			InboxKey: store.InboxKey{
				Target: last.Target, Layout: part.Layout, Producer: part.ID,
				Generation: part.Generation, Number: m.rowNumber,
			},
			Previous: last.Number, Count: p.Count, MinEvent: p.MinEvent,
		})
		last.Number = m.rowNumber
	}
	return out
}

func (m *Machine) lastRow(target store.PartitionID) *store.LastRow {
	i, ok := slices.BinarySearchFunc(m.lastRows, target, func(l store.LastRow, t store.PartitionID) int {
		return int(int64(l.Target) - int64(t))
	})
	if !ok {
		m.lastRows = slices.Insert(m.lastRows, i, store.LastRow{Target: target})
	}
	return &m.lastRows[i]
}
