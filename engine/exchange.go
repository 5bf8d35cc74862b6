package engine

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// exchange hands over what committed epochs produced, in memory, and knows how
// full each partition's inbox is. Everything in it is a cache of the store: a
// hand-over that is dropped is read from there (D-10).
//
// One lock guards all of it, mailboxes included. A row counts from before its
// commit, since its target may find it in the store before it is handed over; an
// inbox is known to be empty only if no row is between the two.
type exchange struct {
	mu    sync.Mutex
	boxes map[store.PartitionID]*mailbox
	sizes map[store.PartitionID]*inboxSize
	freer chan struct{} // capacity 1: less waits than before
	// underway holds the system times of epochs that are begun and not handed over.
	underway map[store.PartitionID]int64
	// held are the partitions that are held back, or were (D-17).
	held        map[store.PartitionID]heldState
	heldVersion atomic.Uint64 // written under the lock
	// tidings are what other workers have told, nil before they have.
	tidings atomic.Pointer[tidings]
}

// inboxSize is what waits for a partition, produced and not consumed (D-18). It
// is written under the exchange's lock; whether it is full is read without.
type inboxSize struct {
	messages, bytes          atomic.Int64
	messageLimit, bytesLimit atomic.Int64
	held                     atomic.Bool // counts as full
	committing               int         // rows counted and neither handed over nor given up
}

func newExchange() *exchange {
	return &exchange{
		boxes: map[store.PartitionID]*mailbox{}, sizes: map[store.PartitionID]*inboxSize{},
		freer: make(chan struct{}, 1), underway: map[store.PartitionID]int64{},
		held: map[store.PartitionID]heldState{},
	}
}

// reset begins with these partitions, which nothing waits for and nothing may. It
// is called while no job runs: those look sizes up without the lock. Epochs whose
// outcome is unknown stay noted of partitions that have another job here.
func (x *exchange) reset(ids []store.PartitionID, stays func(store.PartitionID) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.underway, func(id store.PartitionID, _ int64) bool { return !stays(id) })
	x.held = map[store.PartitionID]heldState{}
	x.tidings.Store(nil)
	x.sizes = make(map[store.PartitionID]*inboxSize, len(ids))
	for _, id := range ids {
		x.sizes[id] = &inboxSize{}
	}
}

// limit sets how much may wait for a partition: before its producers start, and
// whenever that changes. One that is no more needs none.
func (x *exchange) limit(id store.PartitionID, messages, bytes int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.sizes[id]; s != nil {
		s.messageLimit.Store(messages)
		s.bytesLimit.Store(bytes)
	}
}

// full tells whether producers must stop admitting what leads to the partition.
func (x *exchange) full(id store.PartitionID) bool { return x.sizes[id].full() }

func (s *inboxSize) full() bool {
	return s.held.Load() || s.messages.Load() >= s.messageLimit.Load() || s.bytes.Load() >= s.bytesLimit.Load()
}

func (s *inboxSize) add(messages, bytes int) {
	s.messages.Add(int64(messages))
	s.bytes.Add(int64(bytes))
}

// add notes rows that are stored for a partition already. One that another worker
// has made since the partitions were read is none of this round's.
func (x *exchange) add(id store.PartitionID, messages, bytes int) {
	if s := x.sizes[id]; s != nil {
		s.add(messages, bytes)
	}
}

// release notes what a partition consumed, and wakes everybody when it is no
// longer full.
func (x *exchange) release(id store.PartitionID, messages, bytes int) {
	x.resize(id, func(s *inboxSize) { s.add(-messages, -bytes) })
}

// empty notes that a job has consumed everything. Sizes drift when the outcome of
// a commit was lost, and would hold producers back for ever; this sets them
// right again, unless something is on its way. Whatever that is wakes the job
// when it is there, and the job comes here again.
func (x *exchange) empty(id store.PartitionID, b *mailbox) {
	x.resize(id, func(s *inboxSize) {
		if s.committing == 0 && len(b.items) == 0 && !b.lost {
			s.messages.Store(0)
			s.bytes.Store(0)
		}
	})
}

func (x *exchange) resize(id store.PartitionID, change func(*inboxSize)) {
	if x.freed(id, change) {
		x.wakeAll()
	}
	select {
	case x.freer <- struct{}{}:
	default:
	}
}

