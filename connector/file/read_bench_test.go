package file

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flowtest"
)

var flightColumns = []string{"date string required", "delay int64 required", "origin string required", "destination string required"}

// flights is a text of n lines such as those of the example, with a field that
// no column has.
func flights(n int) []byte {
	airports := [...]string{"DTW", "LAS", "HNL", "SFO", "OAK", "PHX"}
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"date":"2001/01/%02d %02d:%02d","delay":%d,"distance":%d,"origin":"%s","destination":"%s"}`+"\n",
			i%28+1, i%24, i%60, i%90-10, 200+i%2000, airports[i%6], airports[i%5])
	}
	return b.Bytes()
}

// BenchmarkRead reads a file of 100 000 rows, in batches of 1000.
func BenchmarkRead(b *testing.B) {
	const rows = 100000
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "flights.jsonl"), flights(rows), 0o666); err != nil {
		b.Fatal(err)
	}
	src, err := NewSource(connector.Setup{
		Parameters: parameters(b, `{path="flights.jsonl"; finite=%true}`), Schema: flowtest.Schema(b, flightColumns...), SpecDir: dir,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for range b.N {
		r, err := src.Open(context.Background(), "flights.jsonl", nil)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for end := false; !end; {
			batch, err := r.Read(context.Background(), connector.Limit{Rows: 1000, Bytes: 1 << 20})
			if err != nil {
				b.Fatal(err)
			}
			n, end = n+len(batch.Rows), batch.End
		}
		if n != rows {
			b.Fatalf("%d rows", n)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
