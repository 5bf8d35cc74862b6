package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rondo-flow/rondo/console"
)

type visitsListCommand struct {
	placeFlags
	Watch  bool   `help:"Go on showing them until Ctrl-C or until the pipeline ends: bars on a terminal, lines elsewhere."`
	Output string `enum:"text,json" default:"text" placeholder:"FORM" help:"Print a table (text, default) or one JSON object (json), whose fields are named as the metrics."`
}

// Help is shown below the usage.
func (visitsListCommand) Help() string {
	return `Of each visit stream: its pass, how far it is in all partitions together, and the time it is expected to take yet; how far the scan is behind its schedule; the visits that wait; the target pace in visits per second, the achieved one, and their ratio; the keys of this pass whose visit failed, and those that were gone by then; and what is wrong. A number that is not known yet is "-".` + placeHelp + `

Examples:
  rondo visits examples/flights/pipeline.yson
  rondo visits rondo-data/flights --watch
  rondo visits --data rondo-data/flights --output json`
}

// Run lists the visit streams.
func (c *visitsListCommand) Run(io *streams) error {
	return c.with(io, func(ctx context.Context, r *reached) error {
		if c.Watch {
			return c.watch(ctx, r, io)
		}
		v, err := r.Visits(ctx)
		if err != nil {
			return err
		}
		return c.print(io.out, v)
	})
}

func (c *visitsListCommand) print(out io.Writer, v *console.Visits) error {
	if c.Output == "json" {
		return json.NewEncoder(out).Encode(v)
	}
	if len(v.Streams) == 0 {
		_, err := fmt.Fprintf(out, "pipeline %s has no visit streams\n", v.Pipeline)
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STREAM\tSTATE\tPASS\tDONE\tLEFT\tLAG\tREADY\tTARGET/S\tVISITS/S\tPACE\tFAILED\tGONE")
	for i := range v.Streams {
		fmt.Fprintln(t, strings.Join(row(&v.Streams[i]), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range v.Streams {
		if _, err := io.WriteString(out, problemLines(v.Streams[i].Problems)); err != nil {
			return err
		}
	}
	return nil
}

// row is a visit stream's line in the table.
func row(v *console.VisitStream) []string {
	v = aimed(v)
	return []string{
		streamName(v), v.State, passText(v), percent(&v.Progress), shortDuration(v.Left), shortDuration(&v.Lag),
		count(v.Ready), perSecond(v.Offered), perSecond(v.Processed), percent(v.Pace),
		digits(int64(v.Failed)), digits(int64(v.Gone)),
	}
}

// aimed leaves out what a stream aims at if it is disabled: it aims at nothing.
func aimed(v *console.VisitStream) *console.VisitStream {
	if v.State != "disabled" {
		return v
	}
	still := *v
	still.Left, still.Offered, still.Pace = nil, nil, nil
	return &still
}

func passText(v *console.VisitStream) string {
	text := strconv.FormatUint(v.Pass, 10)
	switch {
	case v.State == "completed":
		return "-"
	case v.Final:
		text += " final"
	case v.RunNow:
		text += " run-now"
	}
	return text
}

// The forms of numbers that may be unknown.

func percent(f *float64) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100**f)
}

func perSecond(f *float64) string {
	switch {
	case f == nil:
		return "-"
	case *f < 10:
		return strconv.FormatFloat(*f, 'g', 2, 64)
	default:
		return digits(int64(*f))
	}
}

func count(n *int) string {
	if n == nil {
		return "-"
	}
	return digits(int64(*n))
}

func shortDuration(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	d := time.Duration(*seconds * float64(time.Second))
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// problemLines are the lines of a status tree.
func problemLines(all []console.Problem) string {
	var b strings.Builder
	for _, p := range all {
		mark := "!"
		if p.Warning {
			mark = "?"
		}
		fmt.Fprintf(&b, "%s %s: %s\n", mark, p.Path, strings.ReplaceAll(p.Message, "\n", "\n  "))
	}
	return b.String()
}
