package visit

import (
	"testing"
	"time"
)

func TestPersistCases(t *testing.T) {
	t.Run("PER-01 a restart resumes without repeats", func(t *testing.T) {
		r := newRig(spaced(5, 80), buckets(4))
		r.drain(5, 5, tick50)
		r.crash()
		r.drain(11, 100, tick50)
		want(t, "visits", sortedHashes(r.visits), k16)
	})
	t.Run("PER-03 a finished final pass survives a restart", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil)
		r.signal()
		r.drain(16, 16, tick50)
		r.crash()
		want(t, "coverage", r.v.Coverage(), "pass 1 final: [1,100)C")
		want(t, "empty", r.v.Empty(), true)
		want(t, "visits", len(r.polls(5, tick50)), 0)
	})
	t.Run("PER-05 a resumed pass counts as swept", func(t *testing.T) {
		r := idle(HashRange(1, 100), 1)
		r.mark(10, 50, committed)
		r.sync()
		r.crash()
		want(t, "untouched", r.v.untouched(), false)
	})
	t.Run("PER-06 buffered visits that were not taken are read again", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		r.fill()
		want(t, "first", hashes(r.epoch(3)), "5 10 15")
		r.crash()
		want(t, "rest", hashes(r.drain(5, 100, tick50)), "20 25 30 35 40")
	})
	t.Run("PER-08 completion removes coverage, an interruption does not", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil)
		r.drain(5, 5, tick50)
		r.crash()
		want(t, "interrupted", r.v.Coverage(), "pass 1: [1,30:k)C [30:k,100)p")
		r.signal()
		r.polls(10, tick50)
		r.store(r.v.Retire())
		want(t, "completed", r.rows(), "")
	})
	t.Run("PER-09 one row per bucket holds its intervals", func(t *testing.T) {
		r := idle(HashRange(0, 100), 2)
		r.mark(0, 10, committed)
		r.mark(20, 60, committed)
		r.sync()
		want(t, "rows", r.rows(), "0:[[0,10) [20,50)] 1:[[50,60)]")
	})
	t.Run("a crash before the rotation is stored rotates again", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil)
		r.drain(8, 8, tick50)
		want(t, "rotated", r.v.Coverage(), "pass 2: [1,100)p")
		r.crash()
		want(t, "rotated again", r.v.Coverage(), "pass 2: [1,100)p")
		want(t, "summaries", len(r.v.Summaries()), 1)
		want(t, "counters", r.v.Summaries()[0].Counters, "seen=8 delivered=8 failed=0 gone=0")
	})
	t.Run("coverage without visits is stored within 5 s", func(t *testing.T) {
		r := newRig(nil, func(_ *Config, p *Params) { p.Period = time.Hour })
		r.sync()
		_, waits := r.v.StoreBy()
		want(t, "waits", waits, false)
		r.tick(time.Minute)
		r.fill()
		at, waits := r.v.StoreBy()
		want(t, "waits", waits, true)
		want(t, "until", at-r.now.Mono, 5*time.Second)
		r.sync()
		_, waits = r.v.StoreBy()
		want(t, "waits after the epoch", waits, false)
	})
	t.Run("a broken record keeps the coverage and is named", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil)
		r.drain(5, 5, tick50)
		r.st.Record = []byte{formatVersion + 1}
		r.crash()
		want(t, "coverage", r.v.Coverage(), "pass 1: [1,30:k)C [30:k,100)p")
		want(t, "warnings", r.v.Warnings(), "[visit stream sweep, range [1,100): the stored pass record cannot be decoded (format version is 2, this program knows 1) and is left out: keys may be visited again]")
	})
	t.Run("counters move with the commit that holds the visits", func(t *testing.T) {
		r := newRig(spaced(5, 40), nil).tokens()
		r.fill()
		r.v.EpochOpened(r.now)
		r.v.AcceptVisits(r.now, Outcome{Delivered: 3, Failed: 1, Gone: 2})
		r.v.Delta()
		want(t, "before", r.v.Status(r.now).Counters, "seen=0 delivered=0 failed=0 gone=0")
		r.commit()
		want(t, "after", r.v.Status(r.now).Counters, "seen=6 delivered=3 failed=1 gone=2")
		r.crash()
		want(t, "restored", r.v.Status(r.now).Counters, "seen=6 delivered=3 failed=1 gone=2")
	})
	t.Run("the last 16 summaries are kept", func(t *testing.T) {
		r := newRig(spaced(5, 5), nil)
		r.drain(20, 1, tick50)
		r.crash()
		s := r.v.Summaries()
		want(t, "kept", len(s), 16)
		want(t, "first", s[0].Pass, 5)
		want(t, "last", s[15].Pass, 20)
	})
}

