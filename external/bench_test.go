package external

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

var passRows = flag.Int("pass.rows", 200_000, "rows of the tables in BenchmarkPass, such as 10000000")

// BenchmarkPass makes passes over a table as visitors do, in many slices of many
// buckets. It tells how often a pass reads the table, which is at most 1.2 times
// (KV-51), and what is in memory behind it, whatever the size of the table:
//
//	go test ./external -run '^$' -bench Pass -pass.rows 10000000 -benchtime 2x -timeout 1h
func BenchmarkPass(b *testing.B) {
	for _, format := range formats {
		b.Run(format[1:], func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "table"+format)
			writeWide(b, path, *passRows)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			r := newRig(b, path, "", "")
			var scans []*Scan
			for range testPartitions {
				scans = append(scans, r.scan())
			}
			rng := rand.New(rand.NewPCG(1, 1))
			sweep(b, r, scans, rng) // builds the index of a text
			before, heap := r.joiner.Status().BytesRead, uint64(0)
			b.ResetTimer()
			for range b.N {
				if n := sweep(b, r, scans, rng); n != *passRows {
					b.Fatalf("%d rows", n)
				}
				heap = max(heap, heapInUse())
			}
			b.StopTimer()
			read := float64(r.joiner.Status().BytesRead-before) / float64(b.N)
			b.ReportMetric(read/float64(info.Size()), "tables/pass")
			b.ReportMetric(float64(heap)/(1<<20), "MiB-heap")
			b.ReportMetric(float64(*passRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
