package pebblestore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/rondo-flow/rondo/store"
)

// Store is a data folder. Its methods may be called concurrently.
type Store struct {
	dir  string
	opts Options
	fs   *freezer
	lock *pebble.Lock
	db   *pebble.DB
	sync *pebble.WriteOptions

	life    sync.Mutex // closed, and adding to running
	closed  bool
	running sync.WaitGroup

	// parts guards the maps. What they hold is guarded by the partition's lock,
	// the numbers of computations never change.
	parts        sync.RWMutex
	partitions   map[store.PartitionID]*partition
	computations map[string]uint64

	queues queues
	tables tables

	// catalog is held by the transactions that number things and replace the
	// pipeline. It is taken after a partition's lock, and before those of tables and
	// queue partitions.
	catalog        chan struct{}
	lastPartition  store.PartitionID
	lastGeneration store.Generation
}

var _ store.Store = (*Store)(nil)

// Open opens the data folder dir and makes it if it is not there. It fails with
// ErrLocked, naming the holder, while a process has it open, with ErrNewerFormat
// if a newer Rondo wrote it, and with ErrCorrupt if it holds files but is not a
// store, or has lost its database. A folder that is refused stays as it is.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	dir, err := o.folder(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	if err := o.FS.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w: cannot make data folder %s: %w", store.ErrUnavailable, dir, err)
	}
	if err := checkOurs(dir, o.FS); err != nil {
		return nil, err
	}
	lock, err := lockFolder(dir, o.FS, thisProcess(o.Started))
	if err != nil {
		return nil, err
	}
	s, err := open(dir, o, lock)
	if err != nil {
		return nil, errors.Join(err, unlockFolder(dir, o.FS, lock))
	}
	return s, nil
}

func open(dir string, o Options, lock *pebble.Lock) (*Store, error) {
	if err := checkFormat(dir, o.FS); err != nil {
		return nil, err
	}
	s := &Store{
		dir: dir, opts: o, lock: lock, fs: newFreezer(o.FS, dir, o.Logger),
		sync:    &pebble.WriteOptions{Sync: !o.NoSync},
		catalog: make(chan struct{}, 1),
	}
	db, err := pebble.Open(dir, o.pebble(s.fs, lock))
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", dir, s.classify(err))
	}
	s.db = db
	if err := errors.Join(s.load(), s.fs.failed()); err != nil {
		return nil, fmt.Errorf("data folder %s: %w", dir, errors.Join(err, db.Close()))
	}
	return s, nil
}

// Close waits for the calls in progress and releases the folder. A second Close
// does nothing.
func (s *Store) Close() error {
	s.life.Lock()
	first := !s.closed
	s.closed = true
	s.life.Unlock()
	s.running.Wait()
	if !first {
		return nil
	}
	err := s.db.Close()
	if s.fs.failed() != nil {
		err = nil // every call has told why
	}
	if err = errors.Join(err, unlockFolder(s.dir, s.opts.FS, s.lock)); err != nil {
		return fmt.Errorf("%w: closing data folder %s: %w", store.ErrUnavailable, s.dir, err)
	}
	return nil
}

// enter begins a call; leave ends it.
func (s *Store) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	if err := s.fs.failed(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrStopped, err)
	}
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return fmt.Errorf("%w: the store is closed", store.ErrUnavailable)
	}
	s.running.Add(1)
	return nil
}

func (s *Store) leave() { s.running.Done() }

// enterCatalog begins a call that changes what there is.
func (s *Store) enterCatalog(ctx context.Context) (release func(), err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	if err := hold(ctx, s.catalog); err != nil {
		s.leave()
		return nil, err
	}
	return func() {
		<-s.catalog
		s.leave()
	}, nil
}

// classify gives a class to an error of a read. When the store has stopped, the
// reason counts, not what followed from it.
func (s *Store) classify(err error) error {
	switch {
	case err == nil:
		return nil
	case s.fs.failed() != nil:
		return fmt.Errorf("%w: %w", store.ErrStopped, s.fs.failed())
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrUnavailable):
		return err
	case pebble.IsCorruptionError(err):
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// apply makes b durable. After an error the outcome is unknown, and the store
// has stopped.
func (s *Store) apply(b *pebble.Batch) error { return s.applied(s.db.Apply(b, s.sync)) }

func (s *Store) applied(err error) error {
	if err != nil {
		s.fs.fail(fmt.Errorf("%w: a commit failed: %w; start again", store.ErrUnavailable, err))
	}
	if err := s.fs.failed(); err != nil {
		return fmt.Errorf("%w: %v", store.ErrUnknownOutcome, err)
	}
	return nil
}

// get returns a copy of the value of key, nil when there is none.
func (s *Store) get(key []byte) ([]byte, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, s.classify(err)
	}
	defer closer.Close()
	if len(value) == 0 {
		return []byte{}, nil
	}
	return slices.Clone(value), nil
}

// scan calls row for every row that begins with prefix, in order. What it is
// given is valid during the call.
func (s *Store) scan(prefix []byte, row func(key, value []byte) error) error {
	return s.scanRange(prefix, upperBound(prefix), row)
}

// scanRange is scan for the rows in [lower, upper).
func (s *Store) scanRange(lower, upper []byte, row func(key, value []byte) error) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return s.classify(err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			err = row(it.Key(), value)
		}
	}
	return s.classify(errors.Join(err, it.Close()))
}
