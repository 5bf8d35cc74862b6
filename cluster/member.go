package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// Store is a store that several processes may open at once.
type Store interface {
	store.Store
	store.Cluster
}

// Options say how a process takes part.
type Options struct {
	// Worker is the id of this process, which no other ever had; see NewID.
	Worker string
	// Group is the worker_group whose computations it runs.
	Group string
	// Lease is how long a silent worker is taken for alive, and a silent
	// controller for the one in charge; DefaultLease for 0. A worker beats five
	// times as often.
	Lease time.Duration
	Log   *slog.Logger
}

// DefaultLease survives a database that takes a few seconds to fail over.
const DefaultLease = 10 * time.Second

// wrongClock is how far a machine's clock may be from the store's before it is
// told of. Nothing depends on it: workers go by the store's.
const wrongClock = time.Minute

// Info is what a worker tells about itself.
type Info struct {
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Wall is its own clock, unix nanoseconds.
	Wall int64 `json:"wall"`
	// Lease is how long it may be silent, and how long it lets others be.
	Lease time.Duration `json:"lease,omitempty"`
	// Lacks is what it cannot run.
	Lacks []engine.Lack `json:"lacks,omitempty"`
	// Said is what it has to tell the others about its work.
	Said json.RawMessage `json:"said,omitempty"`
}

// InfoOf reads what a worker tells about itself. One of another version may tell what
// cannot be read, which is an error.
func InfoOf(w *store.Worker) (i Info, err error) {
	if err := json.Unmarshal(w.Info, &i); err != nil {
		return Info{}, fmt.Errorf("what worker %s tells of itself cannot be read: %w", w.ID, err)
	}
	return i, nil
}

// Member is a process's place in a cluster. It implements engine.Membership.
type Member struct {
	o     Options
	store Store

	mu      sync.Mutex
	info    Info
	before  uint64                          // the pipeline's version when it was made
	groupOf func(computation string) string // once it runs
	view    *store.View
	changed chan struct{}
	heard   instant // when the view came
	steady  instant // since when beats have come without a gap
	say     func() []byte
	wrong   bool // the machine's clock, as was reported

	control chan struct{} // capacity 1: there may be something to decide
	news    chan struct{} // capacity 1: there is something to tell
	decided decided       // of the goroutine that governs
}

// Build names what workers have to agree on: how they share a store. Versions of
// the program that have it in common may run side by side.
const Build = "rondo cluster 3"

// ErrBuild tells that the workers of a cluster share the store in another way.
var ErrBuild = errors.New("the other workers are of a version that this one cannot work with")

// ErrLease tells that workers of a cluster have leases of other lengths: those with
// short ones would take those with long ones for dead between two beats.
var ErrLease = errors.New("the other workers have a lease of another length")

// New makes the place of this process, which Join takes. It fails with ErrLease or
// ErrBuild if other workers that live have another lease, or are of another build.
func New(ctx context.Context, s Store, o Options) (*Member, error) {
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	m := &Member{
		o: o, store: s, info: thisProcess(), changed: make(chan struct{}),
		control: make(chan struct{}, 1), news: make(chan struct{}, 1),
	}
	before, err := s.View(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the cluster: %w", err)
	}
	m.info.Lease, m.before = o.Lease, before.Pipeline
	for _, w := range before.Workers {
		info, err := InfoOf(&w)
		if err != nil || info.Lease == 0 {
			info.Lease = o.Lease
		}
		switch {
		case w.Unseen > info.Lease: // it is gone
		case w.Build != Build:
			return nil, fmt.Errorf("%w: worker %s is %q, this one is %q: stop those first, or start their version", ErrBuild, w.ID, w.Build, Build)
		case info.Lease != o.Lease:
			return nil, fmt.Errorf("%w: that of worker %s on host %s is %s, that of this one is %s: give it the same (--lease), or end those first", ErrLease, w.ID, info.Host, info.Lease, o.Lease)
		}
	}
	return m, nil
}

// Join tells the cluster of this process, and of what it cannot run.
func (m *Member) Join(ctx context.Context, lacks []engine.Lack) error {
	m.Lacks(lacks)
	return m.beat(ctx)
}

// Lacks tells the others soon what this process cannot run.
func (m *Member) Lacks(what []engine.Lack) {
	m.mu.Lock()
	same := slices.Equal(m.info.Lacks, what)
	m.info.Lacks = what
	m.mu.Unlock()
	if same {
		return
	}
	for _, l := range what {
		m.o.Log.Warn("left to workers that can run it", "computation", l.Computation, "partition", l.Partition, "reason", l.Why)
	}
	m.hurry()
}

// Worker is the id under which partitions are assigned to the process.
func (m *Member) Worker() string { return m.o.Worker }

// View returns what was known at the last beat, and a channel that is closed at
// the next one that brings something new.
func (m *Member) View() (*store.View, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.view, m.changed
}

// Now is the time by the store's clock: its last answer, and the time since then
// by the monotonic clock.
func (m *Member) Now() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.view.Now + int64(m.heard.since())
}

