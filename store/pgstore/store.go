package pgstore

import (
	"context"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// Store is a schema of a PostgreSQL database. Its methods may be called
// concurrently.
type Store struct {
	place *place
	opts  Options
	pool  *pgxpool.Pool
	sql   *pgsql.Queries
	owner *owner

	adopted   adopted
	group     group
	patient   group // of epochs that wait for locks
	cleaner   cleaner
	telegraph *telegraph
	beside    beside

	life    sync.Mutex // closed, lost, and adding to running
	closed  bool
	lost    error // why the store is not this process's any more
	running sync.WaitGroup
}

var _ store.Store = (*Store)(nil)

// Open opens the store that rondo migrate up has made. It fails with ErrLocked,
// naming the holder, while a process has it open, with ErrNewerFormat if a newer
// Rondo migrated it, with ErrUnavailable if the server cannot be reached or does
// not let the user in, and with an error without a class if there is no store,
// or an older one.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	p, err := locate(url, o)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(ctx, p); err != nil {
		return nil, fmt.Errorf("%s: %w", p, classify(err))
	}
	held, err := hold(ctx, p, o.Worker != "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p, classify(err))
	}
	pool, err := pgxpool.NewWithConfig(ctx, p.config)
	if err != nil {
		held.release()
		return nil, fmt.Errorf("%s: %w", p, classify(err))
	}
	s := &Store{place: p, opts: p.opts, pool: pool, sql: pgsql.New(), owner: held, telegraph: newTelegraph(p.schema), group: group{free: lanes(p.opts)}, patient: group{free: max(1, lanes(p.opts)/2)}}
	s.startBeside()
	return s, nil
}

// lanes is how many transactions of epochs there are at a time: some connections are
// left to those who read.
func lanes(o Options) int { return max(1, o.Connections/2) }

// beside are the goroutines that work beside the calls, until the store is closed.
type beside struct {
	ctx  context.Context
	stop context.CancelFunc
	done sync.WaitGroup
}

func (s *Store) startBeside() {
	b := &s.beside
	b.ctx, b.stop = context.WithCancel(context.Background())
	s.cleaner.init()
	b.done.Go(func() { s.keepClean(b.ctx) })
	b.done.Go(func() { s.keepHeld(b.ctx) })
	if s.opts.Worker != "" {
		b.done.Go(func() { s.keepTelling(b.ctx) })
	}
}

// Close waits for the calls in progress and lets go of the server. A second Close
// does nothing.
func (s *Store) Close() error {
	s.life.Lock()
	first := !s.closed
	s.closed = true
	s.life.Unlock()
	s.running.Wait()
	if first {
		s.beside.stop()
		s.beside.done.Wait()
		s.pool.Close()
		s.owner.release()
	}
	return nil
}

// enter begins a call; leave ends it.
func (s *Store) enter(ctx context.Context) error {
	if err := ended(ctx); err != nil {
		return err
	}
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return fmt.Errorf("%w: the store is closed", store.ErrUnavailable)
	}
	if s.lost != nil {
		return s.lost
	}
	s.running.Add(1)
	return nil
}

func (s *Store) leave() { s.running.Done() }

// read makes a call that changes nothing.
func (s *Store) read(ctx context.Context, do func(ctx context.Context, db pgsql.DBTX) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	return classify(do(ctx, s.pool))
}

// snapshot makes a call whose reads are of one moment.
func (s *Store) snapshot(ctx context.Context, do func(ctx context.Context, db pgsql.DBTX) error) error {
	return s.read(ctx, func(ctx context.Context, _ pgsql.DBTX) error {
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
			func(tx pgx.Tx) error { return do(ctx, tx) })
	})
}

// change makes a call that is a transaction of several statements. Until it is
// about to commit, whatever goes wrong has changed nothing.
func (s *Store) change(ctx context.Context, do func(ctx context.Context, tx pgx.Tx) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return classify(err)
	}
	if err := do(ctx, tx); err != nil {
		_ = tx.Rollback(ctx) // the server does it too, once the connection is gone
		return classify(err)
	}
	settle, cancel := s.settling(ctx)
	defer cancel()
	return classifyChange(tx.Commit(settle))
}

// settling is the context of what must come to its end once it was sent.
func (s *Store) settling(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.opts.CallTimeout)
}
