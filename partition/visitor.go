package partition

import (
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// visitor is a visit stream with what the partition adds to it.
type visitor struct {
	stream   string
	upstream []string
	machine  *visit.Visitor
	// followed: its upstreams are completed, and no timer was due before it then
	// (KV-33).
	followed bool
	// counted are the passes that this job has completed and that are in the totals. They
	// are stored in one transaction with the summaries: so a pass that ended without it is
	// counted by the next job.
	counted uint64
	// served counts the visits it had, as far as the order of streams depends on
	// it.
	served uint64
	// taken is when an epoch last had some of its visits.
	taken time.Duration
	// watermark is what outputs were derived from.
	watermark int64
}

// StoredVisits returns what a partition's rows hold of one visit stream.
func StoredVisits(stream string, rows []store.VisitorRow) visit.Stored {
	st := visit.Stored{Buckets: map[int][]byte{}}
	for _, r := range rows {
		switch {
		case r.Stream != stream:
		case r.Slot == store.SlotRecord:
			st.Record = r.Value
		case r.Slot == store.SlotSummaries:
			st.Summaries = r.Value
		default:
			st.Buckets[r.Slot] = r.Value
		}
	}
	return st
}

func newVisitor(v Visitor, rows []store.VisitorRow, now visit.Instant) *visitor {
	return &visitor{
		stream:    v.Config.Stream,
		upstream:  v.Upstream,
		machine:   visit.New(v.Config, v.Params, StoredVisits(v.Config.Stream, rows), now),
		watermark: store.NoTime,
	}
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
