package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rondo-flow/rondo/store"
)

type queueListCommand struct {
	placeFlags
	Output string `enum:"text,json" default:"text" placeholder:"FORM" help:"Print a table (text, default), or a JSON object for each queue (json)."`
}

// Help is shown below the usage.
func (queueListCommand) Help() string {
	return `A consumer's position in a partition is the offset of the first row that it has not read; unread counts those rows.` + queueHelp + `

Examples:
  rondo queue list pipeline.yson
  rondo queue list --data rondo-data/orders --output json`
}

// Run lists the queues.
func (c *queueListCommand) Run(io *streams) error {
	ctx := context.Background()
	s, err := c.existing(ctx, io)
	if err != nil {
		return err
	}
	queues, err := s.Queues(ctx)
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	for i := range queues {
		d := describeQueue(&queues[i])
		if err := d.print(io.out, c.Output); err != nil {
			return err
		}
	}
	return nil
}

// queueDescription is the JSON form of a queue.
type queueDescription struct {
	Name       nameText               `json:"name"`
	Partitions []partitionDescription `json:"partitions"`
	Consumers  []consumerDescription  `json:"consumers"`
}

// partitionDescription tells of the rows [First, Next).
type partitionDescription struct {
	First uint64 `json:"first"`
	Next  uint64 `json:"next"`
	Bytes int64  `json:"bytes"`
}

// consumerDescription tells how far a consumer has read a partition.
type consumerDescription struct {
	Name      nameText `json:"name"`
	Partition int      `json:"partition"`
	Position  uint64   `json:"position"`
	Unread    uint64   `json:"unread"`
}

func describeQueue(q *store.Queue) *queueDescription {
	d := &queueDescription{Name: nameText(q.Name), Partitions: []partitionDescription{}, Consumers: []consumerDescription{}}
	for _, p := range q.Partitions {
		d.Partitions = append(d.Partitions, partitionDescription(p))
	}
	for _, c := range q.Consumers {
		p := q.Partitions[c.Partition]
		unread := p.Next - min(p.Next, max(p.First, c.Offset))
		d.Consumers = append(d.Consumers, consumerDescription{nameText(c.Consumer), c.Partition, c.Offset, unread})
	}
	return d
}

func (d *queueDescription) print(out io.Writer, form string) error {
	if form == "json" {
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		return e.Encode(d)
	}
	_, err := io.WriteString(out, d.text())
	return err
}

func (d *queueDescription) text() string {
	var b strings.Builder
	var rows uint64
	var bytes int64
	for _, p := range d.Partitions {
		rows, bytes = rows+p.Next-p.First, bytes+p.Bytes
	}
	fmt.Fprintf(&b, "%s: %s, %s, %s\n", d.Name, plural(len(d.Partitions), "partition"), pluralDigits(int64(rows), "row"), pluralDigits(bytes, "byte"))
	for i, p := range d.Partitions {
		fmt.Fprintf(&b, "  partition %-4d offsets %d to %d\n", i, p.First, p.Next)
	}
	for i, c := range d.Consumers {
		name := c.Name.String()
		if i > 0 && d.Consumers[i-1].Name == c.Name {
			name = strings.Repeat(" ", len(name))
		}
		fmt.Fprintf(&b, "  consumer %s  partition %d: at %d, %s unread\n", name, c.Partition, c.Position, digits(int64(c.Unread)))
	}
	return b.String()
}
