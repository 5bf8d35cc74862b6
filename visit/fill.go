package visit

import "time"

// fill is the state of the fill loop (KV-17 to KV-24).
type fill struct {
	seq    uint64 // number of the last list
	last   int    // bucket of the last slice that was answered
	nextAt time.Duration
	flight *flight
	stalls []stall // by bucket
	narrow uint    // how often the next slice is halved
	err    error   // why the last list failed
}

// stall is the state of a bucket one key of which has as many rows as the cap.
type stall struct {
	rows  int           // the cap that was too small, 0 if there is no stall
	until time.Duration // the bucket is idle until then
}

// idle says whether the bucket must not be read yet.
func (s stall) idle(mono time.Duration) bool { return s.rows > 0 && mono < s.until }

// maxTouched bounds the memory for keys that are written while a list is in
// flight; beyond it all that the list finds counts as stale.
const maxTouched = 4096

// flight is a list that has begun and has no answer yet.
//
// Hazard: what is decided while it is in flight must not trust its answer. A
// key written meanwhile makes what the list read of it stale (touch). A final
// pass cannot begin while it is in flight, because it may have read before the
// last messages were applied. A drain cannot wait for it: its answer is then
// discarded, and the next list waits until it has arrived, so that there are
// never two at once.
type flight struct {
	list     List
	begun    time.Duration
	price    time.Duration // of the whole slice, for the refund
	again    bool          // the next list may follow at once, see offer
	discard  bool
	touched  []Key
	overflow bool // more keys were touched than are remembered
}

// reprice keeps the price worth as many units under another period.
func (f *flight) reprice(from, to time.Duration) {
	if f != nil {
		f.price = time.Duration(floorOf(uint64(to), uint64(f.price), uint64(from)))
	}
}

// touch remembers that key was written after the list began.
func (f *flight) touch(key Key) {
	if f.overflow = f.overflow || len(f.touched) == maxTouched; !f.overflow {
		f.touched = append(f.touched, key)
	}
}

// offer is the slice that may be read next.
type offer struct {
	bucket int
	slice  Range
	units  uint64 // granted; the slice is wider while catching up
	again  bool   // the slice used less than was granted
}

// nextPiece returns the next pending range, leaving out stalled buckets.
func (v *Visitor) nextPiece(mono time.Duration) (bucket int, piece Range, ok bool) {
	return v.cover.next(v.fill.last, func(i int) bool { return !v.fill.stalls[i].idle(mono) })
}

// mayList says whether the fill loop may run at all (KV-17).
func (v *Visitor) mayList() bool {
	return v.fill.flight == nil && !v.epoch.open && !v.paused() && !v.full()
}

// full says whether the buffer is at one of its limits.
func (v *Visitor) full() bool {
	return v.buffer.visits >= v.params.BufferRowLimit || v.buffer.bytes >= v.params.BufferByteLimit ||
		v.short && v.buffer.visits > 0
}

// NoRoom tells whether the budget that the stream's buffer shares with others is
// used up. While it is, nothing is read that can wait: a list begins only if no
// visit is ready.
func (v *Visitor) NoRoom(on bool) { v.short = on }

// offer returns what may be read at mono. Units are granted here, before
// anything with a lifetime is opened (KV-18).
func (v *Visitor) offer(mono time.Duration) (offer, bool) {
	if !v.mayList() || mono < v.fill.nextAt {
		return offer{}, false
	}
	bucket, piece, ok := v.nextPiece(mono)
	if !ok {
		return offer{}, false
	}
	turn := v.turn(mono, bucket)
	granted := v.pacer.grant(mono, piece.Span(), turn)
	if granted == 0 {
		return offer{}, false
	}
	units := min(granted, v.even(bucket))
	if turn > 0 {
		units = min(units, turn)
	}
	units = max(units>>v.fill.narrow, 1)
	slice := piece.prefix(v.widened(units))
	return offer{bucket: bucket, slice: slice, units: units, again: slice == piece || units < granted}, true
}

