package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// publishEvery is how often a job shows its state while it works.
const publishEvery = 100 * time.Millisecond

// publish shows the job's state, at once or when it is time. A good epoch clears
// the error of a former job (D-24).
func (j *job) publish(now visit.Instant, atOnce bool) {
	if !atOnce && j.reported != 0 && now.Mono-j.reported < publishEvery {
		j.stale = true
		return
	}
	j.reported, j.stale = now.Mono, false
	status := j.machine.Status(now)
	j.orderAgain(now, &status)
	j.watchPasses(&status)
	failed := j.failures()
	good := false
	j.board.update(func(s *PartitionStatus) {
		j.board.shown = now.Mono
		s.Failed = failed
		before := s.progress()
		s.Status = status
		if good = s.progress() > before; good {
			s.Error = ""
		}
	})
	if good && j.board.setAway(false) {
		j.env.log.Info("the store answers again", "computation", j.node.id, "partition", j.stored.Partition.ID)
	}
}

// failures names the inputs that the function processor left out.
func (j *job) failures() (out []visit.Problem) {
	p, ok := j.proc.(interface{ leftOut() *failures })
	if !ok {
		return nil
	}
	for _, f := range p.leftOut().streams {
		out = append(out, visit.Problem{Path: f.path, Message: fmt.Sprintf("%d left out in this run, last: %s", f.count, f.last)})
	}
	return out
}

// Status describes a running pipeline.
type Status struct {
	// Summary counts what is committed, former runs included; Elapsed and Rate
	// are of this run.
	Summary
	Partitions []PartitionStatus
}

// Status returns what is known now; nothing before Run.
func (p *Pipeline) Status() Status {
	p.mu.Lock()
	env := p.env
	p.mu.Unlock()
	if env == nil {
		return Status{}
	}
	return env.status()
}

func (e *environment) status() Status {
	out := Status{Summary: Summary{Counts: map[string]int64{}, Completed: true}}
	now := e.clock.mono()
	for _, b := range e.allBoards() {
		s := b.read(now)
		out.Partitions = append(out.Partitions, s)
		out.add(s.Kind, s.Totals)
		out.Completed = out.Completed && s.Phase == Done
	}
	out.since(e.before, now)
	return out
}

// allBoards are the boards of all partitions, ordered by id.
func (e *environment) allBoards() []*board {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]*board, 0, len(e.boards))
	for _, id := range slices.Sorted(maps.Keys(e.boards)) {
		out = append(out, e.boards[id])
	}
	return out
}

func (e *environment) board(id store.PartitionID) *board {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.boards[id]
}

// post puts up the boards of new partitions, and takes down those of partitions
// that are no more.
func (e *environment) post(parts []store.Partition, totals []store.PartitionTotals) {
	e.mu.Lock()
	defer e.mu.Unlock()
	boards := map[store.PartitionID]*board{}
	for _, part := range parts {
		if b := e.boards[part.ID]; b != nil && (e.member == nil || b.part.State == part.State) {
			boards[part.ID] = b
		} else {
			boards[part.ID] = newBoard(part)
		}
	}
	for _, t := range totals {
		if b := boards[t.Partition]; b != nil { // else made since by another worker
			b.update(func(s *PartitionStatus) { s.Totals = t.Totals })
		}
	}
	e.boards, e.notes = boards, map[string]string{}
}

// note says what the repartition of a computation waits for, or that it no longer
// waits.
func (e *environment) note(n *node, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if why != "" && e.notes[n.id] != why {
		e.log.Info("a repartition waits", "computation", n.id, "reason", why)
	}
	e.notes[n.id] = why
}

func (e *environment) waitsFor(n *node) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.notes[n.id]
}
