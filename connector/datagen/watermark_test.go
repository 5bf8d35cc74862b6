package datagen

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
)

// TestWatermarksAreTheTimesOfTheNextRow: the least of them where there are several, and
// none without a column of times.
func TestWatermarksAreTheTimesOfTheNextRow(t *testing.T) {
	const start = 1704067200 // 2024-01-01
	for _, columns := range [][]string{{"k string", "at timestamp"}, {"k string", "at string"}, {"k string", "at uint64"}, {"k string", "at timestamp", "later datetime"}} {
		src := mustSource(t, `count=100; partitions=2; columns={at={kind=timestamp; step="2s"}}`, columns...)
		if !src.(connector.Watermarked).Watermarked() {
			t.Fatalf("%v: no watermarks", columns)
		}
		r := open(t, src, "1")
		for done := 7; done <= 49; done += 7 {
			b, err := r.Read(t.Context(), connector.Limit{Rows: 7, Bytes: 1 << 20})
			if err != nil || len(b.Rows) != 7 {
				t.Fatal(len(b.Rows), err)
			}
			step := time.Duration(2)
			if len(columns) == 3 {
				step = 1 // that of later
			}
			if want := flow.Time(start*time.Second + step*time.Duration(1+2*done)*time.Second); b.Watermark != want {
				t.Errorf("%v: after %d rows the watermark is %s, want %s", columns, done, b.Watermark, want)
			}
		}
	}
	if mustSource(t, "count=1", "k string").(connector.Watermarked).Watermarked() {
		t.Error("a source without times has watermarks")
	}
}
