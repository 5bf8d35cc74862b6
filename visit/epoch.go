package visit

import (
	"bytes"
	"time"
)

// storeWithin is how long coverage without visits, or a new pass, may stay
// unstored (KV-10, KV-12).
const storeWithin = 5 * time.Second

// epoch is the open epoch, as far as the stream is concerned.
type epoch struct {
	open     bool
	began    time.Duration
	counters Counters // of the visits taken
	units    uint64   // length of the ranges they finish
	system   int64    // smallest system and event time of them, if there are any
	event    int64
	due      bool // something must be written that no Delta holds yet
}

// take notes the times of visits taken from a chunk.
func (e *epoch) take(c *chunk) {
	if e.counters.Seen == 0 {
		e.system, e.event = c.system, c.event
	}
	e.system, e.event = min(e.system, c.system), min(e.event, c.event)
}

// saved is what the store holds, so that only differences are written.
type saved struct {
	record    []byte
	summaries bool     // the stored summaries are the current ones
	buckets   [][]byte // rows by bucket
	foreign   []int    // indexes of rows that belong to no bucket of ours

	unsaved  bool // something changed outside an epoch
	since    time.Duration
	written  Delta // the last one of the open epoch
	complete bool  // it holds every change
}

// changed notes a durable fact that waits for the next transaction.
func (v *Visitor) changed(now Instant) {
	v.saved.complete = false
	if !v.saved.unsaved {
		v.saved.unsaved, v.saved.since = true, now.Mono
	}
}

// StoreBy returns the monotonic time at which an epoch must have committed, so
// that coverage without visits or a new pass does not stay unstored for more
// than 5 s (KV-10, KV-12). Not ok: nothing waits.
func (v *Visitor) StoreBy() (at time.Duration, ok bool) {
	return v.saved.since + storeWithin, v.saved.unsaved
}

// EpochOpened begins an epoch: until EpochCommitted no list begins or is
// answered and no pass ends.
func (v *Visitor) EpochOpened(now Instant) {
	if v.epoch.open {
		panic("visit: open an epoch while one is open; a failed epoch restarts the job")
	}
	v.advance(now)
	v.epoch = epoch{open: true, began: now.Mono}
	v.saved.written, v.saved.complete = Delta{}, false
}

// Delta returns what the open epoch's transaction must write. It changes
// nothing and may be asked again when the transaction is repeated.
func (v *Visitor) Delta() Delta {
	if !v.epoch.open {
		panic("visit: delta without an open epoch")
	}
	var d Delta
	rec := v.pass
	rec.anchor, rec.rested = v.sched.anchor, v.sched.rested()
	rec.counters = rec.counters.plus(v.epoch.counters)
	if row := encodeRecord(rec); !bytes.Equal(row, v.saved.record) {
		d.Record = row
	}
	if !v.saved.summaries {
		d.Summaries = encodeSummaries(v.past)
	}
	for i := range v.cover.buckets {
		row := encodeIntervals(v.cover.buckets[i].durable())
		if !sameRow(row, v.saved.buckets[i]) {
			d.Buckets = append(d.Buckets, BucketRow{Index: i, Value: row})
		}
	}
	for _, i := range v.saved.foreign {
		d.Buckets = append(d.Buckets, BucketRow{Index: i})
	}
	v.saved.written, v.saved.complete, v.epoch.due = d, true, false
	return d
}

// sameRow compares rows; nil is no row, which an empty one is not.
func sameRow(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// EpochCommitted says that the open epoch, with the last Delta, is durable. An
// epoch that failed has no call: the driver drops the Visitor and makes a new
// one from what is stored.
func (v *Visitor) EpochCommitted(now Instant) {
	if !v.epoch.open {
		panic("visit: commit without an open epoch")
	}
	if v.epoch.due {
		panic("visit: commit an epoch without the Delta that holds its visits and its watermark")
	}
	v.pacer.epochs.add(now.Mono - v.epoch.began)
	v.advance(now)
	v.saved.apply()
	if n := v.epoch.counters.Seen; n > 0 {
		v.cover.turn(taken, committed)
		v.achieved(now, v.epoch.units)
		v.pass.counters = v.pass.counters.plus(v.epoch.counters)
		v.processed.observe(now.Mono, int(n))
	}
	v.epoch = epoch{}
	if v.paused() {
		v.drop()
	}
	v.judge(now)
	v.settle(now)
}

// apply takes the last Delta as stored.
func (s *saved) apply() {
	if s.written.Record != nil {
		s.record = s.written.Record
	}
	if s.written.Summaries != nil {
		s.summaries = true
	}
	for _, row := range s.written.Buckets {
		if row.Index >= 0 && row.Index < len(s.buckets) {
			s.buckets[row.Index] = row.Value
		}
	}
	if s.complete {
		s.unsaved, s.foreign = false, nil
	}
	s.written = Delta{}
}

// Watermark returns the stream's watermark in unix nanoseconds: the smallest
// event time of all visits buffered or in the open epoch, else now less the
// schedule lag; never less than what was announced (KV-46).
func (v *Visitor) Watermark(now Instant) int64 {
	w, ok := v.buffer.event()
	if taken := v.epoch.counters.Seen > 0; taken && (!ok || v.epoch.event < w) {
		w, ok = v.epoch.event, true
	}
	if !ok {
		w = now.Wall - int64(v.lag(now))
	}
	return max(w, v.pass.watermark)
}

// SystemWatermark returns the smallest system time of all visits buffered or in the
// open epoch, else the clock.
func (v *Visitor) SystemWatermark(now Instant) int64 {
	switch chunks := v.buffer.chunks.live(); {
	case v.epoch.counters.Seen > 0:
		return v.epoch.system
	case len(chunks) > 0:
		return chunks[0].system
	default:
		return now.Wall
	}
}

// AnnounceWatermark says that the open epoch's transaction reports w as the
// stream's watermark; later visits are never earlier than it.
func (v *Visitor) AnnounceWatermark(w int64) {
	if !v.epoch.open {
		panic("visit: announce a watermark without an open epoch")
	}
	if w > v.pass.watermark {
		v.pass.watermark, v.epoch.due = w, true
	}
}
