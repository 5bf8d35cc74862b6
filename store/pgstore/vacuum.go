package pgstore

import (
	"context"
	"sync"
	"sync/atomic"
)

// wornRows is how many removed rows make a table worth cleaning. The server cleans
// by itself, too, but looks once a minute: a fast pipeline has removed millions of
// rows by then, each of which every reader at the front steps over.
const wornRows = 2000

// cleaner vacuums the tables whose rows come and go, as they wear.
type cleaner struct {
	inbox, timers atomic.Int64 // rows removed since the last time
	worn          chan struct{}
	stop          context.CancelFunc
	done          sync.WaitGroup
}

// startCleaner begins to clean until the cleaner is closed.
func (s *Store) startCleaner() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cleaner.worn, s.cleaner.stop = make(chan struct{}, 1), cancel
	s.cleaner.done.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.cleaner.worn:
				s.clean(ctx, "inbox", &s.cleaner.inbox)
				s.clean(ctx, "timers", &s.cleaner.timers)
			}
		}
	})
}

// removed counts rows that a commit has removed.
func (c *cleaner) removed(inbox, timers int) {
	if c.inbox.Add(int64(inbox)) < wornRows && c.timers.Add(int64(timers)) < wornRows {
		return
	}
	select {
	case c.worn <- struct{}{}:
	default: // it has been told
	}
}

func (c *cleaner) close() {
	c.stop()
	c.done.Wait()
}

// clean vacuums a table if it is worn. What cannot be cleaned now, since a reader
// may still see it or the server is away, is cleaned another time.
func (s *Store) clean(ctx context.Context, table string, removed *atomic.Int64) {
	if removed.Load() < wornRows {
		return
	}
	removed.Store(0)
	if _, err := s.pool.Exec(ctx, "VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON) "+table); err != nil && ctx.Err() == nil {
		s.opts.Logger.Warn("a table was not vacuumed; the server will do it, later", "table", table, "error", classify(err))
	}
}
