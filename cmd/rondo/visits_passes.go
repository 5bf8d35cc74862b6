package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"
)

type visitsPassesCommand struct {
	streamFlags
	Output string `enum:"text,json" default:"text" placeholder:"FORM" help:"Print a table (text, default) or one JSON object (json)."`
}

// Help is shown below the usage.
func (visitsPassesCommand) Help() string {
	return `Each partition makes its passes by itself, and the last 16 of it are remembered. SEEN are the keys that the pass found; of each, the visit was DELIVERED or FAILED, or the key was GONE by then.` + placeHelp + `

Examples:
  rondo visits passes examples/flights/pipeline.yson routes/sweep
  rondo visits passes --data rondo-data/flights sweep --output json`
}

// Run lists the passes.
func (c *visitsPassesCommand) Run(io *streams) error {
	if err := c.shift(); err != nil {
		return err
	}
	return c.with(io, func(ctx context.Context, r *reached) error {
		v, err := c.find(ctx, r)
		if err != nil {
			return err
		}
		passes, err := r.Passes(ctx, v.Computation, v.Stream)
		if err != nil {
			return err
		}
		if c.Output == "json" {
			return json.NewEncoder(io.out).Encode(passes)
		}
		t := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "PARTITION\tPASS\tSTARTED\tTOOK\tSEEN\tDELIVERED\tFAILED\tGONE")
		for _, part := range passes.Partitions {
			for _, p := range part.Passes {
				final := ""
				if p.Final {
					final = " final"
				}
				fmt.Fprintf(t, "%d\t%d%s\t%s\t%s\t%d\t%d\t%d\t%d\n", part.Partition, p.Pass, final, p.Start.Format(time.DateTime),
					p.End.Sub(p.Start).Round(time.Millisecond), p.Seen, p.Delivered, p.Failed, p.Gone)
			}
		}
		return t.Flush()
	})
}
