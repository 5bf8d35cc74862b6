package visit

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestUniteEqualsASet draws answers of up to three sources and compares the
// visits to the plain union of the keys that are certainly complete.
func TestUniteEqualsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := List{Range: HashRange(0, 9), MaxRows: rapid.IntRange(1, 12).Draw(t, "cap")}
		answers := make([]Answer, rapid.IntRange(1, 3).Draw(t, "sources"))
		for i := range answers {
			answers[i] = drawAnswer(t, l)
		}
		c, err := cutAnswers(l, answers)
		if err != nil {
			t.Fatal(err)
		}
		if c.covered.Lower != l.Range.Lower || c.tail.Upper != l.Range.Upper || c.covered.Upper != c.tail.Lower {
			t.Fatalf("covered %s and tail %s are not the slice", c.covered, c.tail)
		}
		entries, parts := unite(answers, c.covered.Upper)
		var got, expected []string
		for _, e := range entries {
			for _, p := range parts[e.first : e.first+e.count] {
				got = append(got, fmt.Sprint(e.key, p.Source, p.Rows))
			}
		}
		for _, k := range everyKey() {
			for i, a := range answers {
				n := slices.IndexFunc(a.Keys, func(f Found) bool { return f.Key == k })
				if n >= 0 && c.covered.Contains(k) {
					expected = append(expected, fmt.Sprint(k, i, a.Keys[n].Rows))
				}
			}
		}
		if !slices.Equal(got, expected) {
			t.Fatalf("got %v, want %v", got, expected)
		}
		for i, a := range answers {
			if n := len(a.Keys); a.Rows >= l.MaxRows && c.covered.Contains(a.Keys[n-1].Key) {
				t.Fatalf("source %d was capped in key %s, which counts as complete", i, a.Keys[n-1].Key)
			}
			if a.CompleteTo != nil && a.CompleteTo.Compare(c.covered.Upper) < 0 {
				t.Fatalf("source %d is complete to %s only, the cut is %s", i, *a.CompleteTo, c.covered.Upper)
			}
		}
	})
}

// drawAnswer draws an answer that keeps the contract.
func drawAnswer(t *rapid.T, l List) Answer {
	var a Answer
	for _, k := range everyKey() {
		if rows := rapid.IntRange(-2, 3).Draw(t, "rows"); rows > 0 && a.Rows < l.MaxRows {
			rows = min(rows, l.MaxRows-a.Rows)
			a.Rows += rows
			a.Keys = append(a.Keys, Found{Key: k, Rows: rows})
		}
	}
	if rapid.Bool().Draw(t, "cut short") {
		to := At(rapid.SampledFrom(everyKey()).Draw(t, "to"))
		a.CompleteTo = &to
	}
	return a
}