func TestRebalanceCases(t *testing.T) {
	// piece stores one range with these committed intervals.
	piece := func(r Range, final bool, covered ...Range) Piece {
		rig := idle(r, 1)
		if final {
			rig.signal()
		}
		for _, c := range covered {
			rig.v.cover.mark(c, committed)
		}
		rig.v.pass.start = rig.now.Wall
		rig.v.EpochOpened(rig.now)
		rig.store(rig.v.Delta())
		return Piece{Range: r, Stored: rig.st}
	}
	// reopened shows what a partition makes of the result.
	reopened := func(t *testing.T, old []Piece, ranges []Range, i, buckets int) *rig {
		t.Helper()
		stored, warnings := Repartition(old, ranges, buckets)
		want(t, "warnings", warnings, "[]")
		r := idle(ranges[i], buckets)
		r.st = stored[i]
		r.start()
		return r
	}
	t.Run("REB-04 a merge keeps both coverages", func(t *testing.T) {
		old := []Piece{
			piece(HashRange(10, 100), false, HashRange(10, 60)),
			piece(HashRange(100, 200), false, HashRange(150, 200)),
		}
		r := reopened(t, old, []Range{HashRange(10, 200)}, 0, 2)
		want(t, "coverage", r.v.Coverage(), "pass 1: [10,60)C [60,105)p | [105,150)p [150,200)C")
	})
	t.Run("REB-05 a split in three keeps the middle", func(t *testing.T) {
		old := []Piece{piece(HashRange(10, 100), false, HashRange(10, 99))}
		thirds := []Range{HashRange(10, 40), HashRange(40, 70), HashRange(70, 100)}
		st, _ := Repartition(old, thirds, 1)
		want(t, "middle", describeRow(st[1].Buckets[0], decodeIntervals), "[[40,70)]")
		want(t, "last", describeRow(st[2].Buckets[0], decodeIntervals), "[[70,99)]")
		r := reopened(t, old, thirds, 1, 1)
		want(t, "rotates without a repeat", r.v.Coverage(), "pass 2: [40,70)p")
	})
	t.Run("REB-07 a final and an ordinary pass make an ordinary one", func(t *testing.T) {
		old := []Piece{
			piece(HashRange(10, 100), true, HashRange(10, 60)),
			piece(HashRange(100, 200), false, HashRange(150, 200)),
		}
		r := reopened(t, old, []Range{HashRange(10, 200)}, 0, 1)
		want(t, "final", r.v.Final(), false)
	})
	t.Run("a final mark survives a split", func(t *testing.T) {
		old := []Piece{piece(HashRange(10, 100), true, HashRange(10, 60))}
		for i := range 2 {
			r := reopened(t, old, []Range{HashRange(10, 50), HashRange(50, 100)}, i, 1)
			want(t, "final", r.v.Final(), true)
		}
	})
	t.Run("another bucket count neither repeats nor loses", func(t *testing.T) {
		r := newRig(spaced(5, 80), buckets(5))
		r.drain(7, 7, tick50)
		r.cfg.Buckets = 2
		r.crash()
		r.drain(9, 100, tick50)
		want(t, "visits", sortedHashes(r.visits), k16)
		r.sync()
		want(t, "rows of the former buckets", r.rows(), "")
	})
	t.Run("KV-16 a merge takes the larger pass, the earlier start and the smaller watermark", func(t *testing.T) {
		a := record{pass: 3, start: 500, anchor: 400, rested: 600, watermark: 90, counters: Counters{Seen: 1, Gone: 1}}
		b := record{pass: 5, start: 200, anchor: 450, watermark: 80, counters: Counters{Seen: 2, Failed: 2}}
		merged := record{pass: 5, start: 200, anchor: 400, rested: 600, watermark: 80, counters: Counters{Seen: 3, Failed: 2, Gone: 1}}
		want(t, "merged", a.merge(b), merged)
		want(t, "merged the other way", b.merge(a), merged)
		a.start, merged.start = 0, 200
		want(t, "without a start", a.merge(b), merged)
	})
	t.Run("counters go to the first part of a split and add up in a merge", func(t *testing.T) {
		r := newRig(spaced(5, 80), nil)
		r.drain(5, 5, tick50)
		halves := []Range{HashRange(1, 50), HashRange(50, 100)}
		st, _ := Repartition([]Piece{{r.cfg.Range, r.st}}, halves, 1)
		count := func(s Stored) uint64 { rec, _ := decodeRecord(s.Record); return rec.counters.Seen }
		want(t, "first", count(st[0]), 5)
		want(t, "second", count(st[1]), 0)
		back, _ := Repartition([]Piece{{halves[0], st[0]}, {halves[1], st[1]}}, []Range{r.cfg.Range}, 1)
		want(t, "merged", count(back[0]), 5)
		want(t, "coverage", describeRow(back[0].Buckets[0], decodeIntervals), "[[1,30:k)]")
	})
}
