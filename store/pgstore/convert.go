package pgstore

import (
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// texts turns names into what the server stores.
func texts[T any](items []T, of func(*T) string) [][]byte {
	out := make([][]byte, len(items))
	for i := range items {
		out[i] = []byte(of(&items[i]))
	}
	return out
}

// numbers turns numbers of any kind into a column of them.
func numbers[T any, N int64 | int32 | int16 | bool](items []T, of func(*T) N) []N {
	out := make([]N, len(items))
	for i := range items {
		out[i] = of(&items[i])
	}
	return out
}

// some returns bytes that are not null.
func some(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// told is a number that is not null.
func told[N ~uint64](n N) *int64 {
	signed := int64(n)
	return &signed
}

func uintOf(n *int64) uint64 {
	if n == nil {
		return 0
	}
	return uint64(*n)
}

func partitionOf(p *pgsql.Partition) store.Partition {
	out := store.Partition{
		ID: store.PartitionID(p.ID), Computation: string(p.Computation), Kind: store.Kind(p.Kind), Name: string(p.Name),
		Lower: uint64(p.Lower), Upper: uint64(p.Upper), Open: p.Open, Layout: uint64(p.Layout),
		State: store.PartitionState(p.State), Generation: store.Generation(p.Generation), Worker: p.Worker,
	}
	for i, c := range p.RoutingComputations {
		out.Routing = append(out.Routing, store.Route{Computation: string(c), Layout: uint64(p.RoutingLayouts[i])})
	}
	return out
}

func partitionParams(p *store.Partition) *pgsql.InsertPartitionParams {
	return &pgsql.InsertPartitionParams{
		ID: int64(p.ID), Computation: []byte(p.Computation), Kind: int16(p.Kind), State: int16(p.State), Name: []byte(p.Name),
		Lower: int64(p.Lower), Upper: int64(p.Upper), Open: p.Open, Layout: int64(p.Layout),
		RoutingComputations: texts(p.Routing, func(r *store.Route) string { return r.Computation }),
		RoutingLayouts:      layoutsOf(p.Routing),
	}
}

func layoutsOf(routes []store.Route) []int64 {
	return numbers(routes, func(r *store.Route) int64 { return int64(r.Layout) })
}

// reportOf returns the report in a head, nil if there is none.
func reportOf(h *pgsql.Head) *store.Report {
	if h.ReportGeneration == nil {
		return nil
	}
	r := &store.Report{
		Partition: store.PartitionID(h.Partition), Generation: store.Generation(uintOf(h.ReportGeneration)),
		Computation: string(h.ReportComputation), Layout: uintOf(h.ReportLayout),
	}
	for i, name := range h.ReportStreams {
		r.Streams = append(r.Streams, store.StreamReport{
			Stream: string(name), Watermark: h.ReportWatermarks[i], MaxEvent: h.ReportMaxEvents[i], State: store.StreamState(h.ReportStates[i]),
		})
	}
	for i, target := range h.ReportTargets {
		r.LastRows = append(r.LastRows, store.LastRow{Target: store.PartitionID(target), Number: uint64(h.ReportNumbers[i])})
	}
	return r
}

func setReport(to *pgsql.RecordEpochParams, r *store.Report) {
	to.ReportGeneration, to.ReportLayout, to.ReportComputation = told(r.Generation), told(r.Layout), []byte(r.Computation)
	to.ReportStreams = texts(r.Streams, func(s *store.StreamReport) string { return s.Stream })
	to.ReportWatermarks = numbers(r.Streams, func(s *store.StreamReport) int64 { return s.Watermark })
	to.ReportMaxEvents = numbers(r.Streams, func(s *store.StreamReport) int64 { return s.MaxEvent })
	to.ReportStates = numbers(r.Streams, func(s *store.StreamReport) int16 { return int16(s.State) })
	to.ReportTargets = numbers(r.LastRows, func(l *store.LastRow) int64 { return int64(l.Target) })
	to.ReportNumbers = numbers(r.LastRows, func(l *store.LastRow) int64 { return int64(l.Number) })
}

// totalsOf returns the counters in a head, zero if there are none.
func totalsOf(h *pgsql.Head) store.Totals {
	t := store.Totals{
		Epochs: uintOf(h.Epochs), Messages: uintOf(h.Messages), Timers: uintOf(h.Timers), Visits: uintOf(h.Visits), Passes: uintOf(h.Passes),
	}
	for i, name := range h.CountNames {
		t.Counts = append(t.Counts, store.Count{Name: string(name), Value: h.CountValues[i]})
	}
	return t
}

func setTotals(to *pgsql.RecordEpochParams, t *store.Totals) {
	to.Epochs, to.Messages, to.Timers, to.Visits, to.Passes = told(t.Epochs), told(t.Messages), told(t.Timers), told(t.Visits), told(t.Passes)
	to.CountNames = texts(t.Counts, func(c *store.Count) string { return c.Name })
	to.CountValues = numbers(t.Counts, func(c *store.Count) int64 { return c.Value })
}

func inboxRowOf(r *pgsql.Inbox) store.InboxRow {
	return store.InboxRow{
		InboxKey: store.InboxKey{
			Target: store.PartitionID(r.Target), Layout: uint64(r.Layout), Producer: store.PartitionID(r.Producer),
			Generation: store.Generation(r.Generation), Number: uint64(r.Number),
		},
		Previous: uint64(r.Previous), Count: int(r.Count), Consumed: int(r.Consumed), MinEvent: r.MinEvent, Payload: r.Payload,
	}
}
