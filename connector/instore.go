package connector

import (
	"context"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
)

// InStore is a source or sink whose data lies in the pipeline's own store. It is
// checked and attached before anything else is asked of it, except by its factory.
type InStore interface {
	// Check says what is missing in a store with these queues, or does not fit,
	// before anything is changed. It returns them with those that Attach would
	// make.
	Check(queues []store.Queue) ([]store.Queue, error)
	// Attach hands the store over and makes what is to be written, or says what
	// is missing.
	Attach(ctx context.Context, s store.Queues) error
}

// Positioned is a source that tells how far its rows are consumed, in the
// transaction that consumes them: taken rows beyond an offset that it gave out.
type Positioned interface {
	Position(partition string, offset []byte, taken int) (store.QueuePosition, error)
}

// StoreSink is a sink in the store: it has no writer and no inbox of its own,
// what it appends is part of the epoch that emits the message (D-25).
type StoreSink interface {
	InStore
	// Append adds the rows that a message becomes. It keeps nothing of m.
	Append(dst []store.QueueAppend, m flow.Message) ([]store.QueueAppend, error)
}

// StoreSinkFactory checks the parameters and makes a sink.
type StoreSinkFactory func(Setup) (StoreSink, error)
