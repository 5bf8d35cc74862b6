package partition

import (
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// inputStream is what is known of one input stream. Its watermark never goes
// back, and its completion is for ever.
type inputStream struct {
	id        string
	producers []producer
	watermark int64
	finished  bool
}

// producer is what one producing partition has reported, as far as it may be
// applied.
type producer struct {
	id                  store.PartitionID
	watermark, maxEvent int64
	state               store.StreamState
}

func newInputStream(in Input) *inputStream {
	s := &inputStream{id: in.Stream, watermark: store.NoTime}
	for _, id := range in.Producers {
		s.producers = append(s.producers, producer{id, store.NoTime, store.NoTime, store.Active})
	}
	return s
}

// apply takes over what a producer reported. Every part only grows, so the
// order of reports does not matter.
func (s *inputStream) apply(id store.PartitionID, r store.StreamReport) {
	i := slices.IndexFunc(s.producers, func(p producer) bool { return p.id == id })
	if i < 0 {
		return
	}
	p := &s.producers[i]
	p.watermark = max(p.watermark, r.Watermark)
	p.maxEvent = max(p.maxEvent, r.MaxEvent)
	p.state = max(p.state, r.State)
}

// state is the least state of the producers.
func (s *inputStream) state() store.StreamState {
	least := store.Finished
	for _, p := range s.producers {
		least = min(least, p.state)
	}
	return least
}

// drained tells that nothing more comes while the pipeline stops, and nothing is
// held.
func (s *inputStream) drained(b *inbox) bool { return s.state() >= store.Drained && !s.held(b) }

func (s *inputStream) held(b *inbox) bool {
	return slices.ContainsFunc(s.producers, func(p producer) bool { return b.holds(p.id) })
}

// refresh derives watermark and completion from what was applied and what is
// held; a row is held until the epoch that took the last of it is committed.
//
// Completion and its watermark are applied in one step, and only when
// everything of the stream is committed: a final pass that began before would
// not see the last messages (D-16).
func (s *inputStream) refresh(b *inbox) {
	if s.finished {
		return
	}
	if s.state() == store.Finished {
		if !s.held(b) {
			s.finished = true
			s.watermark = max(s.watermark, s.maxEvent())
		}
		return
	}
	s.watermark = max(s.watermark, s.least(b))
}

// least is the smallest watermark of the producers that are not completed,
// bounded by what is held.
func (s *inputStream) least(b *inbox) int64 {
	least := int64(1<<63 - 1)
	for _, p := range s.producers {
		if p.state != store.Finished {
			least = min(least, p.watermark)
		}
		if event, ok := b.minEvent(p.id); ok {
			least = min(least, event)
		}
	}
	return least
}

func (s *inputStream) maxEvent() int64 {
	largest := store.NoTime
	for _, p := range s.producers {
		largest = max(largest, p.maxEvent)
	}
	return largest
}

// reports holds the reports that may not be applied yet (D-16).
type reports struct {
	pending     []pendingReport
	generations map[store.PartitionID]store.Generation // of each producer, as last heard
}

// pendingReport waits for the inbox. covered: a read that began after the
// report came is in progress.
type pendingReport struct {
	report  *store.Report
	covered bool
}

// add takes a report in. news tells that it is the first of a new generation:
// the one before may have committed rows that it could not hand over, so the
// queue no longer stands for the inbox.
func (r *reports) add(report *store.Report) (news bool) {
	r.pending = append(r.pending, pendingReport{report: report})
	news = report.Generation > r.generations[report.Partition]
	if news {
		r.generations[report.Partition] = report.Generation
	}
	return news
}

func (r *reports) readBegan() {
	for i := range r.pending {
		r.pending[i].covered = true
	}
}

// release returns the reports that may be applied: all of them while nothing
// was dropped since the last read that reached the end, else those whose rows
// are admitted. atEnd: a read just reached the inbox's end.
func (r *reports) release(b *inbox, atEnd bool) []*store.Report {
	var out []*store.Report
	r.pending = slices.DeleteFunc(r.pending, func(p pendingReport) bool {
		free := !b.gap || atEnd && p.covered || b.reached(p.report)
		if free {
			out = append(out, p.report)
		}
		return free
	})
	if !atEnd {
		return out
	}
	for i := range r.pending {
		r.pending[i].covered = false
	}
	return out
}
