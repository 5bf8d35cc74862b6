package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
)

type sinkPartsCommand struct {
	sharedFlag
	Output string `enum:"text,json" default:"text" placeholder:"FORM" help:"Print a table (text, default), or a JSON object for each part (json)."`
}

// Help is shown below the usage.
func (sinkPartsCommand) Help() string {
	return `Parts are listed in the order in which they were begun, with what is recorded of them. A file may be longer where a worker died, or was taken for dead, while it wrote: what lies beyond the recorded bytes is no output, and rondo sink cat leaves it out.

Example:
  rondo sink parts --store postgres://rondo@db/flows`
}

// partDescription is the JSON form of a part.
type partDescription struct {
	Sink  string `json:"sink"`
	Host  string `json:"host"`
	Path  string `json:"path"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// Run lists the parts.
func (c *sinkPartsCommand) Run(io *streams) error {
	parts, err := c.sinkParts(context.Background())
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(io.out, 0, 0, 2, ' ', 0)
	e := json.NewEncoder(io.out)
	e.SetEscapeHTML(false)
	for i := range parts {
		p := &parts[i]
		d := partDescription{p.sink, p.Host, p.In(p.Folder), p.Rows, p.Bytes}
		if c.Output == "json" {
			err = e.Encode(d)
		} else {
			_, err = fmt.Fprintf(table, "%s\t%s\t%s\t%d rows\t%d bytes\n", visible(d.Sink), visible(d.Host), visible(d.Path), d.Rows, d.Bytes)
		}
		if err != nil {
			return err
		}
	}
	return table.Flush()
}
