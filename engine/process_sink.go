package engine

import (
	"context"
	"fmt"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// sinkProcessor writes messages to a sink outside the store: durable there
// first, then committed here with the new position (D-26).
type sinkProcessor struct {
	decoder  decoder
	writer   connector.Writer
	position []byte
	messages []flow.Message
	part     store.Generation   // whose part is written; 0 for none
	began    []store.StateWrite // what is stored with the position that it starts at
}

// openSink opens the sink at the recorded position, or begins a part. The position
// that it starts at is stored before anything is written (job.recordStart).
func openSink(ctx context.Context, n *node, recorded *store.Job, shared bool) (p *sinkProcessor, err error) {
	p = &sinkProcessor{decoder: n.decoder()}
	if shared || inParts(n.sink, recorded.Position) {
		err = p.openPart(ctx, n.sink, recorded)
	} else {
		p.writer, p.position, err = n.sink.Open(ctx, recorded.Position)
	}
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", n.id, err)
	}
	return p, nil
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
	if res.position = p.position; p.part != 0 && len(p.messages) > 0 {
		res.states = append(res.states, partRecord(p.part, p.position))
	}
	return nil
}

func (p *sinkProcessor) close() error { return p.writer.Close() }
