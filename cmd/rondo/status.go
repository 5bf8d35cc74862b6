package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
)

type statusCommand struct {
	placeFlags
	Output string `enum:"text,json" default:"text" placeholder:"FORM" help:"Print text (default) or one JSON object (json)."`
}

// Help is shown below the usage.
func (statusCommand) Help() string {
	return `First what the pipeline has done, then its partitions, then the status tree: a line for each thing that is wrong now, with the path where it shows. Lines that begin with ! are errors, those with ? deserve a look. The line goes when its cause does. Of a pipeline that does not run it is what was wrong when its last run ended, unless that was killed.` + placeHelp + `

Examples:
  rondo status examples/flights/pipeline.yson
  rondo status --data rondo-data/flights --output json`
}

// Run shows the status.
func (c *statusCommand) Run(io *streams) error {
	return c.with(io, func(ctx context.Context, r *reached) error {
		s, err := r.Status(ctx)
		if err != nil {
			return err
		}
		if c.Output == "json" {
			return json.NewEncoder(io.out).Encode(s)
		}
		return printStatus(io.out, s)
	})
}

// stateText is the state, and how long the pipeline has run.
func stateText(s *console.Status) string {
	running := fmt.Sprintf("running for %s", time.Duration(s.Elapsed*float64(time.Second)).Round(time.Second))
	switch {
	case s.Completed:
		return "completed"
	case len(s.Workers) > 0:
		return workersState(s.State, s.Workers)
	case s.State == string(engine.Running):
		return running
	case s.Running:
		return s.State + ", " + running
	default:
		return s.State
	}
}

// workersState tells how many workers run a pipeline or wait with it, and how many may.
func workersState(state string, workers []console.Worker) string {
	heard, least, most := 0, math.Inf(1), 0.0
	for i := range workers {
		if w := &workers[i]; w.Silent {
			least, most = min(least, w.Unseen), max(most, w.Unseen)
		} else {
			heard++
		}
	}
	text := workersDo(state) + pluralDigits(int64(heard), "worker")
	if heard < len(workers) {
		text += fmt.Sprintf(", %d more silent for %.0fs", len(workers)-heard, least)
		if math.Round(least) < math.Round(most) {
			text += fmt.Sprintf(" to %.0fs", most)
		}
	}
	return text
}

// workersDo is what workers do in a state, before their number.
func workersDo(state string) string {
	switch engine.State(state) {
	case engine.Running:
		return "running on "
	case engine.StatePaused, engine.StateStopped:
		return state + ", waiting on "
	default:
		return state + " on "
	}
}

// pendingText is how many timers are set.
func pendingText(t *console.Timers) string {
	if t.More {
		return "more than " + digits(int64(t.Pending))
	}
	return digits(int64(t.Pending))
}

// inFlightText is what a pipeline that does not run left in flight, behind a comma;
// nothing if that is nothing.
func inFlightText(s *console.Status) string {
	waiting := 0
	for _, p := range s.Partitions {
		waiting += p.Waiting
	}
	if s.Running || waiting == 0 {
		return ""
	}
	return fmt.Sprintf(", %s in flight", pluralDigits(int64(waiting), "message"))
}

func printStatus(out io.Writer, s *console.Status) error {
	fmt.Fprintf(out, "%s: %s, spec version %d\n", s.Pipeline, stateText(s), s.Version)
	fmt.Fprintf(out, "%s messages, %s epochs, %s visits, %s passes%s\n",
		digits(int64(s.Messages)), digits(int64(s.Epochs)), digits(int64(s.Visits)), digits(int64(s.Passes)), inFlightText(s))
	if s.Timers != nil {
		fmt.Fprintf(out, "%s timers fired, %s pending\n", digits(int64(s.Timers.Fired)), pendingText(s.Timers))
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PARTITION\tCOMPUTATION\tKIND\tSTATE\tEPOCHS\tMESSAGES\tVISITS\tRESTARTS\tCONFLICTS")
	for _, p := range s.Partitions {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\n", p.ID, p.Computation, p.Kind, p.Phase,
			digits(int64(p.Epochs)), digits(int64(p.Messages)), digits(int64(p.Visits)), p.Restarts, p.Conflicts)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := printWorkers(out, s.Workers); err != nil {
		return err
	}
	if err := printTables(out, s.Tables); err != nil {
		return err
	}
	text, live := problemLines(s.Problems), s.Running || len(s.Workers) > 0
	switch {
	case live && text == "":
		text = "nothing is wrong\n"
	case !live && text != "":
		text = "when its last run ended:\n" + text
	}
	_, err := io.WriteString(out, text)
	return err
}

// printWorkers shows the workers of a cluster, if it is one.
func printWorkers(out io.Writer, workers []console.Worker) error {
	if len(workers) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WORKER\tHOST\tGROUP\tPARTITIONS\tSILENT\tCONTROLLER")
	for i := range workers {
		w := &workers[i]
		leads := "-"
		if w.Controller {
			leads = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.1fs\t%s\n", visible(w.ID), visible(w.Host), cmp.Or(visible(w.Group), "-"), w.Partitions, w.Unseen, leads)
	}
	return t.Flush()
}

// printTables shows the static tables, if there are any.
func printTables(out io.Writer, tables []console.Table) error {
	if len(tables) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TABLE\tCOMPUTATION\tSTATE\tROWS\tLISTED\tREAD\tREPLACED\tFAILED")
	for i := range tables {
		j := &tables[i]
		rows := "-"
		if j.Rows != nil {
			rows = digits(*j.Rows)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", j.Joiner, j.Computation, tableState(j), rows,
			digits(j.Listed), digits(j.BytesRead), digits(j.Replaced), digits(j.FailedReads))
	}
	return t.Flush()
}

func tableState(t *console.Table) string {
	switch {
	case t.Unavailable:
		return "unavailable"
	case t.Doubtful:
		return "shrunk"
	case t.Rows == nil:
		return "not read"
	default:
		return "ok"
	}
}
