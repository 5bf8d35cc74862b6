package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Problem is something in a running pipeline that deserves a look.
type Problem struct {
	// Path says where: a path in the tree of computations, partitions and visit
	// streams, such as
	// /computations/routes/partitions/3/key_visitor/sweep/background_fill.
	Path string
	// Message says what is wrong and what to do.
	Message string
	// Warning: nothing fails because of it.
	Warning bool
}

// Problems returns what is wrong in a running pipeline, ordered by path; nothing
// before Run.
func (p *Pipeline) Problems() (out []Problem) {
	env := p.environment()
	if env == nil {
		return nil
	}
	now, stranded := env.clock.mono(), env.stranded()
	for _, n := range p.plan.nodes {
		at := "/computations/" + n.id
		if why := stranded[n.id]; why != "" {
			out = append(out, Problem{Path: at + "/assignment", Message: why})
		}
		if why := env.waitsFor(n); why != "" {
			out = append(out, Problem{at + "/repartition", why, true})
		}
		for _, b := range env.boardsOf(n) {
			s := b.read(now)
			out = append(out, s.problems(partitionPath(at, s.ID))...)
		}
		out = append(out, n.tableProblems(at)...)
		for i := range n.visitors {
			v, _ := env.visitStream(n, i)
			for _, w := range v.Warnings() {
				out = append(out, Problem{at + w.Path, w.Message, true})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// ByPath returns what is wrong with a visit stream, as [Pipeline.Problems] does.
func (v *VisitStream) ByPath() (out []Problem) {
	at := "/computations/" + v.Computation
	for _, part := range v.Parts {
		for _, p := range part.Problems {
			out = append(out, Problem{partitionPath(at, part.Partition) + p.Path, p.Message, isWarning(p)})
		}
	}
	for _, w := range v.Warnings() {
		out = append(out, Problem{at + w.Path, w.Message, true})
	}
	return out
}

func partitionPath(at string, id store.PartitionID) string {
	return fmt.Sprintf("%s/partitions/%d", at, id)
}

// problems of one partition, which is at a path.
func (s *PartitionStatus) problems(at string) (out []Problem) {
	if s.Error != "" {
		out = append(out, Problem{Path: at + "/job", Message: fmt.Sprintf("%s (%s, %s)", s.Error, s.tried(), s.Phase)})
	}
	if s.Busy != "" {
		out = append(out, Problem{at + "/handler", fmt.Sprintf("the handler has worked on key %s for %s", s.Busy, s.BusyFor.Truncate(time.Second)), true})
	}
	for _, stream := range s.Stalled {
		out = append(out, Problem{at + "/idle_partitions_watermark_stall", fmt.Sprintf("the watermark of %s stands still: more of its partitions are idle than max_ratio of idle_partitions allows, and not all", stream), true})
	}
	if s.Ahead {
		out = append(out, Problem{at + "/watermark_alignment", "it is at " + flow.Time(s.Source).String() + " and waits for others of its group, which are behind by more than drift_bound", true})
	}
	if s.Early {
		out = append(out, Problem{at + "/read_delays", "it has rows up to " + flow.Time(s.Batch).String() + " and waits until the streams of read_delays have come so far, less their delays", true})
	}
	for _, f := range s.Failed {
		out = append(out, Problem{at + f.Path, f.Message, true})
	}
	for _, v := range s.Visitors {
		for _, p := range v.Problems {
			out = append(out, Problem{at + p.Path, p.Message, isWarning(p)})
		}
	}
	return out
}

// tried says how often the partition's job was started again.
func (s *PartitionStatus) tried() string {
	out := fmt.Sprintf("failed %d times in this run", s.Restarts)
	if s.Conflicts > 0 {
		out += fmt.Sprintf(", %d conflicts", s.Conflicts)
	}
	return out
}

// isWarning tells problems that somebody wanted so.
func isWarning(p visit.Problem) bool { return strings.HasSuffix(p.Path, "/disabled") }
