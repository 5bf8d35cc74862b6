package partition

import (
	"slices"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Status is what is shown of a partition. Totals count committed epochs only.
type Status struct {
	Totals store.Totals
	// Waiting are the messages held in memory and not taken yet.
	Waiting int
	Timers  []TimerStatus
	// Watermarks are those of the outputs, by index, as consumers are told.
	Watermarks []StreamWatermark
	// Stalled are the inputs whose watermark stands still because too many of their
	// producers are idle, and not all. Ahead tells that the source waits for others
	// of its group, at Source; Early that it waits for other streams with the batch it
	// has, up to Batch.
	Stalled  []string
	Ahead    bool
	Early    bool
	Batch    int64
	Source   int64
	Visitors []visit.Status
	// Passes are the summaries of completed passes of each visit stream, oldest
	// first (KV-16).
	Passes [][]visit.Summary
}

// TimerStatus is what is shown of a timer stream.
type TimerStatus struct {
	Stream string
	// Held timers are in memory; More says that others are set, which only the store
	// knows.
	Held int
	More bool
	// Next is the first one's trigger, Watermark what it is compared with; unix
	// nanoseconds. Next is 0 if none is held, Watermark store.NoTime while there is
	// none.
	Next, Watermark int64
}

func (t *timerStream) status() TimerStatus {
	s := TimerStatus{Stream: t.Stream, Held: len(t.window), More: !t.whole, Watermark: t.watermark}
	if len(t.window) > 0 {
		s.Next = t.window[0].Trigger
	}
	return s
}

// StreamWatermark is the event watermark of a stream, store.NoTime for none.
type StreamWatermark struct {
	Stream    string
	Watermark int64
}

// Source is how far the source has come. One that is not read any more has ended.
func (m *Machine) Source() Progress {
	s := &m.source
	return Progress{Watermark: s.watermark, Rows: s.taken, Held: m.HeldBack(), Ended: s.state() != store.Active}
}

// StreamTime is the state and the watermark of an output as consumers are told, or of
// another stream of the partition as it is.
func (m *Machine) StreamTime(stream string, now visit.Instant) (store.StreamState, int64) {
	told := m.told
	if told == nil {
		told = m.cfg.Job.Report
	}
	for _, o := range m.outputs {
		if o.Stream == stream {
			s := StreamReportOf(told, stream)
			return s.State, s.Watermark
		}
	}
	return m.parent(stream, now)
}

// StreamReportOf is what a report, nil for none, says of a stream.
func StreamReportOf(r *store.Report, stream string) store.StreamReport {
	if r != nil {
		if i := slices.IndexFunc(r.Streams, func(s store.StreamReport) bool { return s.Stream == stream }); i >= 0 {
			return r.Streams[i]
		}
	}
	return store.StreamReport{Stream: stream, Watermark: store.NoTime, MaxEvent: store.NoTime}
}

// Status describes the machine now.
func (m *Machine) Status(now visit.Instant) Status {
	s := Status{Totals: cloneTotals(m.totals), Waiting: m.inbox.waiting}
	for _, t := range m.timers {
		s.Timers = append(s.Timers, t.status())
	}
	s.Stalled, s.Ahead, s.Source = m.stalls(), m.source.ahead(), m.source.watermark
	if s.Early = m.source.early(); s.Early {
		s.Batch = m.source.batches[0].maxEvent
	}
	for _, o := range m.outputs[:len(m.cfg.Outputs)] {
		s.Watermarks = append(s.Watermarks, StreamWatermark{o.Stream, o.report.Watermark})
	}
	for _, v := range m.visitors {
		s.Visitors = append(s.Visitors, v.machine.Status(now))
		s.Passes = append(s.Passes, v.machine.Summaries())
	}
	return s
}

// BufferedBytes is the size of what the buffers of all visit streams hold.
func (m *Machine) BufferedBytes() (n int) {
	for _, v := range m.visitors {
		n += v.machine.BufferedBytes()
	}
	return n
}

// InboxEmpty tells that nothing waits for the partition, read or unread.
func (m *Machine) InboxEmpty() bool {
	return !m.inbox.gap && m.inbox.bytes == 0 && m.inbox.waiting == 0
}

// Warnings names stored rows of visit streams that could not be used; what they
// covered is visited again (KV-10).
func (m *Machine) Warnings() (out []string) {
	for _, v := range m.visitors {
		out = append(out, v.machine.Warnings()...)
	}
	return out
}
