package visit

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func drawCounters(t *rapid.T) Counters {
	n := rapid.Uint64()
	return Counters{Seen: n.Draw(t, "seen"), Delivered: n.Draw(t, "delivered"), Failed: n.Draw(t, "failed"), Gone: n.Draw(t, "gone")}
}

// drawNames draws found names, nil for none.
func drawNames(t *rapid.T) []string {
	names := rapid.SliceOfN(rapid.StringMatching(`/[a-z]{0,3}`), 0, 3).Draw(t, "found")
	if len(names) == 0 {
		return nil
	}
	return names
}

func TestStoredRowsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := record{
			pass:      rapid.Uint64().Draw(t, "pass"),
			start:     rapid.Int64().Draw(t, "start"),
			anchor:    rapid.Int64().Draw(t, "anchor"),
			watermark: rapid.OneOf(rapid.Int64(), rapid.Just(int64(noWatermark))).Draw(t, "watermark"),
			final:     rapid.Bool().Draw(t, "final"),
			counters:  drawCounters(t),
			previous:  rapid.Int64().Draw(t, "previous"),
			rested:    rapid.Int64().Draw(t, "rested"),
			running:   rapid.Bool().Draw(t, "running"),
			found:     drawNames(t),
		}
		if id := rapid.Uint64Range(0, 3).Draw(t, "run"); id > 0 {
			rec.run = Run{ID: id, Period: time.Duration(rapid.Int64Range(0, int64(longest)).Draw(t, "period"))}
		}
		if got, err := decodeRecord(encodeRecord(rec)); err != nil || !reflect.DeepEqual(got, rec) {
			t.Fatalf("record %+v came back as %+v, %v", rec, got, err)
		}
		ranges := Union(rapid.SliceOfN(rapid.Custom(drawRange), 1, 5).Draw(t, "ranges")...)
		if row := encodeIntervals(ranges); row != nil {
			if got, err := decodeIntervals(row); err != nil || !reflect.DeepEqual(got, ranges) {
				t.Fatalf("intervals %v came back as %v, %v", ranges, got, err)
			}
		}
		s := []Summary{{Pass: rec.pass, Start: rec.start, End: rec.anchor, Final: rec.final, Counters: rec.counters}, {Pass: 7}}
		if got, err := decodeSummaries(encodeSummaries(s)); err != nil || !reflect.DeepEqual(got, s) {
			t.Fatalf("summaries %v came back as %v, %v", s, got, err)
		}
	})
}

// TestBrokenRowsAreErrors cuts and lengthens good rows: none may decode.
func TestBrokenRowsAreErrors(t *testing.T) {
	decodes := map[string]func([]byte) error{
		"record":    func(b []byte) error { _, err := decodeRecord(b); return err },
		"run":       func(b []byte) error { _, err := decodeRecord(b); return err },
		"intervals": func(b []byte) error { _, err := decodeIntervals(b); return err },
		"summaries": func(b []byte) error { _, err := decodeSummaries(b); return err },
	}
	rows := map[string][]byte{
		"record":    encodeRecord(record{pass: 300, watermark: 5, final: true}),
		"run":       encodeRecord(record{pass: 300, previous: 1, run: Run{ID: 7, Period: 1000}, running: true, found: []string{"/a", "/bc"}, rested: 9}),
		"intervals": encodeIntervals([]Range{HashRange(1, 2), {At(key(5, "abc")), Bound{End: true}}}),
		"summaries": encodeSummaries([]Summary{{Pass: 1}, {Pass: 2, Final: true}}),
	}
	for name, row := range rows {
		decode := decodes[name]
		if err := decode(row); err != nil {
			t.Errorf("%s: a good row: %v", name, err)
		}
		for n := range row {
			if decode(row[:n]) == nil {
				t.Errorf("%s: the first %d of %d bytes decode", name, n, len(row))
			}
		}
		if decode(append(bytes.Clone(row), 0)) == nil {
			t.Errorf("%s: a row with a byte too many decodes", name)
		}
		row[0]++
		if decode(row) == nil {
			t.Errorf("%s: a row of another version decodes", name)
		}
	}
	for name, list := range map[string][]Range{
		"empty":        {HashRange(5, 5)},
		"overlapping":  {HashRange(1, 5), HashRange(4, 6)},
		"out of order": {HashRange(4, 6), HashRange(1, 2)},
	} {
		if _, err := decodeIntervals(encodeIntervals(list)); err == nil {
			t.Errorf("%s intervals decode", name)
		}
	}
}

// FuzzNew opens a Visitor on arbitrary stored rows: it never panics, and what
// it makes of them can be stored and read back.
func FuzzNew(f *testing.F) {
	f.Add(encodeRecord(record{pass: 3, final: true}), encodeSummaries([]Summary{{Pass: 2}}), encodeIntervals([]Range{HashRange(1, 60)}))
	f.Add([]byte{1}, []byte(nil), []byte{1, 255, 255, 255, 255, 15})
	f.Add([]byte(nil), []byte{}, encodeIntervals([]Range{{At(key(5, "a")), Bound{End: true}}}))
	f.Fuzz(func(t *testing.T, rec, summaries, bucket []byte) {
		r := &rig{st: Stored{Record: rec, Summaries: summaries, Buckets: map[int][]byte{0: bucket, 7: bucket}}}
		r.cfg, r.params = std()
		r.start()
		r.sync()
		before := r.v.Coverage()
		r.crash()
		if after := r.v.Coverage(); after != before || len(r.v.Warnings()) > 0 {
			t.Errorf("%s came back as %s with %v", before, after, r.v.Warnings())
		}
	})
}
