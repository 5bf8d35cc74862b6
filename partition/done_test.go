package partition

import (
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// TestCompletedPartitionsHaveSaidSo: the read that brings the end of the inbox is
// answered while an epoch is open that began before. The partition is completed by
// a later epoch, whose report says so, or its consumers would wait for ever.
func TestCompletedPartitionsHaveSaidSo(t *testing.T) {
	now := visit.Instant{}
	m := New(Config{
		Job:     &store.Job{Partition: store.Partition{ID: 2, Generation: 1}},
		Inputs:  []Input{{Stream: "in", Producers: []store.PartitionID{1}}},
		Outputs: []Output{{Stream: "out", Parents: []string{"in"}}},
		Params:  DefaultParams(),
	}, now)
	m.Step(now, ReportsRead{Reports: []store.Report{{
		Partition: 1, Generation: 1,
		Streams: []store.StreamReport{{Stream: "in", Watermark: 5, MaxEvent: 5, State: store.Finished}},
	}}})
	for range 5 {
		r := m.Ready(now)
		m.Accept(now, r)
		if r.ReadInbox != nil {
			m.Step(now, InboxRead{End: true})
		}
		if r.Epoch == nil {
			t.Fatal("there is nothing to do, and the partition is not completed")
		}
		m.Step(now, Processed{MaxEvents: []int64{store.NoTime}})
		c := m.Ready(now)
		m.Accept(now, c)
		m.Step(now, Committed{})
		if c.Commit.Done {
			if c.Commit.Report == nil || c.Commit.Report.Streams[0].State != store.Finished {
				t.Errorf("it is completed, and its report is %+v", c.Commit.Report)
			}
			return
		}
	}
	t.Error("it is not completed")
}