// freed tells whether the change made a full inbox one that is not.
func (x *exchange) freed(id store.PartitionID, change func(*inboxSize)) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.sizes[id]
	was := s.full()
	change(s)
	return was && !s.full()
}

func (x *exchange) wakeAll() {
	for _, b := range x.all() {
		b.wake()
	}
}

// wake wakes the jobs of some partitions.
func (x *exchange) wake(ids []store.PartitionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		if b := x.boxes[id]; b != nil {
			b.wake()
		}
	}
}

func (x *exchange) all() []*mailbox {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := make([]*mailbox, 0, len(x.boxes))
	for _, b := range x.boxes {
		out = append(out, b)
	}
	return out
}

// open gives a partition's new job its mailbox; what was meant for the former
// job is gone. It is opened before the job reads its inbox, so that nothing
// falls between.
func (x *exchange) open(id store.PartitionID) *mailbox {
	b := &mailbox{mu: &x.mu, signal: make(chan struct{}, 1)}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.boxes[id] = b
	return b
}

// close takes the mailbox of a job that ended out of use.
func (x *exchange) close(id store.PartitionID, b *mailbox) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.boxes[id] == b {
		delete(x.boxes, id)
	}
}

// begin counts rows that are about to be committed. Each of them is posted, or all
// are given up.
func (x *exchange) begin(rows []store.InboxRow) {
	if len(rows) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i := range rows {
		s := x.sizes[rows[i].Target]
		s.add(rows[i].Count, len(rows[i].Payload))
		s.committing++
	}
}

// giveUp ends the wait for rows whose commit failed, or may have. They may be in
// the store, so they count until their targets are empty.
func (x *exchange) giveUp(rows []store.InboxRow) {
	for i := range rows {
		if b := x.settle(rows[i].Target); b != nil {
			b.wake()
		}
	}
}

func (x *exchange) settle(id store.PartitionID) *mailbox {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sizes[id].committing--
	return x.boxes[id]
}

// post gives what is committed to the partition's present job, if it has one.
func (x *exchange) post(id store.PartitionID, h partition.Handover) {
	if b := x.put(id, h); b != nil {
		b.wake()
	}
}

func (x *exchange) put(id store.PartitionID, h partition.Handover) *mailbox {
	x.mu.Lock()
	defer x.mu.Unlock()
	if h.Row != nil {
		x.sizes[id].committing--
	}
	b := x.boxes[id]
	if b != nil {
		b.put(h)
	}
	return b
}

// The bounds of a mailbox; beyond them hand-overs are dropped.
const (
	mailboxItems = 4096
	mailboxBytes = 8 << 20
)

// mailbox holds hand-overs for one job, bounded. Producers' jobs write it, its
// own job takes everything at once.
type mailbox struct {
	signal chan struct{} // capacity 1: something is there, or may have changed
	// rows tells, without the lock, that there are rows which its job has not taken.
	rows atomic.Bool

	mu    *sync.Mutex // the exchange's
	items []partition.Handover
	bytes int
	lost  bool
	// behind: an epoch under way holds back system time that its job asked for.
	behind bool
	// reports are those of the hand-overs that were lost, one a producer.
	reports []store.Report
}

func (b *mailbox) wake() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

func (b *mailbox) put(h partition.Handover) {
	if h.Row != nil {
		b.rows.Store(true)
	}
	if b.lost || len(b.items) >= mailboxItems || b.bytes >= mailboxBytes {
		b.lose(h)
		return
	}
	b.items = append(b.items, h)
	if h.Row != nil {
		b.bytes += len(h.Row.Payload)
	}
}

// lose keeps the last report of each producer, so that what is held stays
// bounded; the rows are in the store.
func (b *mailbox) lose(h partition.Handover) {
	b.lost = true
	if h.Report == nil {
		return
	}
	i := slices.IndexFunc(b.reports, func(r store.Report) bool { return r.Partition == h.Report.Partition })
	if i < 0 {
		b.reports = append(b.reports, *h.Report)
		return
	}
	b.reports[i] = *h.Report
}

// take empties the mailbox: hand-overs in order, then what was lost after them.
func (b *mailbox) take() (items []partition.Handover, lost *partition.HandoverLost) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items, b.items, b.bytes = b.items, nil, 0
	b.rows.Store(false)
	if b.lost {
		lost = &partition.HandoverLost{Reports: b.reports}
		b.lost, b.reports = false, nil
	}
	return items, lost
}
