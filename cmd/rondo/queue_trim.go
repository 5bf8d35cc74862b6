package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/store"
)

type queueTrimCommand struct {
	queueFlags
	Partition *int    `placeholder:"N" help:"Only this partition, numbered from 0. By default all."`
	Before    *uint64 `xor:"what" placeholder:"OFFSET" help:"Remove the rows below this offset."`
	Consumed  bool    `xor:"what" help:"Remove the rows that all consumers have read."`
}

// Help is shown below the usage.
func (queueTrimCommand) Help() string {
	return `Offsets of the rows that stay, and of those to come, do not change. A consumer that has not read anything yet is not known: with --consumed it misses what the others have read.` + queueHelp + `

Examples:
  rondo queue trim pipeline.yson orders --consumed
  rondo queue trim --data rondo-data/orders orders --partition 2 --before 1000`
}

// Run removes rows.
func (c *queueTrimCommand) Run(io *streams) (err error) {
	if c.Before == nil && !c.Consumed {
		return &usageError{errors.New("which rows? Say --before OFFSET or --consumed")}
	}
	ctx := context.Background()
	s, q, err := c.openQueue(ctx, io)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	partitions, err := partitionsOf(q, c.Partition)
	if err != nil {
		return err
	}
	removed := 0
	for _, p := range partitions {
		before := c.until(q, p)
		if err := s.TrimQueue(ctx, q.Name, p, before); err != nil {
			return err
		}
		part := q.Partitions[p]
		removed += int(min(part.Next, max(part.First, before)) - part.First)
	}
	_, err = fmt.Fprintf(io.err, "rondo: removed %s of queue %s\n", plural(removed, "row"), q.Name)
	return err
}

// until is the offset below which rows of a partition are removed.
func (c *queueTrimCommand) until(q *store.Queue, partition int) uint64 {
	if c.Before != nil {
		return *c.Before
	}
	before, _ := queue.Consumed(*q, partition) // 0, and nothing, without a consumer
	return before
}
