package pebblestore_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

const (
	benchKeys       = 100_000
	benchPartitions = 16
	benchEpoch      = 1000 // states of a commit, keys of a read
)

// benchStore is a store on disk with benchKeys keys of one state, spread evenly
// over the partitions as hashes are, each written several times.
type benchStore struct {
	*pebblestore.Store
	b     *testing.B
	parts []store.Partition
	// keys of each partition, ordered.
	keys [][]string
}

func openBench(b *testing.B, o pebblestore.Options) *benchStore {
	b.Helper()
	s, err := pebblestore.Open(b.TempDir(), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	w := &benchStore{Store: s, b: b, keys: make([][]string, benchPartitions)}
	ctx := context.Background()
	new := make([]store.Partition, benchPartitions)
	for i := range new {
		new[i] = store.Partition{Computation: "c", Kind: store.RangePartition, Open: true}
	}
	made, err := s.CreatePartitions(ctx, new)
	w.check(err)
	for _, p := range made {
		job, err := s.RaiseGeneration(ctx, p.ID)
		w.check(err)
		w.parts = append(w.parts, job.Partition)
	}
	for i := range uint64(benchKeys) {
		hash := i * 0x9E3779B97F4A7C15
		key := binary.BigEndian.AppendUint64([]byte{3}, hash)
		key = fmt.Appendf(key, "\x06origin-%05d\x00\x01", i)
		p := hash >> 60
		w.keys[p] = append(w.keys[p], string(key))
	}
	for p := range w.keys {
		slices.Sort(w.keys[p])
	}
	return w
}

func (w *benchStore) check(err error) {
	w.b.Helper()
	if err != nil {
		w.b.Fatal(err)
	}
}

// fill writes every key once, and then as many again as the flights of an hour.
func (w *benchStore) fill() {
	rnd := rand.New(rand.NewPCG(1, 1))
	for p, keys := range w.keys {
		for chunk := range slices.Chunk(keys, benchEpoch) {
			w.check(w.Commit(context.Background(), w.commit(p, chunk)))
		}
	}
	for range 500 {
		p := rnd.IntN(benchPartitions)
		w.check(w.Commit(context.Background(), w.commit(p, w.pick(rnd, p))))
	}
}

// pick draws the keys of an epoch, in the order of their arrival.
func (w *benchStore) pick(rnd *rand.Rand, p int) []string {
	out := make([]string, benchEpoch)
	for i := range out {
		out[i] = w.keys[p][rnd.IntN(len(w.keys[p]))]
	}
	return out
}

// commit writes a state of 60 bytes for each key.
func (w *benchStore) commit(p int, keys []string) *store.Commit {
	q := w.parts[p]
	c := &store.Commit{Partition: q.ID, Generation: q.Generation, Computation: q.Computation}
	value := make([]byte, 60)
	for _, k := range keys {
		c.States = append(c.States, store.StateWrite{Key: k, Name: "/state", Value: value})
	}
	return c
}

// perKey reports the time for one of the n keys or messages of an operation.
func perKey(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/key")
}

func BenchmarkGet(b *testing.B) {
	w := openBench(b, pebblestore.Options{NoSync: true})
	w.fill()
	rnd := rand.New(rand.NewPCG(2, 2))
	for _, sorted := range []bool{true, false} {
		b.Run(fmt.Sprintf("1000keys/sorted=%v", sorted), func(b *testing.B) {
			sets := make([][]string, 32)
			for i := range sets {
				sets[i] = w.pick(rnd, i%benchPartitions)
				if sorted {
					slices.Sort(sets[i])
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				got, err := w.GetStates(context.Background(), "c", sets[i%len(sets)])
				if err != nil || len(got[0]) != 1 {
					b.Fatal(err, got)
				}
			}
			perKey(b, benchEpoch)
		})
	}
	b.Run("1key", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			keys := w.keys[i%benchPartitions]
			if _, err := w.GetStates(context.Background(), "c", keys[i%1000:i%1000+1]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkList(b *testing.B) {
	w := openBench(b, pebblestore.Options{NoSync: true})
	w.fill()
	for _, bounded := range []bool{false, true} {
		b.Run(fmt.Sprintf("1000rows/work=%v", bounded), func(b *testing.B) {
			r := store.ListRequest{Computation: "c", MaxRows: benchEpoch}
			if bounded {
				r.MaxWork = 10 * benchEpoch
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r.Lower = w.keys[i%benchPartitions][i%1000]
				a, err := w.ListStates(context.Background(), r)
				if err != nil || a.Rows != benchEpoch {
					b.Fatal(err, a)
				}
			}
			perKey(b, benchEpoch)
		})
	}
}

// BenchmarkCommit commits epochs of 1000 states, in order of their keys, from as
// many partitions at once as given.
func BenchmarkCommit(b *testing.B) {
	for _, noSync := range []bool{true, false} {
		for _, partitions := range []int{1, benchPartitions} {
			b.Run(fmt.Sprintf("1000states/sync=%v/partitions=%d", !noSync, partitions), func(b *testing.B) {
				w := openBench(b, pebblestore.Options{NoSync: noSync})
				w.fill()
				b.ReportAllocs()
				b.ResetTimer()
				w.together(partitions, b.N, func(rnd *rand.Rand, p int) *store.Commit {
					keys := w.pick(rnd, p)
					slices.Sort(keys)
					return w.commit(p, keys)
				})
				perKey(b, benchEpoch)
			})
		}
	}
}

// together runs n commits from the given number of partitions.
func (w *benchStore) together(partitions, n int, commit func(rnd *rand.Rand, p int) *store.Commit) {
	var workers sync.WaitGroup
	for p := range partitions {
		workers.Add(1)
		go func() {
			defer workers.Done()
			rnd := rand.New(rand.NewPCG(3, uint64(p)))
			for i := p; i < n; i += partitions {
				if err := w.Commit(context.Background(), commit(rnd, p)); err != nil {
					w.b.Error(err)
					return
				}
			}
		}()
	}
	workers.Wait()
}

// BenchmarkExchange lets every partition read its inbox, take all of it, and
// write one row of 64 messages for each partition, in one durable commit.
func BenchmarkExchange(b *testing.B) {
	w := openBench(b, pebblestore.Options{})
	after := make([]map[store.Lane]store.Place, benchPartitions)
	numbers := make([]uint64, benchPartitions)
	for p := range after {
		after[p] = map[store.Lane]store.Place{}
	}
	payload := make([]byte, 64*100)
	b.ReportAllocs()
	b.ResetTimer()
	w.together(benchPartitions, b.N, func(_ *rand.Rand, p int) *store.Commit {
		c := w.commit(p, nil)
		w.takeAll(c, after[p])
		for _, target := range w.parts {
			numbers[p]++
			c.Produced = append(c.Produced, store.InboxRow{
				InboxKey: store.InboxKey{Target: target.ID, Layout: 1, Producer: c.Partition, Generation: c.Generation, Number: numbers[p]},
				Count:    64, Payload: payload,
			})
		}
		return c
	})
	perKey(b, benchPartitions*64)
}

// takeAll takes what waits for the commit's partition beyond its positions.
func (w *benchStore) takeAll(c *store.Commit, after map[store.Lane]store.Place) {
	r := store.InboxRequest{Target: c.Partition}
	for lane, place := range after {
		r.After = append(r.After, store.LanePlace{Lane: lane, Place: place})
	}
	a, err := w.ReadInbox(context.Background(), r)
	if err != nil {
		w.b.Error(err)
		return
	}
	for _, row := range a.Rows {
		after[row.Lane()] = row.Place()
		c.Taken = append(c.Taken, store.InboxTake{Key: row.InboxKey, To: row.Count, Remove: true})
	}
}
