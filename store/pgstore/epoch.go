package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// epoch collects statements that are sent together: one round trip, and one
// transaction, which the server commits at its end. The first statement that
// raises an error ends it, and those behind it are not executed: so the fence
// stands in front (D-2).
type epoch struct{ batch pgx.Batch }

// Exec queues a statement. What it does is known only when the epoch was sent.
func (e *epoch) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	e.batch.Queue(sql, args...)
	return pgconn.CommandTag{}, nil
}

// Query and QueryRow are never called: an epoch reads nothing.
func (e *epoch) Query(context.Context, string, ...any) (pgx.Rows, error) {
	panic("an epoch reads nothing")
}

// QueryRow is like Query.
func (e *epoch) QueryRow(context.Context, string, ...any) pgx.Row { panic("an epoch reads nothing") }

// in sends what was queued as a part of a transaction, in one round trip.
func (e *epoch) in(ctx context.Context, tx pgx.Tx) error { return tx.SendBatch(ctx, &e.batch).Close() }

// send sends the epoch. Once a part of it may have reached the server, ctx has no
// effect any more.
func (s *Store) send(ctx context.Context, e *epoch) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return classify(err)
	}
	defer conn.Release()
	if err := ended(ctx); err != nil {
		return err
	}
	ctx, cancel := s.settling(ctx)
	defer cancel()
	return classifyChange(conn.SendBatch(ctx, &e.batch).Close())
}
