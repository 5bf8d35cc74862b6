package partition

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// listening is a machine with one input, which partition 1 produces.
func listening(now visit.Instant) *Machine {
	return New(Config{
		Job:     &store.Job{Partition: store.Partition{ID: 2, Generation: 1}},
		Inputs:  []Input{{Stream: "in", Producers: []store.PartitionID{1}}},
		Outputs: []Output{{Stream: "out", Parents: []string{"in"}}},
		Params:  DefaultParams(),
	}, now)
}

// says is a report of the input's producer.
func saying(g store.Generation, watermark int64, state store.StreamState) *store.Report {
	return &store.Report{Partition: 1, Generation: g, Streams: []store.StreamReport{{Stream: "in", Watermark: watermark, MaxEvent: store.NoTime, State: state}}}
}

// settleDown works off what is ready; epochs take what they are offered.
func settleDown(m *Machine, now visit.Instant) (r Ready) {
	for range 10 {
		r = m.Ready(now)
		m.Accept(now, r)
		if r.ReadInbox != nil {
			m.Step(now, InboxRead{End: true})
		}
		if r.Epoch != nil {
			m.Step(now, Processed{Messages: r.Epoch.Inputs(), MaxEvents: []int64{store.NoTime}})
			m.Accept(now, m.Ready(now))
			m.Step(now, Committed{})
		}
	}
	return r
}

// TestAFormerStopIsOver: a producer was drained when the pipeline stopped before. Its
// next job says that it works, and a new stop waits for it again (D-21).
func TestAFormerStopIsOver(t *testing.T) {
	now := visit.Instant{}
	m := listening(now)
	m.Step(now, ReportsRead{Reports: []store.Report{*saying(3, 5, store.Drained)}})
	settleDown(m, now)
	m.Step(now, Handover{Report: saying(4, 5, store.Active)})
	settleDown(m, now)
	if state := m.outputs[0].report.State; state != store.Active {
		t.Errorf("the output is told as %v, though the producer works", state)
	}
	m.Step(now, Draining{})
	if settleDown(m, now).Drained {
		t.Error("it is drained, and its producer works")
	}
	m.Step(now, Handover{Report: saying(3, 5, store.Drained)}) // an old one changes nothing
	if settleDown(m, now).Drained {
		t.Error("it is drained by what a former job said, and its producer works")
	}
	m.Step(now, Handover{Report: saying(4, 5, store.Drained)})
	if !settleDown(m, now).Drained {
		t.Error("it is not drained")
	}
}

// TestReportsThatWaitAreBounded: a partition that takes nothing, since its output is full,
// hears the reports of its producers for hours.
func TestReportsThatWaitAreBounded(t *testing.T) {
	now := visit.Instant{}
	m := listening(now)
	m.params.HoldBytes, m.inbox.limit = 10, 10
	settleDown(m, now)
	row := func(n uint64) *store.InboxRow {
		return &store.InboxRow{InboxKey: store.InboxKey{Target: 2, Producer: 1, Generation: 1, Number: n}, Previous: n - 1, Count: 1, MinEvent: int64(n), Payload: make([]byte, 10)}
	}
	m.Step(now, Blocked{Outputs: []bool{true}})
	const hours = 10_000
	for n := uint64(1); n <= hours; n++ {
		now.Mono += time.Second
		r := saying(1, int64(n), store.Active)
		r.LastRows = []store.LastRow{{Target: 2, Number: n}}
		m.Step(now, Handover{Row: row(n), Report: r})
	}
	if n := len(m.reports.pending); n > 200 {
		t.Errorf("%d reports wait", n)
	}
	// They still tell how far what is read has come.
	m.Step(now, Blocked{Outputs: []bool{false}})
	told := map[int64]bool{}
	for next := uint64(1); next <= hours; {
		r := m.Ready(now)
		m.Accept(now, r)
		if r.ReadInbox != nil {
			m.Step(now, InboxRead{Rows: []store.InboxRow{*row(next)}, End: next == hours})
			next++
		}
		if r.Epoch != nil {
			m.Step(now, Processed{Messages: r.Epoch.Inputs(), MaxEvents: []int64{store.NoTime}})
			m.Accept(now, m.Ready(now))
			m.Step(now, Committed{})
		}
		if w := m.inputs[0].watermark; w > int64(next) {
			t.Fatalf("the watermark is %d, and row %d is not read", w, next)
		} else {
			told[w] = true
		}
	}
	settleDown(m, now)
	if w := m.inputs[0].watermark; w != hours {
		t.Errorf("the watermark is %d at the end", w)
	}
	if len(told) < 20 {
		t.Errorf("the watermark had %d values", len(told))
	}
}
