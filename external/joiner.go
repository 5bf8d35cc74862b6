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

	// recording is held while the length of the table is written down: nothing else
	// waits for it, and it waits for no reading.
	recording sync.Mutex

	mu      sync.Mutex // never held over a file
	outage  outage
	current *version
	before  int64 // rows at the last completed pass, -1 for none
	doubt   bool
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
	j.source = source{disk: osDisk{}, path: p.Path, groupBy: o.GroupBy, columns: p.columns, read: &j.read}
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

// Check opens the table and lets go of it. An error that is [ErrMalformed] is a
// fault of the table or of the spec.
func (j *Joiner) Check(ctx context.Context) (Identity, error) {
	v, _, err := j.acquire(ctx)
	if err != nil {
		return Identity{}, err
	}
	defer j.release(v)
	return v.identity, nil
}

// Fits looks at the columns of the table alone. Its error is [ErrUnfit] if they are not
// what the key wants; any other is that the table cannot be read now.
func (j *Joiner) Fits(ctx context.Context) error {
	v, err := j.source.open(ctx, glance)
	if err != nil {
		return err
	}
	return v.file.Close()
}

// Columns are those of the version that was opened last, nil before.
func (j *Joiner) Columns() *schema.Schema {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.current == nil {
		return nil
	}
	return j.current.content.schema()
}

func (j *Joiner) named(err error) error { return fmt.Errorf("table %s: %w", j.source.path, err) }

// acquire returns the version that is at the path now, to be released; and whether
// what it does not have is unknown.
func (j *Joiner) acquire(ctx context.Context) (*version, bool, error) {
	select {
	case j.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	defer func() { <-j.opening }()
	at, err := j.source.disk.stamp(j.source.path)
	if err != nil {
		return nil, false, j.named(err)
	}
	j.mu.Lock()
	v := j.current
	j.mu.Unlock()
	if v == nil || v.stamp != at {
		if v, err = j.source.open(ctx, wholly); err != nil {
			return nil, false, err
		}
	}
	return v, j.use(v), nil
}

// use puts a version in place of the one before it, and takes it for one more
// user. It tells whether what the version does not have is unknown.
func (j *Joiner) use(v *version) (doubt bool) {
	doubt, news := j.place(v)
	switch {
	case !doubt:
		return false
	case j.record.accepted() == v.identity.String():
		j.believe(v)
		return false
	case news:
		j.log.Warn("a table shrank by so much that what it does not have counts as unknown; if this is right, say so with rondo table accept",
			"joiner", j.name, "path", j.source.path, "rows", v.identity.Rows)
	}
	return true
}

// place makes a version the current one. Until it is believed it is doubted if it
// shrank (KV-55), so that no pass that is completed meanwhile records it.
func (j *Joiner) place(v *version) (doubt, news bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if old := j.current; old != v {
		j.current, v.users = v, 1
		if old != nil {
			j.replaced(old, v)
		}
	}
	v.users++
	doubt = !v.accepted && shrunk(j.before, v.identity.Rows, j.dynamic.Load().MaxShrinkRatio)
	news = doubt && !j.doubt
	j.doubt = doubt
	return doubt, news
}

// believe notes that somebody accepted a version.
func (j *Joiner) believe(v *version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	v.accepted, j.doubt = true, false
}

// replaced tells of a version in place of another, and lets go of that.
func (j *Joiner) replaced(old, v *version) {
	if !old.identity.Same(v.identity) {
		j.replacements.Add(1)
		j.log.Warn("a table was replaced", "joiner", j.name, "path", j.source.path, "before", old.identity.String(), "now", v.identity.String())
	}
	leave(old)
}

// still tells whether the path has the version that was read.
func (j *Joiner) still(ctx context.Context, v *version) (bool, error) {
	now, _, err := j.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer j.release(now)
	return now == v || now.identity.Same(v.identity), nil
}

// hold keeps a version for one more user, who has it already.
func (j *Joiner) hold(v *version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	v.users++
}

// release ends the use of a version.
func (j *Joiner) release(v *version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	leave(v)
}

func leave(v *version) {
	if v.users--; v.users == 0 {
		_ = v.file.Close() // it was read only
	}
}

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
	if j.current == nil || j.doubt {
		return 0, false
	}
	rows = j.current.identity.Rows
	return rows, rows != j.before
}

// Accept makes the version that is at the path now believed, however short it is
// (KV-55). Pipelines that run see it too.
func (j *Joiner) Accept(ctx context.Context) (Identity, error) {
	i, err := j.Check(ctx)
	if err == nil && j.record.dir != "" {
		err = j.record.accept(i)
	}
	return i, err
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
