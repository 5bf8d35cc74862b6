package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// NewSink is the factory of sinks; the queue is made when the store is attached.
// Its parameters are [SinkParameters].
func NewSink(setup connector.Setup) (connector.StoreSink, error) {
	var p SinkParameters
	p.SetDefaults()
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	outlets, err := p.outlets(setup)
	if err != nil {
		return nil, err
	}
	return &sink{name: string(p.Path), wanted: p.partitions(), outlets: outlets}, nil
}

// sink is one queue. After Attach nothing in it changes, so that the jobs of a
// computation share it.
type sink struct {
	name       string
	wanted     int                // partitions, 0 for any number
	outlets    map[string]*outlet // by stream
	partitions int
}

// Check demands that the queue, if it is there, has the partitions it must have.
func (s *sink) Check(queues []store.Queue) ([]store.Queue, error) {
	q, there := among(queues, s.name)
	if !there {
		q = store.Queue{Name: s.name, Partitions: make([]store.QueuePartition, max(1, s.wanted))}
		queues = append(slices.Clip(queues), q)
	}
	return queues, fits(q, s.wanted)
}

// Attach makes the queue if it is not there.
func (s *sink) Attach(ctx context.Context, queues store.Queues) error {
	q, err := ensure(ctx, queues, s.name, s.wanted)
	s.partitions = len(q.Partitions)
	return err
}

// Append appends the message's row, with the time of its epoch.
func (s *sink) Append(dst []store.QueueAppend, m flow.Message) ([]store.QueueAppend, error) {
	o := s.outlets[m.StreamID]
	if o == nil {
		return dst, fmt.Errorf("queue %s: stream %q is no input of the sink", s.name, m.StreamID)
	}
	partition, err := o.choose(m.Payload.Row(), m.ID.Epoch+uint64(m.ID.Index), s.partitions)
	if err != nil {
		return dst, fmt.Errorf("queue %s: %w", s.name, err)
	}
	value, err := o.value(m.Payload.Row())
	if err != nil {
		return dst, fmt.Errorf("queue %s: %w", s.name, err)
	}
	return append(dst, store.QueueAppend{
		Queue: s.name, Partition: partition, Time: int64(m.SystemTimestamp), Value: value,
	}), nil
}

// outlet turns the messages of one stream into rows.
type outlet struct {
	choose  chooser
	encoder rowtext.Encoder
	columns []int // that are written; nil: all
}

// project restricts what is written to the named columns.
func (o *outlet) project(s *schema.Schema, names []string) error {
	if names == nil {
		o.encoder = rowtext.NewJSONEncoder(s)
		return nil
	}
	var columns []schema.Column
	for _, name := range names {
		i, ok := s.Index(name)
		if !ok {
			return fmt.Errorf("column_filter: there is no column %q", name)
		}
		o.columns = append(o.columns, i)
		columns = append(columns, s.Columns()[i])
	}
	projected, err := schema.New(columns)
	if err != nil {
		return fmt.Errorf("column_filter: %w", err)
	}
	o.encoder = rowtext.NewJSONEncoder(projected)
	return nil
}

// valueHint is the room that a value gets at first.
const valueHint = 128

func (o *outlet) value(row schema.Row) ([]byte, error) {
	if o.columns != nil {
		whole := row
		row = make(schema.Row, len(o.columns))
		for i, column := range o.columns {
			row[i] = whole[column]
		}
	}
	line, err := o.encoder.AppendRow(make([]byte, 0, valueHint), row)
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil // without the line end
}
