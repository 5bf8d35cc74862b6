package partition

import (
	"strconv"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// BenchmarkManyProducers hands rows of many producers over to one partition, with
// reports. A read names every producer; nothing else may look at all of them for
// a row of one.
func BenchmarkManyProducers(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			in := Input{Stream: "s"}
			for i := range n {
				in.Producers = append(in.Producers, store.PartitionID(i+2))
			}
			for b.Loop() {
				b.StopTimer()
				now := visit.Instant{}
				cfg := Config{Job: &store.Job{Partition: store.Partition{ID: 1, Generation: 1}}, Inputs: []Input{in}, Params: DefaultParams()}
				m := New(cfg, now)
				m.Accept(now, m.Ready(now))
				m.Step(now, InboxRead{End: true})
				b.StartTimer()
				for _, id := range in.Producers {
					row := store.InboxRow{
						InboxKey: store.InboxKey{Target: 1, Producer: id, Generation: 1, Number: 1}, Count: 1, MinEvent: int64(id),
					}
					m.Step(now, Handover{Row: &row, Report: &store.Report{
						Partition: id, Generation: 1, LastRows: []store.LastRow{{Target: 1, Number: 1}},
						Streams: []store.StreamReport{{Stream: "s", Watermark: int64(id), MaxEvent: int64(id)}},
					}})
					m.Accept(now, m.Ready(now))
					m.Step(now, InboxRead{Rows: []store.InboxRow{row}, End: true})
					r := m.Ready(now)
					m.Accept(now, r)
					m.Step(now, Processed{Messages: r.Epoch.Inputs(), SourceEvent: store.NoTime})
					m.Accept(now, m.Ready(now))
					m.Step(now, Committed{})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
	}
}