// turn returns the units of a turn of the bucket, 0 for no turns.
func (v *Visitor) turn(mono time.Duration, bucket int) uint64 {
	return v.pacer.turn(mono, v.cover.buckets[bucket].rng.Span())
}

// mostAhead is how much of itself a bucket may be ahead of another when its turn
// comes.
const mostAhead = 0.05

// even returns the most units that the bucket may read: the smallest slice if it
// is ahead of another. Turns are equal, but not the time in which their slices
// were earned; where they fall into step with epochs, a bucket would be read early
// in one pass and late in the next, and its keys would wait for longer than they
// may (KV-48).
func (v *Visitor) even(bucket int) uint64 {
	if v.pacer.unlimited || len(v.cover.buckets) == 1 {
		return maxHash
	}
	most := v.cover.buckets[bucket].scanned() - mostAhead
	for i := range v.cover.buckets {
		if v.fill.stalls[i].rows == 0 && v.cover.buckets[i].scanned() < most {
			return max(v.pacer.units(v.pacer.minimum()), 1)
		}
	}
	return maxHash
}

// widened returns the units of a slice while catching up (KV-26).
func (v *Visitor) widened(units uint64) uint64 {
	if !v.catchUp || v.fill.narrow > 0 {
		return units
	}
	wide := float64(units) * v.params.CatchupMultiplier
	if wide >= maxHash {
		return maxHash
	}
	return max(uint64(wide), units)
}

// NextList offers the next list to read, if one may begin now. It changes
// nothing.
func (v *Visitor) NextList(now Instant) (List, bool) {
	o, ok := v.offer(now.Mono)
	if !ok {
		return List{}, false
	}
	return v.list(o), true
}

// list makes the call for an offer.
func (v *Visitor) list(o offer) List {
	return List{
		Token:    Token{Generation: v.cfg.Generation, Seq: v.fill.seq + 1},
		Range:    o.slice,
		Bucket:   o.bucket,
		MaxRows:  v.params.MaxScanRows,
		MaxBytes: v.params.BufferByteLimit - v.buffer.bytes,
	}
}

// AcceptList begins the list that NextList offered at the same instant.
func (v *Visitor) AcceptList(now Instant, l List) {
	v.serialised()
	v.advance(now)
	o, ok := v.offer(now.Mono)
	offered := v.list(o)
	offered.MaxBytes = min(offered.MaxBytes, l.MaxBytes) // the driver may lower it
	if !ok || l != offered {
		panic("visit: accept a list that NextList did not offer at the same instant")
	}
	v.fill.seq++
	v.fill.flight = &flight{
		list:  l,
		begun: now.Mono,
		price: v.pacer.charge(min(o.units, o.slice.Span())),
		again: o.again,
	}
}

// Outstanding returns the token of the list that has begun and has no answer
// yet.
func (v *Visitor) Outstanding() (Token, bool) {
	if f := v.fill.flight; f != nil {
		return f.list.Token, true
	}
	return Token{}, false
}

// serialised asserts the rule without which coverage could move between the
// delta of an epoch and its commit.
func (v *Visitor) serialised() {
	if v.epoch.open {
		panic("visit: filling is serialised with epochs: no list begins or is answered while one is open")
	}
}

// WakeAt returns the monotonic time at which NextList may say yes if nothing
// else happens before; not ok means that it waits for another event.
func (v *Visitor) WakeAt(now Instant) (at time.Duration, ok bool) {
	if !v.mayList() {
		return 0, false
	}
	if bucket, piece, ok := v.nextPiece(now.Mono); ok {
		return max(v.fill.nextAt, v.pacer.readyAt(piece.Span(), v.turn(now.Mono, bucket))), true
	}
	for _, s := range v.fill.stalls {
		if s.idle(now.Mono) && (!ok || s.until < at) {
			at, ok = s.until, true
		}
	}
	return at, ok
}
