package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/console"
)

// summary is the JSON form of what a job came to. Numbers are of the whole job,
// but for rate and elapsed time, which are of this run.
type summary struct {
	Name      string           `json:"name"`
	Completed bool             `json:"completed"`
	Messages  uint64           `json:"messages"`
	Rate      float64          `json:"rate"` // messages per second
	Epochs    uint64           `json:"epochs"`
	Visits    uint64           `json:"visits"`
	Passes    uint64           `json:"passes"`
	Timers    *console.Timers  `json:"timers,omitempty"` // of a pipeline with timer streams
	Evictions int64            `json:"evictions"`
	Counts    map[string]int64 `json:"counts"` // all counters of functions
	Elapsed   float64          `json:"elapsed_seconds"`
}

// printSummary writes the summary in the form asked for, text or json.
func printSummary(out io.Writer, form, name string, s *outcome) error {
	if form == "json" {
		return json.NewEncoder(out).Encode(summary{
			Name: name, Completed: s.Completed, Messages: s.Messages, Rate: s.Rate,
			Epochs: s.Epochs, Visits: s.Visits, Passes: s.Passes, Timers: s.timers,
			Evictions: s.Counts[evictions], Counts: s.Counts, Elapsed: s.Elapsed.Seconds(),
		})
	}
	_, err := io.WriteString(out, summaryText(name, s))
	return err
}

// alreadyText is said of a pipeline that was completed before the run.
const alreadyText = "already completed before: nothing was done; rondo run --fresh starts over"

func summaryText(name string, s *outcome) string {
	var b strings.Builder
	row := func(label, value string) { fmt.Fprintf(&b, "  %-12s %12s\n", label, value) }
	if s.Completed {
		fmt.Fprintf(&b, "%s: completed\n", name)
	} else {
		fmt.Fprintf(&b, "%s: stopped, the same command goes on from here\n", name)
	}
	if s.Already {
		fmt.Fprintf(&b, "  %s\n", alreadyText)
	}
	row("messages", digits(int64(s.Messages)))
	row("rate", digits(int64(s.Rate))+"/s")
	row("epochs", digits(int64(s.Epochs)))
	row("visits", digits(int64(s.Visits)))
	row("passes", digits(int64(s.Passes)))
	if s.timers != nil {
		row("timers fired", digits(int64(s.timers.Fired)))
		row("timers left", pendingText(s.timers))
	}
	if n := s.Counts[evictions]; n != 0 {
		row(evictions, digits(n))
	}
	for _, count := range slices.Sorted(maps.Keys(s.Counts)) {
		if count != evictions {
			row(count, digits(s.Counts[count]))
		}
	}
	row("time", s.Elapsed.Round(time.Millisecond).String())
	return b.String()
}
