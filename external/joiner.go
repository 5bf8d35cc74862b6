package external

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
)

// Options are what a joiner is made of.
type Options struct {
	// Computation and Name say whose joiner it is.
	Computation, Name string
	Parameters        flow.Parameters
	GroupBy           *schema.Schema
	// SpecDir is the folder that the table's path is relative to; DataDir keeps what
	// the joiner has to remember, and may be empty.
	SpecDir, DataDir string
	// Now is the monotonic time.
	Now func() time.Duration
	Log *slog.Logger
}

// Joiner is a static table that visit streams scan. It is safe for concurrent
// use.
type Joiner struct {
	name    string
	policy  Policy
	source  source
	record  record
	now     func() time.Duration
	log     *slog.Logger
	dynamic atomic.Pointer[DynamicParameters]

	read, opens, failures, listed, replacements atomic.Int64

	scans atomic.Int64 // that are open

	// opening is held while a version is opened: others need it too, and would only
	// read the same. A channel, so that waiting ends with its context.
	opening chan struct{}
	spoiled spoiled // guarded by opening

	// recording is held while the length of the table is written down: nothing else
	// waits for it, and it waits for no reading.
	recording sync.Mutex

	mu      sync.Mutex // never held over a file
	outage  outage
	current *version
	before  int64  // rows at the last completed pass, -1 for none
	doubted string // the identity of the current version while it is not believed
}

// New checks the parameters and makes a joiner, without reading.
func New(o Options) (*Joiner, error) {
	p, err := parse(o)
	if err != nil {
		return nil, err
	}
	j := &Joiner{
		name: o.Name, policy: Policy(p.Unavailable), now: o.Now, log: o.Log,
		record:  recordOf(o.DataDir, o.Computation, o.Name),
		opening: make(chan struct{}, 1),
	}
	j.source = source{disk: osDisk{}, path: p.path, inStore: p.inStore, groupBy: o.GroupBy, columns: p.columns, read: &j.read}
	if j.before, err = j.record.rows(); err != nil {
		return nil, err
	}
	d, err := ParseDynamic(flow.Parameters{})
	j.dynamic.Store(&d)
	return j, err
}

// Begin reads what the data folder keeps once more: it may have become another one
// since New. It is called before the first scan.
func (j *Joiner) Begin() error {
	rows, err := j.record.rows()
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.before = rows
	return nil
}

// Set puts dynamic parameters in force.
func (j *Joiner) Set(d DynamicParameters) { j.dynamic.Store(&d) }

func (j *Joiner) attempts() int { return j.dynamic.Load().ReadAttempts }

// Path is where the table is.
func (j *Joiner) Path() string { return j.source.path }

// Scan returns a new scan, for one visit stream of one partition.
func (j *Joiner) Scan() *Scan {
	j.scans.Add(1)
	return &Scan{joiner: j, buckets: map[int]*position{}}
}

// Fits looks at the columns of the table alone. Its error is [ErrUnfit] if they are not
// what the key wants; any other is that the table cannot be read now.
func (j *Joiner) Fits(ctx context.Context) error {
	v, err := j.source.open(ctx, glance)
	if err != nil {
		return err
	}
	return v.close()
}

func (j *Joiner) named(err error) error { return fmt.Errorf("table %s: %w", j.source.path, err) }

// PassCompleted tells that a partition has completed a pass: the length of the
// table is what later ones are compared with. It writes only what is new.
func (j *Joiner) PassCompleted() error {
	j.recording.Lock()
	defer j.recording.Unlock()
	rows, news := j.length()
	if !news {
		return nil
	}
	if err := j.record.setRows(rows); err != nil {
		return fmt.Errorf("joiner %s: record how long the table is: %w", j.name, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.before = rows
	return nil
}

// length returns how long the table is, and whether that is certain and not
// recorded.
func (j *Joiner) length() (rows int64, news bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current == nil || j.doubted != "" {
		return 0, false
	}
	rows = j.current.identity.Rows
	return rows, rows != j.before
}

// Accept makes the version that is at the path now believed, however short it is
// (KV-55); of a table in the store, the one that a pipeline doubted last. Pipelines that
// run see it too. It returns what was accepted.
func (j *Joiner) Accept(ctx context.Context) (string, error) {
	if j.source.inStore {
		return j.acceptDoubted()
	}
	v, _, err := j.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer j.release(v)
	version := v.identity.String()
	if j.record.dir != "" {
		err = j.record.accept(version)
	}
	return version, err
}

// noteDoubt records which version is doubted: a command cannot look into the store.
func (j *Joiner) noteDoubt(v *version) {
	if err := j.record.doubt(v.identity.String()); err != nil {
		j.log.Warn("it is not recorded which table is doubted, so it cannot be accepted", "joiner", j.name, "error", err)
	}
}

func (j *Joiner) acceptDoubted() (string, error) {
	doubted, err := j.record.doubted()
	if err != nil {
		return "", fmt.Errorf("table %s: %w", j.source.path, err)
	}
	return doubted, j.record.accept(doubted)
}

// Close lets go of the table. It is called once, after all scans are closed.
func (j *Joiner) Close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current != nil {
		leave(j.current)
	}
	j.current = nil
}
