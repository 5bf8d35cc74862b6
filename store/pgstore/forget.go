package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// ForgetPipeline removes everything that the pipeline has in the store, in one
// transaction, and leaves the tables, and the queues with their rows, as they are. How far they
// were read goes too, as does what counters count stay. The pipeline must not be
// running.
func (s *Store) ForgetPipeline(ctx context.Context) error {
	return s.change(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.sql.ForgetPipeline(ctx, tx) })
}
