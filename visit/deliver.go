package visit

import (
	"fmt"
	"time"
)

// Buffered returns the number of visits that are ready.
func (v *Visitor) Buffered() int { return v.buffer.visits }

// BufferedBytes returns the size of the rows they bring along.
func (v *Visitor) BufferedBytes() int { return v.buffer.bytes }

// An epoch of visits alone waits to fill for the period / waitsPerPeriod, at most
// longestWait. KV-32 allows five times as much, but a fortieth of the period
// passes between two reads already, and with both in one tenth of the period
// that tenth would miss its share of visits (KV-26).
const (
	waitsPerPeriod = 200
	longestWait    = time.Second
)

// ReadyAt returns the monotonic time at which waiting visits deserve an epoch of
// their own: at once when batch of them are ready or nothing can be added to
// them, else after a wait for more (KV-32). Not ok: there are none.
func (v *Visitor) ReadyAt(now Instant, batch int) (at time.Duration, ok bool) {
	if v.paused() || v.buffer.visits == 0 {
		return 0, false
	}
	at = now.Mono
	if v.buffer.visits < batch && !v.full() && v.growing() {
		at = v.buffer.head().listed + min(longestWait, v.pacer.period/waitsPerPeriod)
	}
	if v.limiter.cost > 0 {
		at = max(at, v.limiter.readyAt())
	}
	return at, true
}

// Spread returns the monotonic times between which waiting visits may be spread:
// when the last were read, and a tick later. The next ones come every so often. Not
// ok: they are wanted at once, since the pace is not limited, or the pass waits for
// them to go on or to end.
func (v *Visitor) Spread() (from, until, every time.Duration, ok bool) {
	if v.buffer.visits == 0 || v.pacer.unlimited || v.catchUp || v.full() || !v.growing() {
		return 0, 0, 0, false
	}
	from = (*v.buffer.chunks.last()).listed
	return from, from + v.pacer.tick, max(v.pacer.tick, v.pacer.minimum()), true
}

// growing says whether more visits may come before the buffered ones are taken.
func (v *Visitor) growing() bool { return v.fill.flight != nil || v.cover.has(pending) }

// NextVisits appends to dst the first n visits that may be delivered, fewer if
// fewer are ready or max_visits_per_second allows fewer. It changes nothing.
func (v *Visitor) NextVisits(now Instant, dst []Visit, n int) []Visit {
	if v.paused() {
		return dst
	}
	n = v.limiter.allow(now.Mono, v.hold(), min(n, v.buffer.visits))
	for _, c := range v.buffer.chunks.live() {
		for i := c.next; i < len(c.entries); i++ {
			if n <= 0 {
				return dst
			}
			n--
			dst = append(dst, Visit{Pass: v.pass.pass, Final: v.pass.final})
			c.visit(&dst[len(dst)-1], i, v.pass.watermark)
		}
	}
	return dst
}

// AcceptVisits says that the first visits NextVisits offered were handled in the
// open epoch, in any of the three ways.
func (v *Visitor) AcceptVisits(now Instant, o Outcome) {
	if !v.epoch.open {
		panic("visit: accept visits without an open epoch")
	}
	if min(o.Delivered, o.Failed, o.Gone) < 0 || o.Total() > v.buffer.visits {
		panic(fmt.Sprintf("visit: accept %+v of %d buffered visits", o, v.buffer.visits))
	}
	v.advance(now)
	for n := o.Total(); n > 0; {
		v.epoch.take(v.buffer.head())
		count, bucket, done := v.buffer.take(n)
		v.cover.buckets[bucket].mark(done, taken)
		v.epoch.units += done.length()
		v.epoch.counters.Seen += uint64(count)
		n -= count
	}
	v.limiter.take(o.Total())
	v.epoch.counters.add(o)
	v.epoch.due = v.epoch.due || o.Total() > 0
	v.check()
}
