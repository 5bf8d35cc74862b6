package main

import (
	"bufio"
	"context"
)

type sinkCatCommand struct {
	sharedFlag
	Sink string `arg:"" help:"The sink, as SINK or COMPUTATION/SINK."`
	From string `placeholder:"DIR" help:"Folder that the workers' data folders were copied into. Default: the folders that they wrote to, on this machine."`
}

// Help is shown below the usage.
func (sinkCatCommand) Help() string {
	return `Prints exactly what is recorded of each part, in the order in which they were begun, and fails if a file is missing or holds anything else. Parts of other machines have to be copied here first, into one folder: no two have the same name.

Examples:
  rondo sink cat snapshots --store postgres://rondo@db/flows >snapshots.jsonl
  rondo sink cat routes/snapshots --from collected --store postgres://rondo@db/flows`
}

// Run prints the parts.
func (c *sinkCatCommand) Run(io *streams) error {
	parts, err := c.sinkParts(context.Background())
	if err == nil {
		parts, err = ofSink(parts, c.Sink)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(io.out)
	for i := range parts {
		if err := parts[i].Copy(out, parts[i].place(c.From), i == 0); err != nil {
			return err
		}
	}
	return out.Flush()
}
