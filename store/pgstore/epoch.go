package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// epoch collects statements that are sent together: one round trip, and one
// transaction, which the server commits at its end. The first statement that
// raises an error ends it, and those behind it are not executed: so the fence
// stands in front (D-2).
type epoch struct{ statements []statement }

type statement struct {
	sql  string
	args []any
}

// Exec queues a statement. What it does is known only when the epoch was sent.
func (e *epoch) Exec(_ context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	e.statements = append(e.statements, statement{sql, args})
	return pgconn.CommandTag{}, nil
}

// Query and QueryRow are never called: an epoch reads nothing.
func (e *epoch) Query(context.Context, string, ...any) (pgx.Rows, error) {
	panic("an epoch reads nothing")
}

// QueryRow is like Query.
func (e *epoch) QueryRow(context.Context, string, ...any) pgx.Row { panic("an epoch reads nothing") }

// in sends what was queued as a part of a transaction, in one round trip.
func (e *epoch) in(ctx context.Context, tx pgx.Tx) error { return tx.SendBatch(ctx, e.batch()).Close() }

// batch is what can be sent, once.
func (e *epoch) batch() *pgx.Batch {
	b := &pgx.Batch{}
	for _, s := range e.statements {
		b.Queue(s.sql, s.args...)
	}
	return b
}

// sendAgain is how often an epoch is sent once more that the server undid, since
// others were in its way.
const sendAgain = 3

// send sends the epoch, and again if others were in its way.
func (s *Store) send(ctx context.Context, e *epoch) error {
	for again := 0; ; again++ {
		err := s.sendOnce(ctx, e)
		if again == sendAgain || !inTheWay(err) {
			return err
		}
	}
}

// sendOnce sends the epoch. Once a part of it may have reached the server, ctx has
// no effect any more.
func (s *Store) sendOnce(ctx context.Context, e *epoch) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return classify(err)
	}
	defer conn.Release()
	if err := ended(ctx); err != nil {
		return err
	}
	ctx, cancel := s.settling(ctx)
	defer cancel()
	return classifyChange(conn.SendBatch(ctx, e.batch()).Close())
}

// acquire waits for a connection, as long as for a call.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	return s.pool.Acquire(ctx)
}
