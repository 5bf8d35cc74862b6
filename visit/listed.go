package visit

import (
	"fmt"
	"slices"
)

// Listed takes the answers to a list, one per source in their fixed order. A
// token that is not the outstanding one changes nothing.
func (v *Visitor) Listed(now Instant, t Token, answers []Answer) {
	f, ok := v.landed(now, t)
	if !ok {
		return
	}
	if len(answers) != v.cfg.Sources {
		panic(fmt.Sprintf("visit: a list needs one answer from each of %d sources, got %d", v.cfg.Sources, len(answers)))
	}
	for _, a := range answers {
		v.bytesRead += uint64(max(a.Bytes, 0))
	}
	c, err := cutAnswers(f.list, answers)
	if err != nil {
		v.pacer.refund(f.price, 1, 1)
		v.failed(now, err)
		return
	}
	v.pacer.refund(f.price, c.tail.Span(), f.list.Range.Span())
	v.fill.err = nil
	if c.covered.Empty() {
		v.blocked(now, f, c.capped)
		return
	}
	v.progress(now, f, c, answers)
}

// ListFailed says that a list, or one source of it, failed. Nothing of the slice
// is covered, the error shows in the status, and the slice is retried at the
// next tick (KV-19). A token that is not the outstanding one changes nothing.
func (v *Visitor) ListFailed(now Instant, t Token, err error) {
	if f, ok := v.landed(now, t); ok {
		v.pacer.refund(f.price, 1, 1)
		v.failed(now, err)
	}
}

// landed ends the flight with token t. An answer that comes late, from a former
// generation or to a list that a drain gave up, is not ok.
func (v *Visitor) landed(now Instant, t Token) (*flight, bool) {
	v.serialised()
	f := v.fill.flight
	if f == nil || f.list.Token != t {
		return nil, false
	}
	v.advance(now)
	v.fill.flight = nil
	return f, !f.discard
}

// failed leaves the slice pending and shows why.
func (v *Visitor) failed(now Instant, err error) {
	v.fill.err = err
	v.fill.nextAt = now.Mono + v.pacer.tick
	v.judge(now)
}

// blocked handles a list that covered nothing; its units are given back. Because of the row cap, one key
// has at least that many rows: its bucket stalls and the others go on (KV-21).
// Else the source ran out of work or time, and the slice is halved (KV-19).
func (v *Visitor) blocked(now Instant, f *flight, capped bool) {
	switch {
	case capped:
		v.fill.last = f.list.Bucket
		v.fill.stalls[f.list.Bucket] = stall{rows: f.list.MaxRows, until: now.Mono + v.pacer.tick}
		v.fill.nextAt = now.Mono
		v.judge(now)
	case f.list.Range.Span() > 1:
		v.fill.narrow = min(v.fill.narrow+1, 63)
		v.fill.nextAt = now.Mono
	default:
		v.failed(now, fmt.Errorf("a list of %s, a single hash, covered nothing of it before the source's limit of time or work", f.list.Range))
	}
}

// progress covers what a list completed.
func (v *Visitor) progress(now Instant, f *flight, c cut, answers []Answer) {
	v.fill.last, v.fill.narrow = f.list.Bucket, 0
	v.fill.stalls[f.list.Bucket] = stall{}
	v.fill.nextAt = f.begun + v.pacer.tick
	if f.again || !c.tail.Empty() {
		v.fill.nextAt = now.Mono
	}
	if v.pass.start == 0 {
		v.pass.start = now.Wall
		v.count(now)
	}
	entries, parts := unite(answers, c.covered.Upper)
	unknown := unreadable(answers)
	if unknown == nil {
		v.density.observe(now.Mono, len(entries), sizeOf(entries), c.covered.length())
	}
	v.notice(answers)
	v.enqueue(now, f, &chunk{
		bucket:  f.list.Bucket,
		rng:     c.covered,
		list:    f.list.Token.Seq,
		listed:  now.Mono,
		system:  now.Wall,
		entries: entries,
		parts:   parts,
		unknown: unknown,
	})
	v.judge(now)
	v.settle(now)
}

// notice remembers the listed names under which rows were found, those behind
// the cut included (KV-2).
func (v *Visitor) notice(answers []Answer) {
	for _, a := range answers {
		v.Wrote(a.Names)
	}
}

// Wrote says that a committed epoch wrote rows under some names: the next pass will
// find them, so those that are listed are not missed (KV-2).
func (v *Visitor) Wrote(names []string) {
	for _, name := range names {
		at, known := slices.BinarySearch(v.pass.found, name)
		if !known && slices.Contains(v.cfg.Names, name) {
			v.pass.found = slices.Insert(slices.Clone(v.pass.found), at, name)
		}
	}
}

// enqueue marks the chunk's range, stamps its visits and queues them. A chunk
// without visits is committed at once; nothing depends on when that is stored,
// since a restart before only reads an empty range again (KV-10).
func (v *Visitor) enqueue(now Instant, f *flight, c *chunk) {
	if len(c.entries) == 0 {
		v.cover.buckets[c.bucket].mark(c.rng, committed)
		v.achieved(now, c.rng.length())
		v.changed(now)
	} else {
		v.cover.buckets[c.bucket].mark(c.rng, buffered)
	}
	lag := v.lag(now)
	v.catchUp = lag > v.params.CatchupLagThreshold
	if len(c.entries) == 0 {
		return
	}
	c.event = now.Wall - int64(lag)
	for i := range c.entries {
		c.entries[i].stale = f.overflow
	}
	for _, key := range f.touched {
		c.touch(key)
	}
	v.buffer.push(c)
}

// achieved counts a stretch that has become committed towards the pace. What is
// read and waits for its visits does not count: a pass that is read in time may
// be visited late (KV-48).
func (v *Visitor) achieved(now Instant, units uint64) {
	if v.cover.total == 0 && v.cover.all(committed) {
		units = 1 // a single hash, see Span
	}
	v.reach.observe(now.Mono, v.pacer.period, v.pacer.worth(units))
}

// judge updates what is known about the pace.
func (v *Visitor) judge(now Instant) {
	if v.pacer.unlimited || v.paused() || v.Empty() {
		v.reach.unreachable = false
		return
	}
	// What is read ahead of its visits does not count here either.
	late := v.sched.lag(now, v.cover.done(), v.pacer.period)
	v.reach.judge(v.reach.pace(now.Mono, v.pacer.period), late, v.pacer.period)
}
