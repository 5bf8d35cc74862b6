package external

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rondo-flow/rondo/schema"
)

// bucketsOf are the slices of a pass: partitions × buckets, each in pieces.
const (
	testPartitions = 3
	testBuckets    = 8
	testPieces     = 50
)

// sweep makes a pass as visitors do: partitions take turns, and so do the buckets
// of each. Every list is cut short once, as other sources do. It returns the rows.
func sweep(t testing.TB, r *rig, scans []*Scan, rng *rand.Rand) (rows int) {
	t.Helper()
	const parts = testPartitions * testBuckets
	width := ^uint64(0)/parts + 1
	for piece := range uint64(testPieces) {
		for b := range testBuckets {
			for p := range testPartitions {
				from := uint64(p*testBuckets+b) * width
				lower, upper := string(schema.AppendHash(nil, from+width/testPieces*piece)), string(schema.AppendHash(nil, from+width/testPieces*(piece+1)))
				if piece == testPieces-1 {
					upper = string(schema.AppendHash(nil, from+width))
					if p*testBuckets+b == parts-1 {
						upper = ""
					}
				}
				rows += slice(t, r, scans[p], Slice{Bucket: b, Lower: lower, Upper: upper, MaxRows: 10_000, MaxBytes: 16 << 20}, rng)
			}
		}
	}
	return rows
}

// slice lists a slice, the second half of it again.
func slice(t testing.TB, r *rig, s *Scan, sl Slice, rng *rand.Rand) int {
	t.Helper()
	a, err := s.List(context.Background(), sl)
	if err != nil || a.CompleteTo != "" {
		t.Fatal(err, a.CompleteTo)
	}
	if len(a.Entries) < 2 {
		return len(a.Entries)
	}
	cut := rng.IntN(len(a.Entries))
	sl.Lower = a.Entries[cut].Key
	again, err := s.List(context.Background(), sl)
	if err != nil || len(again.Entries) != len(a.Entries)-cut {
		t.Fatalf("%d rows again, want %d: %v", len(again.Entries), len(a.Entries)-cut, err)
	}
	return len(a.Entries)
}

// TestAPassReadsTheTableAboutOnce measures the bytes of passes over small and large
// tables (KV-51).
func TestAPassReadsTheTableAboutOnce(t *testing.T) {
	for _, format := range formats {
		for _, n := range []int{10, 3000, 400_000} {
			t.Run(fmt.Sprintf("%d rows in %s", n, format), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "table"+format)
				writeWide(t, path, n)
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				r := newRig(t, path, "", "")
				var scans []*Scan
				for range testPartitions {
					scans = append(scans, r.scan())
				}
				rng := rand.New(rand.NewPCG(1, uint64(n)))
				for pass, most := range []float64{1.2, 1.2} {
					if pass == 0 && format != ".parquet" {
						most = 2.2
					}
					before := r.joiner.Status().BytesRead
					if got := sweep(t, r, scans, rng); got != n {
						t.Fatalf("pass %d: %d rows of %d", pass, got, n)
					}
					read := r.joiner.Status().BytesRead - before
					ratio := float64(read) / float64(info.Size())
					t.Logf("pass %d: %d bytes of %d, %.3f times", pass, read, info.Size(), ratio)
					if ratio > most {
						t.Errorf("pass %d: %.3f times the table, at most %.1f", pass, ratio, most)
					}
				}
				if held := heapInUse(); held > 160<<20 {
					t.Errorf("%d MiB in use", held>>20)
				}
			})
		}
	}
}

// TestManyScansShareWhatIsKept lists a table by as many partitions and buckets as
// there may be, each to its end.
func TestManyScansShareWhatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	writeTable(t, path, numbered(20_000))
	r := newRig(t, path, "", "")
	var scans []*Scan
	for range 100 {
		scans = append(scans, r.scan())
	}
	kept := 0
	for _, s := range scans {
		listAll(t, s)
		for _, p := range s.buckets {
			kept += p.bytes
		}
	}
	if kept > maxAhead {
		t.Errorf("%d bytes are kept, at most %d", kept, maxAhead)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// writeWide writes rows with texts that do not compress.
func writeWide(t testing.TB, path string, n int) {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in.csv")
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(f, "name,a,b,c")
	for i := range n {
		fmt.Fprintf(f, "k%d,%x,%x,%d\n", i, rng.Uint64(), rng.Uint64(), rng.Uint32())
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Sort(context.Background(), SortOptions{In: in, Out: path, Key: "hash=farm_hash(name),name", Memory: 64 << 20}); err != nil {
		t.Fatal(err)
	}
}
