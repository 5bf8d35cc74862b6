package partition

import (
	"fmt"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// ready accepts what the machine is ready to do, and prints it.
func (s *script) ready() {
	r := s.machine.Ready(s.now)
	if again := s.machine.Ready(s.now); fmt.Sprint(again.Epoch != nil, again.Lists) != fmt.Sprint(r.Epoch != nil, r.Lists) {
		s.t.Error("asking twice gives two answers")
	}
	s.machine.Accept(s.now, r)
	s.lists = append(s.lists, r.Lists...)
	if r.ReadInbox != nil {
		s.printf("read the inbox after %s\n", places(r.ReadInbox.After))
	}
	for _, t := range r.ReadTimers {
		s.printf("read timers%s\n", beyond(t.Request.After))
	}
	for _, t := range r.SurveyTimers {
		s.printf("survey timers%s\n", beyond(t.Request.After))
	}
	if r.ReadSource != nil {
		s.printf("read the source\n")
	}
	for _, l := range r.Lists {
		s.printf("list %s\n", l.List.Range)
	}
	if r.Epoch != nil {
		s.printEpoch(r.Epoch)
	}
	if r.Commit != nil {
		s.printCommit(r.Commit)
	}
	if r.Finished {
		s.printf("finished\n")
	}
	if r.Drained {
		s.printf("drained\n")
	}
	if s.out.Len() == 0 {
		s.printf("wait%s\n", s.wake(r))
	}
}

func (s *script) printf(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

func (s *script) wake(r Ready) string {
	if !r.Wake {
		return ""
	}
	return fmt.Sprintf(" %s", (r.WakeAt - s.now.Mono).Round(time.Millisecond))
}

func beyond(p store.TimerPlace) string {
	if p == store.TimersFront {
		return ""
	}
	return fmt.Sprintf(" beyond %d", p.Trigger)
}

func places(after []store.LanePlace) string {
	if len(after) == 0 {
		return "nothing"
	}
	out := ""
	for _, a := range after {
		out += fmt.Sprintf("%d:%d.%d ", a.Lane.Producer, a.Place.Generation, a.Place.Number)
	}
	return out[:len(out)-1]
}

func (s *script) printEpoch(e *Epoch) {
	s.printf("epoch %d:", e.Number)
	if e.empty() {
		s.printf(" nothing to process")
	}
	for _, span := range e.Messages {
		s.printf(" row %d.%d[%d,%d)", span.Row.Producer, span.Row.Number, span.From, span.To)
	}
	if e.SourceRows > 0 {
		s.printf(" %d source rows", e.SourceRows)
	}
	for _, t := range e.Timers {
		s.printf(" timer %d", t.Trigger)
	}
	for _, vs := range e.Visits {
		for _, v := range vs.Visits {
			s.printf(" visit %d", v.Key.Hash)
			if v.Stale {
				s.printf(" (stale)")
			}
			if v.Final {
				s.printf(" (final)")
			}
		}
	}
	for i, w := range e.Watermarks {
		if w != store.NoTime {
			s.printf(", watermark of %s %d", s.cfg.Inputs[i].Stream, w)
		}
	}
	s.printf("\n")
}

func (s *script) printCommit(c *store.Commit) {
	s.printf("commit:")
	for _, t := range c.Taken {
		if t.Remove {
			s.printf(" remove %d.%d", t.Key.Producer, t.Key.Number)
		} else {
			s.printf(" trim %d.%d to %d", t.Key.Producer, t.Key.Number, t.To)
		}
	}
	for _, t := range c.TimersGone {
		s.printf(" unset %d", t.Trigger)
	}
	for _, t := range c.TimersSet {
		s.printf(" set %d", t.Trigger)
	}
	for _, p := range c.Produced {
		s.printf(" row %d after %d for %d", p.Number, p.Previous, p.Target)
	}
	if len(c.Visitors) > 0 {
		s.printf(" coverage")
	}
	if c.Report != nil {
		s.printf(" report")
		for _, o := range c.Report.Streams {
			s.printf(" %s %s%s", o.Stream, [...]string{"active", "drained", "finished"}[o.State], s.watermark(o.Watermark))
		}
	}
	if c.Done {
		s.printf(" done")
	}
	s.printf("\n")
}

// watermark prints small watermarks as they are and those of the clock relative
// to now.
func (s *script) watermark(w int64) string {
	switch {
	case w == store.NoTime:
		return ""
	case w > int64(time.Second):
		return fmt.Sprintf("@now%+d", (w-s.now.Wall)/int64(time.Millisecond))
	default:
		return fmt.Sprintf("@%d", w)
	}
}
