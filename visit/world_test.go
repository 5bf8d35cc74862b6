package visit

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// world is what a history plays in: rows in a store, partitions with their
// Visitors, answers under way, and the twin's own record of what must hold.
type world struct {
	now     Instant
	step    int
	err     error
	tally   tally
	sources int
	joined  bool // the last source is a table that is read forward
	buckets int
	params  Params
	command Run // the stored run-now command

	keys    []Key
	rows    []map[Key]rowSet // committed, by source
	version int
	since   map[Key]int // step since which a key has had rows

	parts      []*owner
	generation uint64
	flights    []*answerUnderWay
	draining   bool
	signalled  int  // step of the signal, 0 before it
	waived     bool // full_final_pass was off at some time since the signal
}

// rowSet is what a source holds of a key.
type rowSet struct{ rows, version int }

// owner is a partition and what the twin knows of it.
type owner struct {
	rng Range
	v   *Visitor
	st  Stored

	memory, durable passInfo
	announced       int64 // in committed epochs
	summarised      uint64
	emptySeen       bool

	epoch *openEpoch
	table *fakeTable
	twin  paceTwin
}

// passInfo is what the twin knows about a pass.
type passInfo struct {
	pass    uint64
	begin   int         // step
	visited map[Key]int // key to step
	final   bool
	count   uint64 // visits of epochs, as the counters of the pass have them
}

// openEpoch is what an epoch will make durable.
type openEpoch struct {
	writes    map[Key][]rowSet // per source
	visits    []Visit
	announced int64
	touchLate bool
	touched   []Key
}

// answerUnderWay is a list of any generation whose answer may still come.
type answerUnderWay struct {
	part    *owner
	v       *Visitor
	list    List
	table   *fakeTable
	answers []Answer // nil until the store was read
}

func newWorld(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &world{
		now:     Instant{Mono: time.Hour, Wall: int64(1000 * time.Hour)},
		sources: 1 + rng.IntN(2),
		buckets: 1 + rng.IntN(4),
		since:   map[Key]int{},
		params:  DefaultParams(),
	}
	w.params.Period = 10 * time.Second
	w.params.MaxScanRows = 3 + rng.IntN(8)
	w.params.BufferRowLimit = 1 + rng.IntN(20)
	w.params.FullFinalPass = rng.IntN(4) > 0
	w.params.CatchupLagThreshold = time.Duration(rng.IntN(3)) * 5 * time.Second
	for _, h := range []uint64{1, 3, 3, 3, 7, 12, 12, 20, 31, 38} {
		w.keys = append(w.keys, Key{Hash: h, Bytes: fmt.Sprintf("k%d", len(w.keys))})
	}
	for range w.sources {
		w.rows = append(w.rows, map[Key]rowSet{})
	}
	for _, k := range w.keys {
		if rng.IntN(3) > 0 {
			w.set(k, rng.IntN(w.sources), 1+rng.IntN(2))
		}
	}
	if w.joined = rng.IntN(4) == 0; w.joined {
		w.join(rng)
	}
	w.parts = []*owner{{rng: HashRange(0, 40), announced: noWatermark, durable: passInfo{visited: map[Key]int{}}}}
	w.restart(w.parts[0])
	return w
}

// join adds a table that nobody writes.
func (w *world) join(rng *rand.Rand) {
	w.rows = append(w.rows, map[Key]rowSet{})
	for _, k := range w.keys {
		if rng.IntN(2) == 0 {
			w.set(k, w.sources, 1)
		}
	}
	w.sources++
}

// written is the number of sources that epochs write.
func (w *world) written() int {
	if w.joined {
		return w.sources - 1
	}
	return w.sources
}

func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("step %d: %s", w.step, fmt.Sprintf(format, args...))
	}
}

// set commits rows of a key in one source; no rows delete it there.
func (w *world) set(k Key, source, rows int) {
	w.version++
	w.put(k, source, rowSet{rows, w.version})
}

func (w *world) put(k Key, source int, set rowSet) {
	if set.rows == 0 {
		delete(w.rows[source], k)
	} else {
		w.rows[source][k] = set
	}
	if !w.present(k) {
		delete(w.since, k)
	} else if _, ok := w.since[k]; !ok {
		w.since[k] = w.step
	}
}

func (w *world) present(k Key) bool {
	return slices.ContainsFunc(w.rows, func(m map[Key]rowSet) bool { return m[k].rows > 0 })
}

