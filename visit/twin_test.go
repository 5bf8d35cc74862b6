package visit

import (
	"maps"
	"slices"
	"time"
)

// inherit makes the twin's record of a partition from those it replaces.
func (p *owner) inherit(former []*owner) {
	p.durable = passInfo{visited: map[Key]int{}, begin: 1 << 30, final: true}
	p.announced = 1<<63 - 1
	for _, old := range former {
		if old.rng.Intersect(p.rng).Empty() {
			continue
		}
		p.durable.pass = max(p.durable.pass, old.durable.pass)
		p.durable.begin = min(p.durable.begin, old.durable.begin)
		p.durable.final = p.durable.final && old.durable.final
		p.announced = min(p.announced, old.announced)
		if p.rng.Lower.Compare(old.rng.Lower) <= 0 {
			p.durable.count += old.durable.count
		}
		for k, at := range old.durable.visited {
			if p.rng.Contains(k) {
				p.durable.visited[k] = at
			}
		}
	}
}

// checkVisit checks a visit at its delivery: in time, in the pass, not visited
// in it before, and bringing what the store holds unless it says otherwise.
func (w *world) checkVisit(p *owner, v Visit) {
	if v.Event < p.announced {
		w.fail("%s is behind the announced watermark %s", v, shortTime(p.announced))
	}
	if v.Event > v.System && v.Event > p.announced {
		w.fail("%s is in the future", v)
	}
	if v.Pass != p.v.pass.pass || v.Final != p.v.Final() {
		w.fail("%s in pass %d", v, p.v.pass.pass)
	}
	if _, written := p.epoch.writes[v.Key]; v.Stale {
		w.tally.Stale++
	} else if !written {
		w.checkRows(v)
	}
}

// checkRows compares the rows that came with a visit to the committed ones.
func (w *world) checkRows(v Visit) {
	got := make([]rowSet, w.sources)
	for _, part := range v.Parts {
		got[part.Source] = part.Rows.(rowSet)
	}
	for source, rows := range w.rows {
		if got[source] != rows[v.Key] {
			w.fail("%s brings %v from source %d, the store holds %v", v, got[source], source, rows[v.Key])
		}
	}
}

// persistVisits notes the visits of an epoch that is becoming durable.
func (w *world) persistVisits(p *owner) {
	rec, err := decodeRecord(p.st.Record)
	if err != nil {
		w.fail("stored record: %v", err)
	}
	if rec.pass != p.durable.pass {
		p.durable = passInfo{pass: rec.pass, begin: p.memory.begin, visited: map[Key]int{}}
	}
	p.durable.final = p.v.Final()
	p.durable.count += uint64(len(p.epoch.visits))
	for _, v := range p.epoch.visits {
		w.tally.Visits++
		if v.Pass != rec.pass {
			w.fail("%s is stored under pass %d", v, rec.pass)
		}
		if at, ok := p.durable.visited[v.Key]; ok {
			w.fail("%s: the key was visited in this pass before, at step %d", v, at)
		}
		p.durable.visited[v.Key] = w.step
	}
}

// observe follows the machines after a step: new passes, completed ones, the
// end.
func (w *world) observe() {
	for _, p := range w.parts {
		if s := p.v.Summaries(); len(s) > 0 && s[len(s)-1].Pass > p.summarised {
			w.checkSummary(p, s[len(s)-1])
		}
		if pass := p.v.pass.pass; pass != p.memory.pass {
			p.memory = passInfo{pass: pass, begin: w.step}
		}
		if p.v.paused() && p.epoch == nil && p.v.Buffered() > 0 {
			w.fail("%s holds %d visits while it is paused", p.rng, p.v.Buffered())
		}
		if p.v.fill.stalls[0].rows > 0 {
			w.tally.Stalls++
		}
		if p.v.Empty() && !p.emptySeen {
			p.emptySeen = true
			w.checkEmpty(p)
		}
	}
}

