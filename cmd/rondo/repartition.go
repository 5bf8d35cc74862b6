package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"github.com/rondo-flow/rondo/console"
)

type repartitionCommand struct {
	placeFlags
	Args []string `arg:"" optional:"" name:"computation count" help:"The computation, and how many partitions it is to have; 0 is the number that the dynamic spec asks for."`
}

// Help is shown below the usage.
func (repartitionCommand) Help() string {
	return `The partitions are replaced in one transaction while the pipeline runs: no message and no visit is lost or repeated, and passes go on with what they have covered. The command waits until it is done. Where a final pass is under way that is when it is over. Ctrl-C ends the waiting, not the change.

The number becomes desired_partition_count in the dynamic spec, so that it holds over restarts. Set that instead where the pipeline does not run.

Examples:
  rondo repartition examples/flights/pipeline.yson routes 8
  rondo repartition --data rondo-data/flights routes 0`
}

// Run asks for the partitions and waits for them.
func (c *repartitionCommand) Run(io *streams) error {
	if c.noFile() {
		c.Args = append([]string{*c.File}, c.Args...)
		c.File = nil
	}
	if len(c.Args) != 2 {
		return &usageError{errors.New("give a computation and a number of partitions, such as routes 8")}
	}
	n, err := strconv.Atoi(c.Args[1])
	if err != nil {
		return &usageError{fmt.Errorf("the number of partitions is no number: give one such as 8, or 0 for what the dynamic spec says; got %s", c.Args[1])}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	shared, err := c.withWorkers(ctx, func(t *manned) error { return t.Repartition(ctx, c.Args[0], n) })
	if err == nil && !shared {
		err = c.ask(ctx, io, n)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(io.err, "rondo: the partitions of %s are replaced; rondo status shows them\n", c.Args[0])
	return nil
}

// ask asks a pipeline that one process runs.
func (c *repartitionCommand) ask(ctx context.Context, io *streams, n int) error {
	client, err := c.reachRunning(ctx, io)
	if err != nil {
		return err
	}
	defer client.Close()
	return client.Repartition(ctx, console.RepartitionRequest{Computation: c.Args[0], Partitions: &n})
}