// restart gives a partition a new generation and a new Visitor.
func (w *world) restart(p *owner) {
	w.generation++
	p.epoch = nil
	p.v = New(Config{
		Stream: "s", Range: p.rng, Buckets: w.buckets, Generation: w.generation, Sources: w.sources,
		FirstTick: w.params.Tick() * time.Duration(w.generation%4) / 4,
	}, w.params, p.st, w.now)
	p.table = newFakeTable(w.table(), 3)
	if len(p.v.Warnings()) > 0 {
		w.fail("warnings: %v", p.v.Warnings())
	}
	if p.durable.final && p.v.pass.pass == p.durable.pass && !p.v.Final() {
		w.fail("the final mark of %s is lost", p.rng)
	}
	p.summarised = max(p.durable.pass, 1) - 1
	p.memory = p.durable
	if p.v.pass.pass != p.durable.pass {
		p.memory = passInfo{pass: p.v.pass.pass, begin: w.step}
	}
	p.v.Drain(w.now, w.draining)
	p.v.UpstreamCompleted(w.now, w.signalled > 0)
	p.startPace(w)
	w.tell(p)
}

// table returns the rows of the table that is read forward, if there is one.
func (w *world) table() (keys []Key) {
	for _, k := range w.keys {
		if w.joined && w.rows[w.sources-1][k].rows > 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

// tell repeats the stored run-now command to a partition.
func (w *world) tell(p *owner) {
	before := p.v.Coverage()
	if err := p.v.RunNow(w.now, w.command); err != nil && p.v.Coverage() != before {
		w.fail("a refused command (%v) changes %s to %s", err, before, p.v.Coverage())
	}
}

// runNow stores a command if the stream as a whole does not refuse it.
func (w *world) runNow(b uint32) {
	var parts []Status
	for _, p := range w.parts {
		parts = append(parts, p.v.Status(w.now))
	}
	s := Merge(parts...)
	if s.RefuseRunNow() == nil && s.Run.ID == w.command.ID {
		w.command = Run{ID: w.command.ID + 1, Period: time.Duration(b%4) * 3 * time.Second}
		w.tally.Runs++
	}
	for _, p := range w.parts {
		w.tell(p)
	}
}

// play performs one step.
func (w *world) play(o op) {
	p := w.parts[int(o.a)%len(w.parts)]
	switch o.kind {
	case opTick:
		w.tick([]time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, time.Second, time.Second, 3 * time.Second, 20 * time.Second}[o.b%7])
	case opStepWall:
		w.now.Wall += int64(o.b%7200)*int64(time.Second) - int64(time.Hour)
	case opList:
		w.list(p, o.b%2 == 0)
	case opRead:
		if f := w.flight(o.a); f != nil && f.answers == nil {
			f.answers = w.read(f)
		}
	case opAnswer, opCutShort, opFail:
		w.answer(o)
	case opOpen:
		w.open(p, o.b%2 == 0)
	case opWrite:
		w.write(p, o)
	case opTake:
		w.take(p, 1+int(o.b%5), o.b>>8)
	case opCommit:
		w.commit(p, o.b%3 == 0)
	case opCrash:
		w.crash(p, o.b)
	case opLostOutcome:
		w.lostOutcome(p)
	case opSignal:
		w.lastWords(p, o)
		w.signal()
	case opRun:
		w.lastWords(p, o)
		w.runNow(o.b)
	case opParams:
		w.change(o.b)
	case opDrain:
		w.drain(o.b%3 == 0)
	case opRepartition:
		w.repartition(1 + int(o.b%4))
	}
}

func (w *world) tick(d time.Duration) {
	able, wake := map[*owner]bool{}, map[*owner]time.Duration{}
	for _, p := range w.parts {
		w.pass(p, 0)
		able[p] = p.able(w)
		wake[p] = p.wake(w.now)
	}
	w.now.Mono += d
	w.now.Wall += int64(d)
	for _, p := range w.parts {
		w.pass(p, d)
		w.checkStarved(p, able[p], d)
		w.checkWake(p, wake[p])
	}
}

func (w *world) flight(a uint32) *answerUnderWay {
	if len(w.flights) == 0 {
		return nil
	}
	return w.flights[int(a)%len(w.flights)]
}

// list begins a list if one is offered, and may read the store at once.
func (w *world) list(p *owner, readNow bool) {
	l, ok := p.v.NextList(w.now)
	if !ok {
		return
	}
	w.checkList(p, l)
	p.v.AcceptList(w.now, l)
	f := &answerUnderWay{part: p, v: p.v, list: l, table: p.table}
	if readNow {
		f.answers = w.read(f)
	}
	w.flights = append(w.flights, f)
}

// read answers a list from committed rows, up to the cap of rows, the last key
// included even where that cuts it.
func (w *world) read(f *answerUnderWay) []Answer {
	l := f.list
	out := make([]Answer, w.sources)
	if w.joined {
		last := w.sources - 1
		out[last] = f.table.answer(l, func(k Key) any { return w.rows[last][k] })
	}
	for i := range w.written() {
		a := &out[i]
		for _, k := range w.keys {
			set := w.rows[i][k]
			if set.rows == 0 || !l.Range.Contains(k) || a.Rows == l.MaxRows {
				continue
			}
			set.rows = min(set.rows, l.MaxRows-a.Rows)
			a.Rows += set.rows
			a.Keys = append(a.Keys, Found{Key: k, Rows: set, Bytes: 1})
		}
	}
	return out
}

// answer delivers an answer to whichever Visitor owns the partition now, whole,
// cut short, or as a failure. Some are delivered twice.
func (w *world) answer(o op) {
	f := w.flight(o.a)
	if f == nil || w.heir(f.part).epoch != nil {
		return
	}
	v := w.heir(f.part).v
	if f.answers == nil {
		f.answers = w.read(f)
	}
	if f.v != v {
		w.tally.Late++
	}
	switch o.kind {
	case opFail:
		v.ListFailed(w.now, f.list.Token, fmt.Errorf("no luck"))
	case opCutShort:
		v.Listed(w.now, f.list.Token, cutShort(f, o.b))
	default:
		v.Listed(w.now, f.list.Token, f.answers)
	}
	w.refund(f)
	if o.b%4 != 0 {
		w.flights = slices.DeleteFunc(w.flights, func(g *answerUnderWay) bool { return g == f })
	}
}

// heir is the partition itself while it exists, else one that replaced it.
func (w *world) heir(p *owner) *owner {
	if slices.Contains(w.parts, p) {
		return p
	}
	return w.parts[0]
}

// cutShort makes the first source complete only up to one of its keys or a hash
// bound, with or without the keys beyond.
func cutShort(f *answerUnderWay, b uint32) []Answer {
	out := slices.Clone(f.answers)
	a := &out[0]
	to := AtHash(f.list.Range.Lower.position() + uint64(b%8))
	if n := len(a.Keys); n > 0 && b&8 > 0 {
		to = At(a.Keys[int(b>>4)%n].Key)
	}
	honest, err := completeTo(f.list, *a)
	if err != nil || to.Compare(f.list.Range.Lower) < 0 || to.Compare(honest) > 0 {
		return out
	}
	a.CompleteTo = &to
	if b&16 > 0 {
		a.Keys = before(a.Keys, to)
		a.Rows = len(a.Keys)
	}
	return out
}

func (w *world) open(p *owner, touchLate bool) {
	if p.epoch != nil {
		return
	}
	p.v.EpochOpened(w.now)
	p.twin.opened = w.now.Mono
	p.epoch = &openEpoch{writes: map[Key][]rowSet{}, announced: noWatermark, touchLate: touchLate}
}

// write changes rows of a key in the open epoch, as a message or a visit does.
func (w *world) write(p *owner, o op) {
	k := w.keys[int(o.b)%len(w.keys)]
	if p.epoch == nil || w.signalled > 0 || !p.rng.Contains(k) {
		return
	}
	w.writeRows(p, k, int(o.b>>8)%w.written(), int(o.b>>16)%4)
}

// lastWords commits a message before a signal or a command, now and then: best
// one that creates a key which a list in flight may have read too early to find.
func (w *world) lastWords(p *owner, o op) {
	if p.epoch != nil || o.a%4 == 0 || w.signalled > 0 {
		return
	}
	k := w.keys[int(o.b)%len(w.keys)]
	if f := p.v.fill.flight; f != nil {
		for _, other := range w.keys {
			if f.list.Range.Contains(other) && !w.present(other) {
				k = other
			}
		}
	}
	w.open(p, false)
	if p.rng.Contains(k) {
		w.writeRows(p, k, int(o.b>>8)%w.written(), 1)
	}
	w.commit(p, false)
	w.step++ // what follows is later than the message
}

func (w *world) writeRows(p *owner, k Key, source, rows int) {
	sets, ok := p.epoch.writes[k]
	if !ok {
		for i := range w.rows {
			sets = append(sets, w.rows[i][k])
		}
	}
	w.version++
	sets[source] = rowSet{rows, w.version}
	p.epoch.writes[k] = sets
	if p.epoch.touchLate {
		p.epoch.touched = append(p.epoch.touched, k)
	} else {
		p.v.Touch(k)
	}
}

// take handles up to n visits in the open epoch. A few fail, and a few clear
// their key.
func (w *world) take(p *owner, n int, dice uint32) {
	if p.epoch == nil {
		return
	}
	visits := p.v.NextVisits(w.now, nil, n)
	var o Outcome
	for i, v := range visits {
		w.checkVisit(p, v)
		sets, written := p.epoch.writes[v.Key]
		exists := w.present(v.Key)
		if written {
			exists = slices.ContainsFunc(sets, func(s rowSet) bool { return s.rows > 0 })
		}
		switch roll := dice >> (3 * i) % 8; {
		case !exists:
			o.Gone++
		case roll == 0:
			o.Failed++
		default:
			o.Delivered++
		}
	}
	if dice>>20%16 == 0 {
		p.v.Drain(w.now, true)
		p.v.Drain(w.now, w.draining)
		p.resumePace(w)
	}
	if dice>>20%16 == 1 {
		w.drain(true)
	}
	w.checkTaken(p, len(visits))
	p.v.AcceptVisits(w.now, o)
	for i, v := range visits {
		if dice>>(3*i)%8 == 1 {
			for s := range w.written() {
				w.writeRows(p, v.Key, s, 0)
			}
		}
	}
	p.epoch.visits = append(p.epoch.visits, visits...)
}

// commit makes the open epoch durable; asking for the delta twice is what a
// repeated transaction does.
func (w *world) commit(p *owner, announce bool) {
	if p.epoch == nil {
		return
	}
	if announce {
		p.epoch.announced = p.v.Watermark(w.now)
		p.v.AnnounceWatermark(p.epoch.announced)
	}
	p.v.Delta()
	w.persist(p, p.v.Delta())
	p.v.EpochCommitted(w.now)
	p.twin.epochs = append(p.twin.epochs, w.now.Mono-p.twin.opened)
	for _, k := range p.epoch.touched {
		p.v.Touch(k)
	}
	p.epoch = nil
}

// persist applies what the epoch's transaction writes.
func (w *world) persist(p *owner, d Delta) {
	r := rig{st: p.st}
	r.store(d)
	p.st = r.st
	w.persistVisits(p)
	for _, k := range slices.SortedFunc(maps.Keys(p.epoch.writes), Key.Compare) {
		for source, set := range p.epoch.writes[k] {
			w.put(k, source, set)
		}
	}
	p.announced = max(p.announced, p.epoch.announced)
	w.checkStored(p)
}

func (w *world) crash(p *owner, b uint32) {
	w.tally.Crashes++
	if b%4 == 0 {
		w.buckets = 1 + int(b>>8)%4
	}
	w.restart(p)
}

// lostOutcome commits the open epoch, but its job never learns of it.
func (w *world) lostOutcome(p *owner) {
	if p.epoch == nil {
		return
	}
	w.persist(p, p.v.Delta())
	w.restart(p)
}

// signal reports the upstreams as completed. It comes when no epoch is open,
// and no message is written after it (D-16).
func (w *world) signal() {
	if w.signalled > 0 || slices.ContainsFunc(w.parts, func(p *owner) bool { return p.epoch != nil && len(p.epoch.writes) > 0 }) {
		return
	}
	w.signalled = w.step
	w.waived = !w.params.FullFinalPass
	for _, p := range w.parts {
		p.v.UpstreamCompleted(w.now, true)
	}
}

func (w *world) change(b uint32) {
	switch b % 9 {
	case 0:
		w.params.MaxScanRows = 2 + int(b>>8)%10
	case 1:
		w.params.BufferRowLimit = 1 + int(b>>8)%20
	case 2:
		w.params.Finite = b>>8%3 > 0
	case 3:
		w.params.FullFinalPass = b>>8%3 > 0
	case 4:
		w.params.Period = time.Duration(1+b>>8%20) * time.Second
	case 5:
		w.params.Enabled = b>>8%3 > 0
	case 6:
		w.params.FinalPassPeriod = time.Duration(b>>8%5) * time.Second
	case 7:
		w.params.MaxVisitsPerSecond = float64(b >> 8 % 4)
	case 8:
		w.params.FillPeriod = []time.Duration{0, time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}[b>>8%4]
	}
	w.reconfigure()
}

func (w *world) reconfigure() {
	w.waived = w.waived || !w.params.FullFinalPass
	for _, p := range w.parts {
		if err := p.v.Reconfigure(w.now, w.params); err != nil {
			w.fail("reconfigure: %v", err)
		}
		p.resumePace(w)
	}
}

func (w *world) drain(on bool) {
	w.draining = on
	for _, p := range w.parts {
		p.v.Drain(w.now, on)
		p.resumePace(w)
	}
}

// repartition replaces all partitions by n.
func (w *world) repartition(n int) {
	w.tally.Repartitions++
	var old []Piece
	for _, p := range w.parts {
		old = append(old, Piece{Range: p.rng, Stored: p.st})
	}
	ranges := Split(HashRange(0, 40), n)
	stored, warnings := Repartition(old, ranges, w.buckets)
	if len(warnings) > 0 {
		w.fail("repartition: %v", warnings)
	}
	former := w.parts
	w.parts = nil
	for i, r := range ranges {
		p := &owner{rng: r, st: stored[i]}
		p.inherit(former)
		w.parts = append(w.parts, p)
		w.restart(p)
	}
}
