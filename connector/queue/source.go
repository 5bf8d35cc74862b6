package queue

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// NewSource is the factory of sources. Its parameters are [SourceParameters].
// What it returns is [connector.InStore] and [connector.Positioned] too.
func NewSource(setup connector.Setup) (connector.Source, error) {
	var p SourceParameters
	p.SetDefaults()
	if err := setup.Parameters.Decode(&p); err != nil {
		return nil, err
	}
	if err := p.check(setup); err != nil {
		return nil, err
	}
	return &source{name: string(p.Path), parameters: p, schema: setup.Schema}, nil
}

// source is one queue. queues is set by Attach; id is that of the queue as it
// was last looked up, which readers and jobs share.
type source struct {
	name       string
	parameters SourceParameters
	schema     *schema.Schema
	queues     store.Queues
	id         atomic.Uint64
}

var (
	_ connector.InStore    = (*source)(nil)
	_ connector.Positioned = (*source)(nil)
)

// Check looks for the queue.
func (s *source) Check(queues []store.Queue) ([]store.Queue, error) {
	if _, there := among(queues, s.name); !there {
		return queues, missing(s.name)
	}
	return queues, nil
}

// Attach looks for the queue.
func (s *source) Attach(ctx context.Context, queues store.Queues) error {
	s.queues = queues
	_, err := s.find(ctx)
	return err
}

func (s *source) find(ctx context.Context) (store.Queue, error) {
	q, there, err := find(ctx, s.queues, s.name)
	switch {
	case err != nil:
	case there:
		s.id.Store(q.ID)
	default:
		err = missing(s.name)
	}
	return q, err
}

// Partitions returns "queue/number" for each partition of the queue that the
// filter lets through.
func (s *source) Partitions(ctx context.Context) ([]string, error) {
	q, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	var keys []string
	for i := range q.Partitions {
		if s.parameters.wants(i) {
			keys = append(keys, s.name+"/"+strconv.Itoa(i))
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("partition_filter lets no partition of queue %s through: it has the partitions 0 to %d", q.Name, len(q.Partitions)-1)
	}
	return keys, nil
}

// number returns the number of a partition by its key.
func (s *source) number(key string) (int, error) {
	text, ours := strings.CutPrefix(key, s.name+"/")
	n, err := strconv.Atoi(text)
	if !ours || err != nil || n < 0 {
		return 0, fmt.Errorf("partition %q is not of queue %s", key, s.name)
	}
	return n, nil
}

// Open starts at the first row that is kept, or goes on at an offset.
func (s *source) Open(ctx context.Context, partition string, stored []byte) (connector.Reader, error) {
	n, err := s.number(partition)
	if err != nil {
		return nil, err
	}
	q, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	if n >= len(q.Partitions) {
		return nil, fmt.Errorf("queue %s has the partitions 0 to %d, and no %d that was read before: it was made anew; start over with an empty data folder",
			q.Name, len(q.Partitions)-1, n)
	}
	at, err := decodeOffset(stored, q.ID)
	if err != nil {
		return nil, err
	}
	r := &reader{
		queues: s.queues, name: s.name, parameters: &s.parameters, partition: n,
		decoder: rowtext.NewJSONDecoder(s.schema), width: s.schema.Len(),
		at: at, end: q.Partitions[n].Next,
	}
	if at.id != q.ID {
		r.gap = fmt.Sprintf("queue %s was dropped and made anew after its partition %d had been read up to row %d: rows of it not read by then are lost, reading goes on at the beginning of the new one",
			q.Name, n, at.next)
		r.at = offset{id: q.ID}
	}
	return r, nil
}

// Position tells the row after those taken. Of a queue that is not there any
// more nothing counts.
func (s *source) Position(partition string, stored []byte, taken int) (store.QueuePosition, error) {
	n, err := s.number(partition)
	if err != nil {
		return store.QueuePosition{}, err
	}
	id := s.id.Load()
	at, err := decodeOffset(stored, id)
	p := store.QueuePosition{Queue: s.name, Consumer: string(s.parameters.Consumer), Partition: n}
	if at.id == id {
		p.Offset = at.next + uint64(taken)
	}
	return p, err
}
