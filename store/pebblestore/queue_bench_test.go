package pebblestore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

const benchValue = 100 // bytes of a queue row

// appendRows are the queue rows of an epoch, spread over the partitions of "q".
func appendRows(n, partitions int) []store.QueueAppend {
	value := make([]byte, benchValue)
	rows := make([]store.QueueAppend, n)
	for i := range rows {
		rows[i] = store.QueueAppend{Queue: "q", Partition: i % partitions, Time: int64(i), Value: value}
	}
	return rows
}

// BenchmarkAppend commits epochs of 1000 queue rows from as many partitions at
// once as given, to the same queue.
func BenchmarkAppend(b *testing.B) {
	for _, noSync := range []bool{true, false} {
		for _, partitions := range []int{1, benchPartitions} {
			for _, spread := range []int{1, 16} {
				name := fmt.Sprintf("1000rows/sync=%v/partitions=%d/queuePartitions=%d", !noSync, partitions, spread)
				b.Run(name, func(b *testing.B) {
					w := openBench(b, pebblestore.Options{NoSync: noSync})
					w.check(w.CreateQueue(context.Background(), "q", spread))
					rows := appendRows(benchEpoch, spread)
					b.ReportAllocs()
					b.ResetTimer()
					w.together(partitions, b.N, func(_ *rand.Rand, p int) *store.Commit {
						c := w.commit(p, nil)
						c.Appended = rows
						return c
					})
					perKey(b, benchEpoch)
				})
			}
		}
	}
}

// BenchmarkReadQueue reads pages of 1000 rows, and asks at the end, where a
// reader waits.
func BenchmarkReadQueue(b *testing.B) {
	w := openBench(b, pebblestore.Options{NoSync: true})
	const pages = 200
	w.check(w.CreateQueue(context.Background(), "q", 1))
	for range pages {
		w.check(w.PushQueue(context.Background(), appendRows(benchEpoch, 1)))
	}
	for name, from := range map[string]func(i int) uint64{
		"1000rows": func(i int) uint64 { return uint64(i % pages * benchEpoch) },
		"end":      func(int) uint64 { return pages * benchEpoch },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r := store.QueueRequest{Queue: "q", From: from(i), MaxRows: benchEpoch}
				if _, err := w.ReadQueue(context.Background(), r); err != nil {
					b.Fatal(err)
				}
			}
			perKey(b, benchEpoch)
		})
	}
}
