package partition

import (
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// visitor is a visit stream with what the partition adds: when its visits were
// ready, so that an epoch of visits alone can wait for more (KV-32).
type visitor struct {
	stream   string
	upstream []string
	machine  *visit.Visitor
	readyAt  time.Duration
	ready    bool
	draining bool
}

func newVisitor(v Visitor, rows []store.VisitorRow, now visit.Instant) *visitor {
	st := visit.Stored{Buckets: map[int][]byte{}}
	for _, r := range rows {
		switch {
		case r.Stream != v.Config.Stream:
		case r.Slot == store.SlotRecord:
			st.Record = r.Value
		case r.Slot == store.SlotSummaries:
			st.Summaries = r.Value
		default:
			st.Buckets[r.Slot] = r.Value
		}
	}
	return &visitor{
		stream:   v.Config.Stream,
		upstream: v.Upstream,
		machine:  visit.New(v.Config, v.Params, st, now),
	}
}

func (v *visitor) settle(now visit.Instant) {
	v.machine.Tick(now)
	ready := v.machine.Buffered() > 0
	if ready && !v.ready {
		v.readyAt = now.Mono
	}
	v.ready = ready
}

// dueAt is when an epoch of visits alone begins at the latest; full: when it
// begins at once.
func (v *visitor) dueAt(rows int) time.Duration {
	if v.machine.Buffered() >= rows {
		return v.readyAt
	}
	return v.readyAt + v.machine.VisitWait()
}

func (v *visitor) state() store.StreamState {
	switch {
	case v.machine.Empty():
		return store.Finished
	case v.machine.Suspended():
		return store.Drained
	default:
		return store.Active
	}
}

func (v *visitor) rows(d visit.Delta) []store.VisitorRow {
	var rows []store.VisitorRow
	if d.Record != nil {
		rows = append(rows, store.VisitorRow{Stream: v.stream, Slot: store.SlotRecord, Value: d.Record})
	}
	if d.Summaries != nil {
		rows = append(rows, store.VisitorRow{Stream: v.stream, Slot: store.SlotSummaries, Value: d.Summaries})
	}
	for _, b := range d.Buckets {
		rows = append(rows, store.VisitorRow{Stream: v.stream, Slot: b.Index, Value: b.Value})
	}
	return rows
}
