package pgstore

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
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

// cleaner vacuums the inbox as it wears. Timers are left to the server: there may
// be any number of them, and those that fired lie beside each other, where a reader
// marks them as gone.
type cleaner struct {
	removed atomic.Int64 // rows since the last time
	limit   atomic.Int64 // how many are worth cleaning
	worn    chan struct{}
}

func (c *cleaner) init() {
	c.worn = make(chan struct{}, 1)
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
		}
	}
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
