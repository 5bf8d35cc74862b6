package visit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// restore takes over what is stored. A row that cannot be decoded counts as not
// there, with a warning: its keys are visited again, none is lost (KV-10). Rows
// may come from another number of buckets, or reach beyond the range.
func (v *Visitor) restore(st Stored, now Instant) {
	past, err := decodeRow(st.Summaries, decodeSummaries)
	v.warn("pass summaries", err)
	v.past = newest(past)
	v.saved.summaries = err == nil
	v.restoreBuckets(st.Buckets)

	rec, err := decodeRow(st.Record, decodeRecord)
	v.warn("pass record", err)
	v.saved.record = st.Record
	if st.Record == nil || err != nil {
		v.begin(now)
		return
	}
	rec.found = slices.DeleteFunc(rec.found, func(name string) bool { return !slices.Contains(v.cfg.Names, name) })
	v.pass = rec
	v.sched.resume(now, rec.anchor, cmp.Or(rec.rested, now.Wall))
	v.aged.resume(now, cmp.Or(rec.start, rec.anchor), now.Wall)
}

// begin starts the first pass there is a record of.
func (v *Visitor) begin(now Instant) {
	v.pass = record{pass: 1, watermark: noWatermark}
	if n := len(v.past); n > 0 {
		v.pass.pass = v.past[n-1].Pass + 1
	}
	v.count(now)
	if v.params.Enabled {
		v.changed(now)
	}
}

// restoreBuckets marks the stored intervals as committed.
func (v *Visitor) restoreBuckets(rows map[int][]byte) {
	v.saved.buckets = make([][]byte, len(v.cover.buckets))
	for _, i := range slices.Sorted(maps.Keys(rows)) {
		list, err := decodeRow(rows[i], decodeIntervals)
		v.warn(fmt.Sprintf("coverage of bucket %d", i), err)
		if err == nil {
			for _, r := range list {
				v.cover.mark(r, committed)
			}
		}
		if i >= 0 && i < len(v.saved.buckets) {
			v.saved.buckets[i] = rows[i]
		} else {
			v.saved.foreign = append(v.saved.foreign, i)
		}
	}
}

// decodeRow decodes a row that may be absent.
func decodeRow[T any](row []byte, decode func([]byte) (T, error)) (T, error) {
	if row == nil {
		var none T
		return none, nil
	}
	return decode(row)
}

// warn notes a row that could not be decoded.
func (v *Visitor) warn(what string, err error) {
	if err != nil {
		v.warnings = append(v.warnings, fmt.Sprintf(
			"visit stream %s, range %s: the stored %s cannot be decoded (%v) and is left out: keys may be visited again",
			v.cfg.Stream, v.cfg.Range, what, err))
	}
}
