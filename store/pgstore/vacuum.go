package pgstore

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

const (
	// wornRows is how many removed rows make the inbox worth cleaning, at least. The
	// server cleans by itself, too, but looks once a minute: a fast pipeline has
	// removed millions of rows by then, each of which every reader at the front steps
	// over.
	wornRows = 2000
	// wornShare is which part of a full inbox is removed before it is cleaned, since
	// that takes the longer the more rows stay.
	wornShare = 5
)

// cleaner vacuums the inbox as it wears, and removes what is left of tables that were
// dropped. Timers are left to the server: there may
// be any number of them, and those that fired lie beside each other, where a reader
// marks them as gone.
type cleaner struct {
	removed atomic.Int64 // rows since the last time
	limit   atomic.Int64 // how many are worth cleaning
	worn    chan struct{}
	dropped chan struct{} // has one if there may be tables that are no more
}

func (c *cleaner) init() {
	c.worn, c.dropped = make(chan struct{}, 1), make(chan struct{}, 1)
	c.dropped <- struct{}{} // a former process may have left some
	c.limit.Store(wornRows)
}

// keepClean cleans until the store is closed.
func (s *Store) keepClean(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.cleaner.worn:
			s.clean(ctx)
		case <-s.cleaner.dropped:
			if err := s.sweep(ctx); err != nil && ctx.Err() == nil {
				s.opts.Logger.Warn("rows of dropped tables are left; they are removed when another is dropped, or the store is opened", "error", err)
			}
		}
	}
}

// drops notes that a table was dropped.
func (c *cleaner) drops() {
	select {
	case c.dropped <- struct{}{}:
	default: // it has been told
	}
}

// sweep removes the rows of tables that are no more, a few in each transaction: there
// may be more than one transaction has the time for.
func (s *Store) sweep(ctx context.Context) error {
	var ids []int64
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) (err error) {
		ids, err = s.sql.DroppedTables(ctx, db)
		return err
	})
	for i := 0; i < len(ids) && err == nil; {
		err = s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
			n, err := s.sql.DeleteTableRows(ctx, db, &pgsql.DeleteTableRowsParams{ID: ids[i], MaxRows: trimRows})
			if err != nil || n == trimRows {
				return err
			}
			i++
			return s.sql.ForgetDropped(ctx, db, ids[i-1])
		})
	}
	return err
}

// took counts rows that a commit has removed.
func (c *cleaner) took(rows int) {
	if c.removed.Add(int64(rows)) < c.limit.Load() {
		return
	}
	select {
	case c.worn <- struct{}{}:
	default: // it has been told
	}
}

// clean vacuums the inbox if it is worn. What cannot be cleaned now, since a reader
// may still see it or the server is away, is cleaned another time.
func (s *Store) clean(ctx context.Context) {
	if s.cleaner.removed.Load() < s.cleaner.limit.Load() {
		return
	}
	removed := s.cleaner.removed.Swap(0)
	rows, err := s.vacuum(ctx)
	switch {
	case err == nil:
		s.cleaner.limit.Store(max(wornRows, int64(rows)/wornShare))
		s.opts.Logger.Debug("the inbox was vacuumed", "removed", removed, "rows", rows)
	case ctx.Err() == nil:
		s.cleaner.limit.Store(2 * s.cleaner.limit.Load()) // it is tried less often until it goes well
		s.opts.Logger.Warn("the inbox was not vacuumed; the server will do it, later", "error", classify(err))
	}
}

// vacuum works on a connection of its own, which no call waits for, and for as long
// as it takes. It returns about how many rows are left.
func (s *Store) vacuum(ctx context.Context) (rows float64, err error) {
	conn, err := pgx.ConnectConfig(ctx, s.place.config.ConnConfig)
	if err != nil {
		return 0, err
	}
	defer hangUp(conn)
	if err := s.place.settle(ctx, conn, Options{LockTimeout: s.opts.LockTimeout}); err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, "VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON) inbox"); err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, "SELECT reltuples FROM pg_class WHERE oid = 'inbox'::regclass").Scan(&rows)
	return rows, err
}
