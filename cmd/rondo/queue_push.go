package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/store"
)

type queuePushCommand struct {
	queueFlags
	Partitions countFlag `placeholder:"N" help:"Number of partitions of a queue that is made, one by default; one that is there must have as many."`
	By         []string  `sep:"none" placeholder:"FIELD" help:"Rows with equal values of this field go to the same partition. May be repeated. By default rows are dealt out in turn."`
}

// Help is shown below the usage.
func (queuePushCommand) Help() string {
	return `Rows are lines of standard input, each a JSON object; blank lines are passed over. At a line that is none the command fails, and the lines before it stay pushed.` + queueHelp + `

Examples:
  rondo queue push pipeline.yson orders <orders.jsonl
  rondo queue push --data rondo-data/orders orders --partitions 4 --by customer <orders.jsonl`
}

// Run appends the lines of standard input.
func (c *queuePushCommand) Run(io *streams) error {
	if err := c.shift(); err != nil {
		return err
	}
	ctx := context.Background()
	s, at, err := c.open(ctx, io)
	if err == nil && s == nil {
		s, err = takePassing(ctx, io, at)
	}
	if err != nil {
		return err
	}
	done, err := queue.Push(ctx, s, os.Stdin, queue.PushOptions{Queue: *c.Queue, Partitions: int(c.Partitions), By: c.By, Now: time.Now})
	if errors.Is(err, store.ErrUnknownOutcome) {
		err = fmt.Errorf("%w; whether the next %s are in the queue is not known: look with rondo queue list", err, plural(done.Unknown, "row"))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(io.err, "rondo: pushed %s to queue %s\n", plural(done.Rows, "row"), *c.Queue)
	return err
}