// checkStored checks what is stored after a transaction: it covers every key that
// was visited in the pass, and none that was there since the pass began and was
// not (KV-10).
func (w *world) checkStored(p *owner) {
	var stored []Range
	for _, i := range slices.Sorted(maps.Keys(p.st.Buckets)) {
		list, err := decodeIntervals(p.st.Buckets[i])
		if err != nil {
			w.fail("stored coverage: %v", err)
		}
		stored = append(stored, list...)
	}
	for _, k := range w.keys {
		covered := slices.ContainsFunc(stored, func(r Range) bool { return r.Contains(k) })
		_, visited := p.durable.visited[k]
		since, present := w.since[k]
		switch {
		case visited && !covered:
			w.fail("%s was visited in pass %d and is not in the stored coverage %v", k, p.durable.pass, stored)
		case covered && !visited && present && since < p.durable.begin && p.rng.Contains(k):
			w.fail("the stored coverage %v holds %s, which was not visited in pass %d", stored, k, p.durable.pass)
		}
	}
}

// checkSummary checks a pass that is complete: its counters add up, and every
// key that was there all the time was visited in it.
func (w *world) checkSummary(p *owner, s Summary) {
	w.tally.Passes++
	p.summarised = s.Pass
	pass := p.known(s.Pass)
	if s.Seen != s.Delivered+s.Failed+s.Gone || s.Seen != pass.count {
		w.fail("%s: the counters do not add up to %d visits", s, pass.count)
	}
	for _, k := range w.keys {
		since, present := w.since[k]
		if _, ok := pass.visited[k]; present && since < pass.begin && p.rng.Contains(k) && !ok {
			w.fail("pass %d of %s, begun at step %d, is complete without a visit of %s, which is there since step %d", s.Pass, p.rng, pass.begin, k, since)
		}
	}
}

// known returns what the twin knows of a pass: of the stored one, or of one that
// has nothing stored yet.
func (p *owner) known(pass uint64) passInfo {
	if p.durable.pass == pass {
		return p.durable
	}
	return p.memory
}

// checkEmpty checks the end: every key was visited in the final pass, which, if
// it had to be a full one, began after the signal.
func (w *world) checkEmpty(p *owner) {
	w.tally.Finals++
	if w.signalled == 0 {
		w.fail("%s is empty without a signal", p.rng)
	}
	pass := p.known(p.v.pass.pass)
	for _, k := range w.keys {
		since, present := w.since[k]
		at, visited := pass.visited[k]
		if present && p.rng.Contains(k) && !visited && (!w.waived || since < pass.begin) {
			w.fail("%s is empty without a final visit of %s", p.rng, k)
		}
		if visited && !w.waived && at < w.signalled {
			w.fail("the final pass of %s visited %s at step %d, before the signal", p.rng, k, at)
		}
	}
}

// quiesce ends all faults and lets time pass: two more passes must complete, or
// the stream must become empty.
func (w *world) quiesce() {
	w.params.Enabled, w.params.MaxScanRows, w.params.BufferRowLimit, w.params.MaxVisitsPerSecond = true, 100, 100, 0
	w.reconfigure()
	w.drain(false)
	target := w.tally.Passes + 2*len(w.parts)
	w.flights = slices.DeleteFunc(w.flights, func(f *answerUnderWay) bool { return w.heir(f.part) != f.part })
	for i := range 2000 {
		w.step++
		if i == 10 || i == 40 {
			w.restartAll(1 + i%4)
		}
		for _, p := range w.parts {
			w.commit(p, false)
			w.tell(p)
			w.observe()
			w.list(p, true)
		}
		for _, f := range w.flights {
			f.part.v.Listed(w.now, f.list.Token, w.read(f))
			w.refund(f)
		}
		w.flights = nil
		w.observe()
		for _, p := range w.parts {
			w.open(p, false)
			w.take(p, 4, 7)
			w.commit(p, true)
		}
		w.tick(100 * time.Millisecond)
		w.observe()
		if w.err != nil || w.tally.Passes >= target || w.ended() {
			return
		}
	}
	w.fail("nothing ends: %s", w.parts[0].v.Status(w.now))
}

// restartAll crashes all partitions and changes the bucket count.
func (w *world) restartAll(buckets int) {
	w.buckets = buckets
	for _, p := range w.parts {
		w.restart(p)
	}
}

// ended says whether every partition is empty.
func (w *world) ended() bool {
	for _, p := range w.parts {
		if !p.v.Empty() {
			return false
		}
	}
	return true
}
