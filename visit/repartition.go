package visit

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Piece is a partition's range with what is stored of a visit stream there.
type Piece struct {
	Range  Range
	Stored Stored
}

// Repartition clips what old partitions stored to the ranges of the partitions
// that replace them, so that neither a split nor a merge nor another bucket
// count repeats or loses a key (KV-14). It returns what to store for each new
// range, and warnings about rows that could not be decoded and count as not
// covered.
//
// Summaries go with the replaced partitions (KV-16), but the numbers of passes go
// on, also from a partition that had completed. A new range that overlaps
// several old ones takes the larger pass number, the earlier start and the
// smaller watermark, and is final only if all of them were (KV-15). Counters of
// an old partition go to the new one that holds its first key.
func Repartition(old []Piece, ranges []Range, buckets int) ([]Stored, []string) {
	var warnings []string
	passes := make([]oldPass, 0, len(old))
	for _, piece := range old {
		p, problems := decodePiece(piece)
		passes = append(passes, p)
		warnings = append(warnings, problems...)
	}
	out := make([]Stored, len(ranges))
	for i, r := range ranges {
		out[i] = clip(passes, r, buckets)
	}
	return out, warnings
}

// oldPass is a decoded Piece.
type oldPass struct {
	rng     Range
	rec     record
	known   bool   // it has a record
	last    uint64 // the last pass that it completed
	covered []Range
}

func decodePiece(piece Piece) (oldPass, []string) {
	p := oldPass{rng: piece.Range}
	var warnings []string
	note := func(what string, err error) {
		if err != nil {
			warnings = append(warnings, fmt.Sprintf(
				"range %s: the stored %s cannot be decoded (%v) and is left out: keys may be visited again", piece.Range, what, err))
		}
	}
	rec, err := decodeRow(piece.Stored.Record, decodeRecord)
	note("pass record", err)
	p.rec, p.known = rec, err == nil && piece.Stored.Record != nil
	past, err := decodeRow(piece.Stored.Summaries, decodeSummaries)
	note("pass summaries", err)
	if n := len(past); n > 0 {
		p.last = past[n-1].Pass
	}
	for _, i := range slices.Sorted(maps.Keys(piece.Stored.Buckets)) {
		list, err := decodeRow(piece.Stored.Buckets[i], decodeIntervals)
		note(fmt.Sprintf("coverage of bucket %d", i), err)
		if err == nil {
			p.covered = append(p.covered, list...)
		}
	}
	return p, warnings
}

// clip makes what is stored of range r.
func clip(old []oldPass, r Range, buckets int) Stored {
	c := newCoverage(r, buckets)
	var records []record
	blank := false
	for _, p := range old {
		if p.rng.Intersect(r).Empty() {
			continue
		}
		for _, covered := range p.covered {
			c.mark(covered.Intersect(p.rng), committed)
		}
		rec := p.rec
		if r.Lower.Compare(p.rng.Lower) > 0 {
			rec.counters = Counters{}
		}
		switch {
		case p.known:
			records = append(records, rec)
		case p.last > 0: // it counts from when it starts
			records = append(records, record{pass: p.last + 1, anchor: math.MaxInt64, watermark: noWatermark})
		}
		blank = blank || !p.known
	}
	st := Stored{Buckets: map[int][]byte{}}
	for i := range c.buckets {
		if row := encodeIntervals(c.buckets[i].durable()); row != nil {
			st.Buckets[i] = row
		}
	}
	if len(records) > 0 {
		st.Record = encodeRecord(mergeRecords(records, blank))
	}
	return st
}

// mergeRecords merges at least one record. If a partition had none, it has
// neither begun a final pass, announced a watermark nor obeyed a command.
func mergeRecords(records []record, blank bool) record {
	out := records[0]
	for _, r := range records[1:] {
		out = out.merge(r)
	}
	if blank {
		out.final, out.watermark = false, noWatermark
		out.run, out.running = Run{}, false
	}
	return out
}

// merge unites the records of two passes over parts of a range (KV-16).
func (r record) merge(o record) record {
	run, running := mergeRuns(r, o)
	return record{
		pass:      max(r.pass, o.pass),
		start:     earlier(r.start, o.start),
		anchor:    min(r.anchor, o.anchor),
		rested:    max(r.rested, o.rested),
		previous:  earlier(r.previous, o.previous),
		watermark: min(r.watermark, o.watermark),
		final:     r.final && o.final,
		counters:  r.counters.plus(o.counters),
		run:       run,
		running:   running,
		found:     slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.found, o.found)))),
	}
}

// mergeRuns keeps the earlier command of two, so that one that only one of the
// parts has obeyed is obeyed by the whole, and the pace of its pass as long as
// one part is in it (KV-49).
func mergeRuns(r, o record) (Run, bool) {
	switch {
	case r.run.ID < o.run.ID:
		return r.run, r.running
	case r.run.ID > o.run.ID:
		return o.run, o.running
	}
	return r.run, r.running || o.running
}

// earlier returns the smaller of two stamps; 0 stands for none.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
