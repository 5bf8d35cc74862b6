package visit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// stateLetters print the states of intervals in order.
const stateLetters = "pBTC"

// String prints the coverage of all buckets on one line, such as
// "[0,30)C [30,50)p | [50,100)p": p pending, B buffered, T taken in the open
// epoch, C committed.
func (c *coverage) String() string {
	var b strings.Builder
	for i := range c.buckets {
		if i > 0 {
			b.WriteString(" | ")
		}
		for j, p := range c.buckets[i].parts {
			if j > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(p.Range.String())
			b.WriteByte(stateLetters[p.state])
		}
	}
	return b.String()
}

// Coverage prints the running pass: its number, whether it is final, and the
// state of every interval. It is meant for logs and tests.
func (v *Visitor) Coverage() string {
	s := fmt.Sprintf("pass %d", v.pass.pass)
	if v.pass.final {
		s += " final"
	}
	if v.pass.running {
		s += " run-now"
	}
	return s + ": " + v.cover.String()
}

// String prints the call on one line.
func (l List) String() string {
	return fmt.Sprintf("list %d.%d %s rows<=%d bytes<=%d", l.Token.Generation, l.Token.Seq, l.Range, l.MaxRows, l.MaxBytes)
}

// String prints the visit without its rows.
func (v Visit) String() string {
	s := fmt.Sprintf("visit %s pass=%d list=%d.%d event=%s", v.Key, v.Pass, v.List, v.Index, shortTime(v.Event))
	if v.Event != v.System {
		s += " system=" + shortTime(v.System)
	}
	if v.Final {
		s += " final"
	}
	if v.Stale {
		s += " stale"
	}
	return s
}

// shortTime prints a wall time near the epoch, as tests use, as a duration.
func shortTime(wall int64) string { return time.Duration(wall).String() }

// String prints the counters.
func (c Counters) String() string {
	return fmt.Sprintf("seen=%d delivered=%d failed=%d gone=%d", c.Seen, c.Delivered, c.Failed, c.Gone)
}

// String prints the summary on one line.
func (s Summary) String() string {
	final := ""
	if s.Final {
		final = " final"
	}
	return fmt.Sprintf("pass %d%s took %s: %s", s.Pass, final, time.Duration(s.End-s.Start), s.Counters)
}

// String prints the number, or "unknown".
func (r Rate) String() string {
	if !r.Known {
		return "unknown"
	}
	return strconv.FormatFloat(r.Value, 'g', 5, 64)
}

// String prints the rows that a transaction writes, decoded, one per line.
func (d Delta) String() string {
	var lines []string
	if d.Remove {
		lines = append(lines, "remove everything but summaries")
	}
	if d.Record != nil {
		lines = append(lines, "record "+describeRow(d.Record, decodeRecord))
	}
	if d.Summaries != nil {
		lines = append(lines, "summaries "+describeRow(d.Summaries, decodeSummaries))
	}
	for _, row := range d.Buckets {
		what := "nothing"
		if row.Value != nil {
			what = describeRow(row.Value, decodeIntervals)
		}
		lines = append(lines, fmt.Sprintf("bucket %d: %s", row.Index, what))
	}
	if lines == nil {
		return "nothing"
	}
	return strings.Join(lines, "\n")
}

// describeRow prints a stored row.
func describeRow[T any](row []byte, decode func([]byte) (T, error)) string {
	value, err := decode(row)
	if err != nil {
		return "broken: " + err.Error()
	}
	return fmt.Sprint(value)
}

// String prints what is stored of the pass.
func (r record) String() string {
	s := fmt.Sprintf("pass=%d", r.pass)
	if r.final {
		s += " final"
	}
	s += fmt.Sprintf(" start=%s anchor=%s", shortTime(r.start), shortTime(r.anchor))
	if r.rested != 0 {
		s += " rested=" + shortTime(r.rested)
	}
	if r.previous != 0 {
		s += " previous=" + shortTime(r.previous)
	}
	if r.watermark != noWatermark {
		s += " watermark=" + shortTime(r.watermark)
	}
	if r.run.ID != 0 {
		s += " run=" + r.run.String()
	}
	if r.running {
		s += " running"
	}
	if len(r.found) > 0 {
		s += fmt.Sprintf(" found=%s", r.found)
	}
	return s + " " + r.counters.String()
}

// String prints the command's number and its pace.
func (r Run) String() string {
	if r.Period == 0 {
		return fmt.Sprintf("%d at full pace", r.ID)
	}
	return fmt.Sprintf("%d in %s", r.ID, r.Period)
}

// String prints the status on several lines.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s pass %d", s.Stream, s.Range, s.Pass)
	for _, flag := range []struct {
		on   bool
		name string
	}{{s.Final, "final"}, {s.Running, "run-now"}, {s.Empty, "empty"}, {s.Suspended, "suspended"}, {!s.Enabled, "disabled"}, {s.CatchUp, "catching up"}} {
		if flag.on {
			b.WriteString(", " + flag.name)
		}
	}
	left := "unknown"
	if s.LeftKnown {
		left = s.Left.Round(time.Millisecond).String()
	}
	fmt.Fprintf(&b, "\nprogress %.1f%% scanned %.1f%% lag %s left %s age<=%s\n", 100*s.Progress, 100*s.Scanned, s.Lag, left, s.MaxAge)
	fmt.Fprintf(&b, "ready %d (%d bytes) offered/s %s processed/s %s pace %s\n", s.Ready, s.ReadyBytes, s.Offered, s.Processed, s.Pace)
	b.WriteString(s.Counters.String())
	for _, p := range slices.Concat(s.Problems, s.Warnings()) {
		b.WriteString("\n" + p.Path + ": " + p.Message)
	}
	return b.String()
}
