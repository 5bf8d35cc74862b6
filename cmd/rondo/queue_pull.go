package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

type queuePullCommand struct {
	queueFlags
	Partition *int      `placeholder:"N" help:"Only this partition, numbered from 0. By default all, one after the other."`
	From      uint64    `placeholder:"OFFSET" help:"Begin at this offset of each partition."`
	Consumer  string    `placeholder:"NAME" help:"Only rows that this consumer has not read. What it has read stays as it is."`
	Limit     limitFlag `placeholder:"N" help:"Stop after N rows; 0, the default, prints all."`
	Output    string    `enum:"text,json" default:"text" placeholder:"FORM" help:"Print the rows as they are, a line each (text, default), or objects with their partition, offset and time (json)."`
}

// Help is shown below the usage.
func (queuePullCommand) Help() string {
	return `Rows are printed as JSON Lines, in the order of each partition. Reading takes nothing away: rondo queue trim does.` + queueHelp + `

Examples:
  rondo queue pull pipeline.yson orders --limit 10
  rondo queue pull --data rondo-data/orders orders --partition 2 --from 1000 --output json
  rondo queue pull pipeline.yson orders --consumer audit`
}

// Run prints rows.
func (c *queuePullCommand) Run(io *streams) (err error) {
	ctx := context.Background()
	s, q, err := c.openQueue(ctx, io)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	partitions, err := partitionsOf(q, c.Partition)
	if err == nil {
		err = c.checkConsumer(q)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(io.out)
	left := int(c.Limit)
	for _, p := range partitions {
		n, err := c.pull(ctx, s, q, p, left, out)
		if err != nil {
			return err
		}
		if left -= n; c.Limit > 0 && left == 0 {
			break
		}
	}
	return out.Flush()
}

func (c *queuePullCommand) checkConsumer(q *store.Queue) error {
	var known []string
	for _, position := range q.Consumers {
		known = append(known, position.Consumer)
	}
	known = slices.Compact(known) // they are ordered
	if c.Consumer == "" || slices.Contains(known, c.Consumer) {
		return nil
	}
	return fmt.Errorf("queue %s has no consumer %s: %s", q.Name, c.Consumer, yson.DidYouMean(c.Consumer, known))
}

// pull prints rows of one partition, at most limit if that is positive, and
// returns their number.
func (c *queuePullCommand) pull(ctx context.Context, s store.Queues, q *store.Queue, partition, limit int, out io.Writer) (n int, err error) {
	from := c.From
	for _, position := range q.Consumers {
		if position.Consumer == c.Consumer && position.Partition == partition {
			from = max(from, position.Offset)
		}
	}
	for row, err := range queue.Rows(ctx, s, store.QueueRequest{Queue: q.Name, Partition: partition, From: from, MaxRows: limit}) {
		if err != nil {
			return n, err
		}
		if err := c.print(out, partition, row); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// pulled is the JSON form of a row.
type pulled struct {
	Partition int             `json:"partition"`
	Offset    uint64          `json:"offset"`
	Time      time.Time       `json:"time"` // when it was appended
	Row       json.RawMessage `json:"row"`
}

func (c *queuePullCommand) print(out io.Writer, partition int, row store.QueueRow) error {
	if c.Output == "json" {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		if err := e.Encode(pulled{partition, row.Offset, time.Unix(0, row.Time).UTC(), rowtext.AppendUTF8(nil, string(row.Value))}); err != nil {
			return fmt.Errorf("partition %d, offset %d is no JSON: %w; print it with --output text", partition, row.Offset, err)
		}
		return nil
	}
	_, err := fmt.Fprintf(out, "%s\n", row.Value)
	return err
}
