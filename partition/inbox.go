package partition

import (
	"cmp"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

// inbox holds the rows that were admitted and are not yet consumed. What is in
// memory is a cache of the stored inbox (D-10): rows come by hand-over in the
// order of each producer's commits, and by reads; whatever cannot be admitted
// sets gap, and a read brings it.
//
// Invariant: every row of a lane up to lane.read is held here or was consumed
// in a committed epoch.
type inbox struct {
	target  store.PartitionID
	present map[store.PartitionID]bool  // producers of the present layouts
	moved   func(*lane)                 // told when the rows of a lane have changed
	lanes   []*lane                     // ordered by store.Lane
	former  int                         // lanes of former layouts that hold rows
	turn    int                         // the lane that is served next
	order   func(*store.InboxRow) int64 // nil: lanes are served in turn
	system  func(*store.InboxRow) int64 // nil: nobody asks for system times
	bytes   int
	limit   int
	// waiting counts the messages held and not taken.
	waiting int
	gap     bool // rows may be stored that are not held
	// drops counts what was dropped, so that a read knows whether something was
	// dropped after it began.
	drops   uint64
	reading *reading
}

type reading struct{ drops uint64 }

type lane struct {
	id     store.Lane
	former bool // of a layout that is no more: nothing new comes
	read   store.Place
	rows   []held
	// minEvent is the smallest event timestamp of the rows, endOfTime for none,
	// unless it is stale.
	minEvent int64
	stale    bool
	// system is the system time of the last row read; more: others may be stored
	// beyond it. See systemTime.
	system int64
	more   bool
}

// held is a row with the number of its messages that are taken: consumed, or
// taken by the epoch that is open.
type held struct {
	row   *store.InboxRow
	taken int
	at    int64 // its time, if rows are served by time
	// system is its system time, if somebody asks.
	system int64
}

// newInbox knows nothing of what is stored, if there are inputs at all.
func newInbox(cfg Config) inbox {
	b := inbox{
		target: cfg.Job.Partition.ID, limit: cfg.Params.HoldBytes, gap: len(cfg.Inputs) > 0, order: cfg.Order, system: cfg.System,
		present: map[store.PartitionID]bool{},
	}
	for _, in := range cfg.Inputs {
		for _, id := range in.Producers {
			b.present[id] = true
		}
	}
	return b
}

// handover admits the next row of a producer's current generation; anything
// else is left to a read (D-10).
func (b *inbox) handover(row *store.InboxRow) {
	l := b.lane(row.Lane())
	place := row.Place()
	if place.Compare(l.read) <= 0 {
		return // a read was faster
	}
	next := l.read == store.Place{Generation: row.Generation, Number: row.Previous} && row.Previous > 0
	if !next || b.bytes >= b.limit {
		b.lost()
		return
	}
	b.admit(l, row)
}

func (b *inbox) lost() {
	b.gap = true
	b.drops++
}

func (b *inbox) admit(l *lane, row *store.InboxRow) {
	l.read = row.Place()
	h := held{row: row, taken: row.Consumed}
	if b.order != nil {
		h.at = b.order(row)
	}
	if b.system != nil {
		h.system = b.system(row)
		l.system = h.system
	}
	l.rows = append(l.rows, h)
	b.bytes += len(row.Payload)
	b.waiting += row.Count - row.Consumed
	if len(l.rows) == 1 && l.former {
		b.former++
	}
	if len(l.rows) == 1 || row.MinEvent < l.minEvent {
		l.minEvent = row.MinEvent
		b.moved(l)
	}
}

// nextRead asks for what is stored beyond the rows held.
func (b *inbox) nextRead() *store.InboxRequest {
	if !b.gap || b.reading != nil || b.bytes > b.limit/2 {
		return nil
	}
	r := &store.InboxRequest{
		Target: b.target, MaxBytes: (b.limit - b.bytes) / max(1, len(b.lanes)),
		After: make([]store.LanePlace, 0, len(b.lanes)),
	}
	for _, l := range b.lanes {
		r.After = append(r.After, store.LanePlace{Lane: l.id, Place: l.read})
	}
	return r
}

func (b *inbox) acceptRead() { b.reading = &reading{b.drops} }

// readDone admits what was read and tells whether everything up to the inbox's end
// is admitted. The gap is closed only if nothing was dropped since the read began.
//
// Of former layouts the oldest comes first (D-8). While a read finds anything of
// it, more may follow, and rows of later layouts stay in the store. A read has at
// least one row of each lane that has any, so none of it is missed.
func (b *inbox) readDone(rows []store.InboxRow, end bool) bool {
	oldest, former := b.oldest(rows)
	more := !end
	for _, l := range b.lanes {
		b.expect(l, false)
	}
	for i := range rows {
		row := &rows[i]
		l := b.lane(row.Lane())
		b.expect(l, more)
		if former && (row.Layout != oldest || !l.former) {
			b.expect(l, true)
			b.lost()
			end = false
			continue
		}
		if row.Place().Compare(l.read) > 0 {
			b.admit(l, row)
		}
	}
	if end && b.reading.drops == b.drops {
		b.gap = false
	}
	b.reading = nil
	return end
}

// expect notes whether more of a lane may be stored than is held.
func (b *inbox) expect(l *lane, more bool) {
	if l.more != more {
		l.more = more
		b.moved(l)
	}
}

// oldest is the least layout among the rows of producers that are no more.
func (b *inbox) oldest(rows []store.InboxRow) (layout uint64, any bool) {
	for i := range rows {
		if r := &rows[i]; b.lane(r.Lane()).former && (!any || r.Layout < layout) {
			layout, any = r.Layout, true
		}
	}
	return layout, any
}

// turns returns the lanes that hold something and may be served, in their turn:
// those of the oldest former layout alone as long as they do.
func (b *inbox) turns() (at []int) {
	first := -1
	for i, l := range b.lanes {
		if l.former && len(l.rows) > 0 && (first < 0 || l.id.Layout < b.lanes[first].id.Layout) {
			first = i
		}
	}
	for i := range b.lanes {
		i = (b.turn + i) % len(b.lanes)
		l := b.lanes[i]
		if len(l.rows) > 0 && (first < 0 || l.former && l.id.Layout == b.lanes[first].id.Layout) {
			at = append(at, i)
		}
	}
	return at
}

func (b *inbox) lane(id store.Lane) *lane {
	i, ok := slices.BinarySearchFunc(b.lanes, id, func(l *lane, id store.Lane) int { return l.id.Compare(id) })
	if !ok {
		b.lanes = slices.Insert(b.lanes, i, &lane{id: id, former: !b.present[id.Producer], minEvent: endOfTime, system: store.NoTime})
		if i <= b.turn && len(b.lanes) > 1 {
			b.turn++
		}
	}
	return b.lanes[i]
}

// nextSpans peeks at the messages that an epoch takes: rows of the open lanes in
// turn or by time, each lane's in order, at most rows messages and about bytes of
// payload.
func (b *inbox) nextSpans(open func(store.PartitionID) bool, rows, bytes int) []Span {
	if b.waiting == 0 {
		return nil
	}
	if b.order != nil {
		return b.nextByTime(open, rows, bytes)
	}
	var spans []Span
	turns := b.turns()
	next := make([]int, len(turns))
	for progress := true; progress && rows > 0 && bytes > 0; {
		progress = false
		for i, at := range turns {
			l := b.lanes[at]
			if rows <= 0 || bytes <= 0 || next[i] >= len(l.rows) || !open(l.id.Producer) {
				continue
			}
			h := l.rows[next[i]]
			next[i]++
			to := min(h.row.Count, h.taken+rows)
			spans = append(spans, Span{h.row, h.taken, to})
			rows -= to - h.taken
			bytes -= len(h.row.Payload)
			progress = true
		}
	}
	return spans
}

// nextByTime merges the heads of lanes by their times.
func (b *inbox) nextByTime(open func(store.PartitionID) bool, rows, bytes int) []Span {
	var spans []Span
	next := make([]int, len(b.lanes)) // rows taken of each lane
	turns := slices.DeleteFunc(b.turns(), func(at int) bool { return !open(b.lanes[at].id.Producer) })
	for rows > 0 && bytes > 0 {
		turns = slices.DeleteFunc(turns, func(at int) bool { return next[at] >= len(b.lanes[at].rows) })
		if len(turns) == 0 {
			break
		}
		at := slices.MinFunc(turns, func(x, y int) int {
			return cmp.Compare(b.lanes[x].rows[next[x]].at, b.lanes[y].rows[next[y]].at)
		})
		h := b.lanes[at].rows[next[at]]
		next[at]++
		to := min(h.row.Count, h.taken+rows)
		spans = append(spans, Span{h.row, h.taken, to})
		rows -= to - h.taken
		bytes -= len(h.row.Payload)
	}
	return spans
}

// waitingIn counts the messages of the open lanes that are held and not taken.
func (b *inbox) waitingIn(open func(store.PartitionID) bool) (n int) {
	for _, l := range b.lanes {
		if len(l.rows) == 0 || !open(l.id.Producer) {
			continue
		}
		for _, h := range l.rows {
			n += h.row.Count - h.taken
		}
	}
	return n
}

// take marks the first n messages of the spans as taken, and returns what the
// commit must do with their rows.
func (b *inbox) take(spans []Span, n int) []store.InboxTake {
	var takes []store.InboxTake
	for _, s := range spans {
		to := min(s.To, s.From+n)
		if to == s.From {
			break
		}
		n -= to - s.From
		b.waiting -= to - s.From
		b.find(s.Row).taken = to
		takes = append(takes, store.InboxTake{Key: s.Row.InboxKey, From: s.From, To: to, Remove: to == s.Row.Count})
		b.turn = (b.index(s.Row.Lane()) + 1) % len(b.lanes)
	}
	return takes
}

func (b *inbox) find(row *store.InboxRow) *held {
	l := b.lanes[b.index(row.Lane())]
	i := slices.IndexFunc(l.rows, func(h held) bool { return h.row == row })
	return &l.rows[i]
}

func (b *inbox) index(id store.Lane) int {
	i, _ := slices.BinarySearchFunc(b.lanes, id, func(l *lane, id store.Lane) int { return l.id.Compare(id) })
	return i
}

// committed drops the rows that are wholly consumed.
func (b *inbox) committed(takes []store.InboxTake) {
	for _, t := range takes {
		if !t.Remove {
			continue
		}
		l := b.lanes[b.index(t.Key.Lane())]
		b.bytes -= len(l.rows[0].row.Payload)
		l.stale = l.stale || l.rows[0].row.MinEvent == l.minEvent
		l.rows[0] = held{}
		l.rows = l.rows[1:]
		if len(l.rows) == 0 && l.former {
			b.former--
		}
	}
	for _, t := range takes {
		switch l := b.lanes[b.index(t.Key.Lane())]; {
		case l.stale:
			b.survey(l)
		case t.Remove:
			b.moved(l)
		}
	}
}

// survey looks for the smallest event timestamp of a lane.
func (b *inbox) survey(l *lane) {
	l.minEvent, l.stale = endOfTime, false
	for _, h := range l.rows {
		l.minEvent = min(l.minEvent, h.row.MinEvent)
	}
	b.moved(l)
}

// minEvent is the smallest event timestamp held of former layouts, which may be
// of any stream; endOfTime for none.
func (b *inbox) minEvent() int64 {
	least := endOfTime
	if b.former == 0 {
		return least
	}
	for _, l := range b.lanes {
		if l.former && len(l.rows) > 0 {
			least = min(least, l.minEvent)
		}
	}
	return least
}

// reached tells whether every row of the producer up to the report's last one
// for this target is admitted.
func (b *inbox) reached(r *store.Report) bool {
	i, ok := slices.BinarySearchFunc(r.LastRows, b.target, func(l store.LastRow, id store.PartitionID) int { return cmp.Compare(l.Target, id) })
	if !ok {
		return false
	}
	l := b.lane(store.Lane{Layout: r.Layout, Producer: r.Partition})
	return l.read.Compare(store.Place{Generation: r.Generation, Number: r.LastRows[i].Number}) >= 0
}
