package file

import (
	"context"
	"fmt"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/rowtext"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// writer appends to the file of a sink. What it holds of the file is true as
// long as nothing failed; after that only a new Open knows.
type writer struct {
	file    handle
	part    *part // of a sink that writes in parts; its file is made by the first write
	at      mark
	trail   trail
	buf     []byte
	failure error

	newEncoder func(*schema.Schema) (rowtext.Encoder, error)
	encoders   map[*schema.Schema]rowtext.Encoder
}

// keepBuffer is how much memory is kept between two writes.
const keepBuffer = 4 << 20

// Write appends the messages with one write and syncs the file.
func (w *writer) Write(ctx context.Context, messages []flow.Message) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.failure != nil {
		return nil, fmt.Errorf("an earlier write failed: %w", w.failure)
	}
	if len(messages) == 0 {
		return w.position(), nil
	}
	if err := w.encode(messages); err != nil {
		return nil, err // the file has not been touched
	}
	if w.failure = w.append(); w.failure != nil {
		return nil, fmt.Errorf("%s: %w", w.at.Path, w.failure)
	}
	w.at.Position += int64(len(w.buf))
	w.at.Line += int64(len(messages))
	w.at.Whole = w.at.Whole.and(w.buf)
	pass(&w.trail, w.buf)
	if cap(w.buf) > keepBuffer {
		w.buf = nil
	}
	return w.position(), nil
}

// encode fills the buffer with the rows of the messages, and what stands before
// the first of all.
func (w *writer) encode(messages []flow.Message) error {
	w.buf = w.buf[:0]
	for i := range messages {
		m := &messages[i]
		if err := w.encodeRow(m); err != nil {
			return connector.Malformed(fmt.Errorf("%s: message %s of stream %s: %w", w.at.Path, m.ID, m.StreamID, err))
		}
	}
	return nil
}

func (w *writer) encodeRow(m *flow.Message) error {
	e, err := w.encoder(m.Payload.Schema())
	if err != nil {
		return err
	}
	if w.at.Position == 0 && len(w.buf) == 0 {
		w.buf = e.AppendHeader(w.buf)
		w.at.Header = int64(len(w.buf))
	}
	buf, err := e.AppendRow(w.buf, m.Payload.Row())
	if err == nil {
		w.buf = buf
	}
	return err
}

func (w *writer) encoder(s *schema.Schema) (rowtext.Encoder, error) {
	if e, ok := w.encoders[s]; ok {
		return e, nil
	}
	e, err := w.newEncoder(s)
	if err == nil {
		w.encoders[s] = e
	}
	return e, err
}

// append writes the buffer behind the recorded end and makes it durable.
func (w *writer) append() (err error) {
	if w.file == nil {
		if w.file, err = w.part.create(); err != nil {
			return unusable(err)
		}
	}
	size, node, err := w.file.Stat()
	if err != nil {
		return err
	}
	if size != w.at.Position {
		return fmt.Errorf("the file has %d bytes where %d were written: something else writes to it, stop that", size, w.at.Position)
	}
	w.at.Node = node
	if _, err := w.file.WriteAt(w.buf, w.at.Position); err != nil {
		return err
	}
	return w.file.Sync()
}

func (w *writer) position() []byte { return w.trail.mark(w.at).encode() }

// Close gives the file free for another writer.
func (w *writer) Close() error {
	if w.file == nil {
		return nil
	}
	if w.part != nil && w.failure != nil {
		w.part.cut(w.file, w.at.Position)
	}
	return w.file.Close()
}
