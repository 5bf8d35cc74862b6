package datagen

import (
	"testing"

	"github.com/rondo-flow/rondo/connector"
)

func BenchmarkRead(b *testing.B) {
	for name, c := range map[string]struct {
		params  string
		columns []string
	}{
		"key":          {"", []string{"k uint64"}},
		"zipf":         {"keys={count=1000000; distribution=zipf}", []string{"k uint64"}},
		"with payload": {"", []string{"k uint64", "at timestamp", "n int64", "s string"}},
		"text key":     {"", []string{"k string", "s string"}},
	} {
		b.Run(name, func(b *testing.B) {
			r := open(b, mustSource(b, c.params, c.columns...), "0")
			b.ReportAllocs()
			for n := 0; n < b.N; {
				batch, err := r.Read(b.Context(), connector.Limit{Rows: 1000, Bytes: 1 << 20})
				if err != nil {
					b.Fatal(err)
				}
				n += len(batch.Rows)
			}
		})
	}
}
