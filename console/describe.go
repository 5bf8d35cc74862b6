package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"github.com/rondo-flow/rondo/yson"
)

// StatusOf describes a pipeline by what its partitions tell.
func StatusOf(s engine.Status) *Status {
	out := &Status{
		Completed: s.Completed, Messages: s.Messages, Epochs: s.Epochs, Visits: s.Visits, Passes: s.Passes,
		Counts: s.Counts, Rate: s.Rate, Elapsed: s.Elapsed.Seconds(),
		Partitions: []Partition{}, Problems: []Problem{},
	}
	for i := range s.Partitions {
		p := &s.Partitions[i]
		out.Partitions = append(out.Partitions, Partition{
			ID: uint64(p.ID), Computation: p.Computation, Kind: kindName(p.Kind), Phase: string(p.Phase),
			Restarts: p.Restarts, Waiting: p.Waiting,
			Epochs: p.Totals.Epochs, Messages: p.Totals.Messages, Visits: p.Totals.Visits,
		})
		out.Problems = append(out.Problems, problemsOf(p)...)
	}
	slices.SortStableFunc(out.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Computation, b.Computation), cmp.Compare(a.Partition, b.Partition))
	})
	return out
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

// problemsOf is one partition's part of the status tree.
func problemsOf(p *engine.PartitionStatus) (all []Problem) {
	add := func(warning bool, path, format string, args ...any) {
		all = append(all, Problem{Path: path, Computation: p.Computation, Partition: uint64(p.ID), Message: fmt.Sprintf(format, args...), Warning: warning})
	}
	if p.Error != "" {
		add(false, "/job/failed", "%s, started again %d times: %s", p.Phase, p.Restarts, p.Error)
	}
	if p.BusyFor > 0 {
		add(true, "/job/busy", "key %s has been in its handler for %s", p.Busy, p.BusyFor.Round(time.Second))
	}
	for _, f := range p.Failed {
		add(false, f.Path, "%s", f.Message)
	}
	for _, v := range p.Visitors {
		for _, problem := range v.Problems {
			add(false, problem.Path, "%s", problem.Message)
		}
		for _, w := range v.Warnings() {
			add(true, w.Path, "%s", w.Message)
		}
	}
	return all
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
		Computation: v.Computation, Stream: v.Stream, State: stateName(&v.Status, running), Partitions: len(v.Parts),
		Pass: v.Pass, Final: v.Final, RunNow: v.Running, Progress: v.Progress,
		Lag: v.Lag.Seconds(), MaxAge: v.MaxAge.Seconds(),
		Seen: v.Seen, Delivered: v.Delivered, Failed: v.Failed, Gone: v.Gone,
		Problems: []Problem{},
	}
	for _, part := range v.Parts {
		for _, p := range part.Problems {
			out.Problems = append(out.Problems, Problem{Path: p.Path, Computation: v.Computation, Partition: uint64(part.Partition), Message: p.Message})
		}
	}
	for _, p := range v.Warnings() {
		out.Problems = append(out.Problems, Problem{Path: p.Path, Computation: v.Computation, Message: p.Message, Warning: true})
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

// Hint is the end of a message about a name that is none of the known ones.
func Hint(name string, known []string) string {
	switch near := yson.Suggest(name, known); {
	case near != "":
		return "did you mean " + near + "?"
	case len(known) == 0:
		return "there are none"
	default:
		return "there are " + strings.Join(known, ", ")
	}
}
