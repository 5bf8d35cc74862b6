package partition

import (
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// inputStream is what is known of one input stream. Its watermark never goes
// back, and its completion is for ever.
type inputStream struct {
	id        string
	index     map[store.PartitionID]int // of producers
	producers []producer
	states    [store.Finished + 1]int // how many producers are in each state
	holding   int                     // producers of which rows are held
	bounds    minTree                 // what each producer holds the watermark back to
	watermark int64
	system    systemTime
	finished  bool
	idle      *idleness // nil: no producer is ever passed over
}

// producer is what one producing partition has reported, as far as it may be
// applied, and the rows that are held of it with their smallest event timestamp,
// endOfTime for none.
type producer struct {
	watermark, maxEvent int64
	state               store.StreamState
	generation          store.Generation // that said so
	holds               bool
	minEvent            int64
	heard               time.Duration // when it last brought something, or could not
	held                bool          // it has rows that it must not take
	idle                bool
}

func newInputStream(in Input, now visit.Instant) *inputStream {
	s := &inputStream{
		id: in.Stream, index: make(map[store.PartitionID]int, len(in.Producers)),
		bounds: newMinTree(len(in.Producers)), watermark: store.NoTime, system: newSystemTime(len(in.Producers)),
	}
	if in.Idle != nil {
		s.idle = &idleness{Idle: *in.Idle, watermark: store.NoTime}
	}
	for i, id := range in.Producers {
		s.index[id] = i
		s.producers = append(s.producers, producer{watermark: store.NoTime, maxEvent: store.NoTime, minEvent: endOfTime, heard: now.Mono})
		s.states[store.Active]++
		s.bound(i)
	}
	return s
}

// apply takes over what a producer reported. Every part only grows, so the
// order of reports does not matter, but for one: a producer that was drained when the
// pipeline stopped works again in its next generation.
func (s *inputStream) apply(now visit.Instant, id store.PartitionID, g store.Generation, r store.StreamReport) {
	i, ok := s.index[id]
	if !ok {
		return
	}
	p := &s.producers[i]
	if r.Watermark > p.watermark || r.MaxEvent > p.maxEvent || r.State > p.state {
		p.heard = now.Mono
	}
	p.watermark = max(p.watermark, r.Watermark)
	p.maxEvent = max(p.maxEvent, r.MaxEvent)
	s.states[p.state]--
	p.say(g, r.State)
	s.states[p.state]++
	s.bound(i)
}

// say takes over the state that a generation of the producer reported.
func (p *producer) say(g store.Generation, state store.StreamState) {
	switch {
	case state == store.Finished || g == p.generation:
		p.state = max(p.state, state)
	case g > p.generation && p.state != store.Finished:
		p.state = state
	}
	p.generation = max(p.generation, g)
}

// moved follows the rows that are held of a producer.
func (s *inputStream) moved(l *lane) {
	i, ok := s.index[l.id.Producer]
	if !ok {
		return
	}
	p := &s.producers[i]
	if p.holds {
		s.holding--
	}
	if p.holds = len(l.rows) > 0; p.holds {
		s.holding++
	}
	p.minEvent = l.minEvent
	s.system.heads.set(i, l.head())
	s.bound(i)
}

// bound sets what a producer holds the watermark back to: its own while it is
// not completed, and what is held of it.
func (s *inputStream) bound(i int) {
	p := &s.producers[i]
	bound := p.minEvent
	switch {
	case p.state == store.Finished:
	case p.idle:
		bound = min(bound, max(p.watermark, s.idle.watermark))
	default:
		bound = min(bound, p.watermark)
	}
	s.bounds.set(i, bound)
}

// state is the least state of the producers.
func (s *inputStream) state() store.StreamState {
	for state, n := range s.states {
		if n > 0 {
			return store.StreamState(state)
		}
	}
	return store.Finished
}

// drained tells that nothing more comes while the pipeline stops, and nothing is
// held.
func (s *inputStream) drained(b *inbox) bool { return s.state() >= store.Drained && !s.held(b) }

// held tells whether anything may be of the stream, taken or not: what is of a
// former layout may be of any.
func (s *inputStream) held(b *inbox) bool { return s.holding > 0 || b.former > 0 }

// refresh derives watermark and completion from what was applied and what is
// held; a row is held until the epoch that took the last of it is committed.
//
// Completion and its watermark are applied in one step, and only when
// everything of the stream is committed: a final pass that began before would
// not see the last messages (D-16).
func (s *inputStream) refresh(now visit.Instant, b *inbox) {
	if s.finished {
		return
	}
	s.passOver(now, b)
	if s.state() == store.Finished {
		if !s.held(b) {
			s.finished = true
			s.watermark = max(s.watermark, s.maxEvent())
		}
		return
	}
	s.watermark = max(s.watermark, min(s.bounds.least(), b.minEvent()))
}

func (s *inputStream) maxEvent() int64 {
	largest := store.NoTime
	for i := range s.producers {
		largest = max(largest, s.producers[i].maxEvent)
	}
	return largest
}

// minTree keeps the smallest of some numbers, so that many producers cost little:
// node i is the smaller one of nodes 2i and 2i+1, and the numbers are the last
// half.
type minTree []int64

func newMinTree(n int) minTree {
	t := make(minTree, 2*n)
	for i := range t {
		t[i] = endOfTime
	}
	return t
}

func (t minTree) set(i int, v int64) {
	i += len(t) / 2
	t[i] = v
	for i /= 2; i > 0; i /= 2 {
		t[i] = min(t[2*i], t[2*i+1])
	}
}

// least is endOfTime where there are no numbers.
func (t minTree) least() int64 {
	if len(t) == 0 {
		return endOfTime
	}
	return t[1]
}

// reports holds the reports that may not be applied yet (D-16).
type reports struct {
	pending     []pendingReport
	waiting     map[store.PartitionID]int              // how many of them are of each producer
	generations map[store.PartitionID]store.Generation // of each producer, as last heard
}

// pendingReport waits for the inbox. covered: a read that began after the
// report came is in progress.
type pendingReport struct {
	report  *store.Report
	covered bool
}

// mostPending bounds the reports of one producer that wait.
const mostPending = 64

// add takes a report in. news tells that it is the first of a new generation:
// the one before may have committed rows that it could not hand over, so the
// queue no longer stands for the inbox.
func (r *reports) add(report *store.Report) (news bool) {
	r.pending = append(r.pending, pendingReport{report: report})
	if r.waiting[report.Partition]++; r.waiting[report.Partition] > mostPending {
		r.thin(report.Partition)
	}
	news = report.Generation > r.generations[report.Partition]
	if news {
		r.generations[report.Partition] = report.Generation
	}
	return news
}

// thin drops every other report of a producer, not the first, which is the next to be
// applied, nor the last. Each later one says what is dropped and more, so only the steps
// become larger in which the producer is followed.
func (r *reports) thin(of store.PartitionID) {
	left, n := r.waiting[of], 0
	r.pending = slices.DeleteFunc(r.pending, func(p pendingReport) bool {
		if p.report.Partition != of {
			return false
		}
		n++
		return n%2 == 0 && n < left
	})
	r.waiting[of] = left - (left-1)/2
}

// anyProducer is the id of no partition.
const anyProducer = store.PartitionID(0)

func (r *reports) readBegan() {
	for i := range r.pending {
		r.pending[i].covered = true
	}
}

// release returns the reports that may be applied: all of them while nothing
// was dropped since the last read that reached the end, else those whose rows
// are admitted. atEnd: a read just reached the inbox's end. Otherwise rows can
// have been admitted of one producer alone, if it is named.
func (r *reports) release(b *inbox, atEnd bool, of store.PartitionID) []*store.Report {
	var out []*store.Report
	r.pending = slices.DeleteFunc(r.pending, func(p pendingReport) bool {
		free := !b.gap || atEnd && p.covered || (of == anyProducer || of == p.report.Partition) && b.reached(p.report)
		if free {
			out = append(out, p.report)
			r.waiting[p.report.Partition]--
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
