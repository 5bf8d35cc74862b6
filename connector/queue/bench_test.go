package queue

import (
	"fmt"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/store"
)

// BenchmarkRead reads pages of 1000 rows of about 30 bytes.
func BenchmarkRead(b *testing.B) {
	s := newQueue(b, 1)
	const rows = 1000
	values := make([]string, rows)
	for i := range values {
		values[i] = fmt.Sprintf(`{"n":%d,"s":"some text"}`, i)
	}
	push(b, s, 0, values...)
	src := attached(b, s, `finite=%true;`)
	b.ReportAllocs()
	for b.Loop() {
		r, err := src.Open(b.Context(), "q/0", nil)
		if err != nil {
			b.Fatal(err)
		}
		batch, err := r.Read(b.Context(), connector.Limit{Rows: rows, Bytes: 1 << 20})
		if err != nil || len(batch.Rows) != rows {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkAppend turns messages into queue rows.
func BenchmarkAppend(b *testing.B) {
	for _, params := range []string{"", "partition_by=[carrier]"} {
		b.Run("params="+params, func(b *testing.B) {
			s := attachedSink(b, params)
			m := message(b, s, "flights", "DL", -3, 1.5, nil)
			var rows []store.QueueAppend
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if rows, err = s.Append(rows[:0], m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
