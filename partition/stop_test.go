package partition

import (
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// TestAStopLeavesTheSourceRowsInHand: the end of the source was read, and rows before it
// were not taken when the pipeline stopped. The next job reads them again, so the source
// is not completed, whatever the order in which the two come.
func TestAStopLeavesTheSourceRowsInHand(t *testing.T) {
	now := visit.Instant{}
	m := New(Config{
		Job:     &store.Job{Partition: store.Partition{ID: 2, Generation: 1}},
		Source:  "rows",
		Outputs: []Output{{Stream: "out", Parents: []string{"rows"}}},
		Params:  DefaultParams(),
	}, now)
	r := m.Ready(now)
	m.Accept(now, r) // the first epoch tells of the job
	m.Step(now, SourceRead{Rows: 3, MaxEvent: 5, End: true})
	m.Step(now, Draining{})
	for range 5 {
		if r.Epoch != nil {
			m.Step(now, Processed{MaxEvents: []int64{store.NoTime}, SourceEvent: store.NoTime})
			c := m.Ready(now)
			m.Accept(now, c)
			if s := c.Commit.Report.Streams[0].State; c.Commit.Done || s == store.Finished {
				t.Fatalf("three rows of the source were not taken, and it is completed: state %v, done %t", s, c.Commit.Done)
			}
			m.Step(now, Committed{})
		}
		r = m.Ready(now)
		m.Accept(now, r)
		if r.Drained {
			return
		}
	}
	t.Error("it is not drained")
}
