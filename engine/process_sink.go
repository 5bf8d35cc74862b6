package engine

import (
	"context"
	"fmt"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
)

// sinkProcessor writes messages to a sink outside the store: durable there
// first, then committed here with the new position (D-26).
type sinkProcessor struct {
	decoder  decoder
	writer   connector.Writer
	position []byte
	messages []flow.Message
}

// openSink opens the sink at the recorded position. The position that it starts
// at is stored before anything is written (job.recordStart).
func openSink(ctx context.Context, n *node, recorded []byte) (*sinkProcessor, error) {
	w, start, err := n.sink.Open(ctx, recorded)
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", n.id, err)
	}
	return &sinkProcessor{decoder: n.decoder(), writer: w, position: start}, nil
}

func (p *sinkProcessor) process(ctx context.Context, e *partition.Epoch, res *result) error {
	p.messages = p.messages[:0]
	var err error
	for _, s := range e.Messages {
		if p.messages, err = p.decoder.decode(p.messages, s.Row, s.From, s.To); err != nil {
			return err
		}
	}
	if len(p.messages) > 0 {
		if p.position, err = p.writer.Write(ctx, p.messages); err != nil {
			return fmt.Errorf("sink: %w", err)
		}
	}
	res.processed.Messages = len(p.messages)
	res.position = p.position
	return nil
}

func (p *sinkProcessor) close() error { return p.writer.Close() }