// Tell makes beats carry what say returns, the first one at once.
func (m *Member) Tell(say func() []byte) {
	m.mu.Lock()
	m.say = say
	m.mu.Unlock()
	m.hurry()
}

// hurry makes the next beat come at once.
func (m *Member) hurry() {
	select {
	case m.news <- struct{}{}:
	default:
	}
}

// said is what the next beat tells. Whoever says it may ask for the time.
func (m *Member) said() []byte {
	m.mu.Lock()
	say := m.say
	m.mu.Unlock()
	if say == nil {
		return engine.Fresh(m.before)
	}
	return say()
}

// Hear reads what the workers have told with their last beats.
func (m *Member) Hear(ctx context.Context) (*engine.Heard, error) {
	v, err := m.store.View(ctx)
	if err != nil {
		return nil, err
	}
	h := &engine.Heard{Now: v.Now, Layout: v.Layout, Assignment: v.Assignment, Pipeline: v.Pipeline, Told: map[string][]byte{}}
	for _, w := range v.Workers {
		info, err := InfoOf(&w)
		if err != nil {
			return nil, err
		}
		h.Told[w.ID] = info.Said
	}
	return h, nil
}

// Live beats, and controls while the process holds the lease, until ctx ends. Then
// it leaves: its partitions are free for others at once. A store that does not
// answer is asked again. groupOf tells the worker_group of a computation.
func (m *Member) Live(ctx context.Context, groupOf func(computation string) string) error {
	m.mu.Lock()
	m.groupOf = groupOf
	m.mu.Unlock()
	var controller sync.WaitGroup
	controller.Go(func() { m.govern(ctx, groupOf) })
	ticker := time.NewTicker(m.o.Lease / 5)
	defer ticker.Stop()
	for unheard := false; ctx.Err() == nil; {
		select {
		case <-ctx.Done():
			continue
		case <-ticker.C:
		case <-m.news:
		}
		err := m.beat(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && !unheard: // one line for each outage
			m.o.Log.Warn("the cluster cannot be told that this worker lives, trying again and again", "error", err)
		case err == nil && unheard:
			m.o.Log.Info("the cluster hears of this worker again")
		}
		unheard = err != nil
	}
	controller.Wait()
	return m.Leave(ctx)
}

// Leave gives back what the process has. Work does it at its end.
func (m *Member) Leave(ctx context.Context) error {
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.o.Lease)
	defer cancel()
	if err := m.store.Leave(leave, m.o.Worker); err != nil {
		return fmt.Errorf("leave the cluster: others find out after %s: %w", m.o.Lease, err)
	}
	return nil
}

// beat is one sign of life.
func (m *Member) beat(ctx context.Context) error {
	sent := now()
	info, err := m.card(sent, m.said())
	if err != nil {
		return err
	}
	b := store.Beat{Worker: store.Worker{ID: m.o.Worker, Group: m.o.Group, Build: Build, Info: info}, Lease: m.o.Lease}
	v, err := m.store.Beat(ctx, &b)
	if err != nil {
		return err
	}
	m.take(v, sent)
	return nil
}

// card is what the process tells about itself.
func (m *Member) card(at instant, said []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info.Wall, m.info.Said = at.wall(), said
	return json.Marshal(m.info)
}

// take keeps what a beat has brought. The store's clock was read between sent and
// now; the middle is never far off, and time does not go back for it.
func (m *Member) take(v *store.View, sent instant) {
	came := now()
	took := sent.since()
	m.mu.Lock()
	before := m.view
	v.Now += int64(took / 2)
	if before != nil {
		v.Now = max(v.Now, before.Now+int64(m.heard.since()))
	}
	if before == nil || m.heard.since() > m.o.Lease/2 {
		m.steady = came
	}
	m.view, m.heard = v, came
	wall := m.info.Wall
	if before == nil || news(before, v) {
		close(m.changed)
		m.changed = make(chan struct{})
	}
	m.mu.Unlock()
	m.judgeClock(time.Duration(wall-v.Now)+took, took)
	select {
	case m.control <- struct{}{}:
	default:
	}
}

// judgeClock reports a machine's clock that is wrong, once, by how much it is off and
// how uncertain that is.
func (m *Member) judgeClock(off, within time.Duration) {
	m.mu.Lock()
	was := m.wrong
	m.wrong = off.Abs() > wrongClock+within
	is := m.wrong
	m.mu.Unlock()
	switch {
	case is && !was:
		m.o.Log.Warn("the clock of this machine is wrong, that of the database is used", "off_by", off.Round(time.Second))
	case was && !is:
		m.o.Log.Info("the clock of this machine is right again")
	}
}

// news tells whether a view says what the one before does not.
func news(a, b *store.View) bool {
	return a.Lease != b.Lease || a.Layout != b.Layout || a.Assignment != b.Assignment || a.Pipeline != b.Pipeline ||
		(a.Unfinished == 0) != (b.Unfinished == 0)
}
