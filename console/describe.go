package console

import (
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// StatusOf describes a pipeline by what its partitions tell, and what is wrong.
func StatusOf(s engine.Status, problems []engine.Problem) *Status {
	out := &Status{
		Completed: s.Completed, State: "stopped", Messages: s.Messages, Epochs: s.Epochs, Visits: s.Visits, Passes: s.Passes,
		Counts: s.Counts, Rate: s.Rate, Elapsed: s.Elapsed.Seconds(),
		Partitions: []Partition{}, Problems: problemsOf(problems),
	}
	if s.Completed {
		out.State = "completed"
	}
	for i := range s.Partitions {
		p := &s.Partitions[i]
		out.Partitions = append(out.Partitions, Partition{
			ID: uint64(p.ID), Computation: p.Computation, Kind: kindName(p.Kind), Phase: string(p.Phase),
			Restarts: p.Restarts, Conflicts: p.Conflicts, Waiting: p.Waiting,
			Epochs: p.Totals.Epochs, Messages: p.Totals.Messages, Visits: p.Totals.Visits,
		})
	}
	return out
}

// TablesOf describes the static tables of a pipeline.
func TablesOf(all []engine.JoinedTable) (out []Table) {
	for _, t := range all {
		out = append(out, Table{
			Computation: t.Computation, Joiner: t.Name, Path: t.Path, Rows: notBelow0(t.Rows),
			Listed: t.Listed, BytesRead: t.BytesRead, ReaderOpens: t.ReaderOpens, FailedReads: t.FailedReads,
			Replaced: t.Replaced, Unavailable: t.Unavailable != "", Doubtful: t.Doubtful,
		})
	}
	return out
}

func notBelow0(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

func kindName(k store.Kind) string {
	switch k {
	case store.SourcePartition:
		return "source"
	case store.SinkPartition:
		return "sink"
	default:
		return "range"
	}
}

func problemsOf(all []engine.Problem) []Problem {
	out := []Problem{}
	for _, p := range all {
		out = append(out, Problem(p))
	}
	return out
}

// TimersOf describes the timers that fired and those that are set; nil if there are
// no timer streams.
func TimersOf(fired uint64, p *engine.PendingTimers) *Timers {
	if p == nil {
		return nil
	}
	return &Timers{Fired: fired, Pending: p.Count, More: p.More}
}

// VisitsOf describes the visit streams of a pipeline at a moment, or of a stopped
// one, whose scan rests.
func VisitsOf(pipeline string, running bool, streams []engine.VisitStream, now time.Time) *Visits {
	out := &Visits{Pipeline: pipeline, Running: running, Streams: []VisitStream{}}
	for i := range streams {
		out.Streams = append(out.Streams, visitStream(&streams[i], running, now))
	}
	return out
}

func visitStream(v *engine.VisitStream, running bool, now time.Time) VisitStream {
	out := VisitStream{
		Computation: v.Computation, Stream: v.Stream, State: stateName(&v.Status, running), Partitions: v.Partitions,
		Pass: v.Pass, Final: v.Final, RunNow: v.Running, Progress: v.Progress,
		Lag: v.Lag.Seconds(), MaxAge: v.MaxAge.Seconds(),
		Seen: v.Seen, Delivered: v.Delivered, Failed: v.Failed, Gone: v.Gone,
		Problems: problemsOf(v.ByPath()),
	}
	if running {
		out.CatchUp = v.CatchUp
		out.Ready, out.ReadyBytes = &v.Ready, &v.ReadyBytes
		out.New, out.NewBytes = known(v.Offered), known(v.OfferedBytes)
		out.Offered, out.OfferedBytes = known(v.Offered), known(v.OfferedBytes)
		out.Processed, out.Pace = known(v.Processed), known(v.Pace)
	}
	if v.Watermark.Known && running {
		lag := max(0, now.Sub(time.Unix(0, v.Watermark.Value)).Seconds())
		out.EventLag = &lag
	}
	if v.LeftKnown && running {
		left := v.Left.Seconds()
		out.Left = &left
	}
	return out
}

func stateName(s *visit.Status, running bool) string {
	switch {
	case s.Empty:
		return "completed"
	case !s.Enabled:
		return "disabled"
	case !running:
		return "stopped"
	case s.Suspended:
		return "suspended"
	default:
		return "scanning"
	}
}

func known(r visit.Rate) *float64 {
	if !r.Known {
		return nil
	}
	return &r.Value
}

// PassesOf describes the passes that are remembered of a visit stream.
func PassesOf(computation, stream string, parts []engine.PartitionPasses) *Passes {
	out := &Passes{Computation: computation, Stream: stream, Partitions: []PartitionPasses{}}
	for _, p := range parts {
		part := PartitionPasses{Partition: uint64(p.Partition), Passes: []Pass{}}
		for _, s := range p.Passes {
			part.Passes = append(part.Passes, Pass{
				Pass: s.Pass, Final: s.Final, Start: time.Unix(0, s.Start).UTC(), End: time.Unix(0, s.End).UTC(),
				Seen: s.Seen, Delivered: s.Delivered, Failed: s.Failed, Gone: s.Gone,
			})
		}
		out.Partitions = append(out.Partitions, part)
	}
	return out
}
