package bench

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/store"
)

// The size of the cluster that is simulated.
const (
	simWorkers    = 1000
	simPartitions = 100_000
	simLost       = simWorkers / 10
)

// control is the part of a store that control needs, without the rest: all in memory,
// one answer at a time. It counts the statements that each operation sends to
// PostgreSQL, and the rows that come back.
type control struct {
	store.Store // nil: nothing else is asked for

	mu         sync.Mutex
	parts      []store.Partition
	workers    map[string]*store.Worker
	seen       map[string]time.Time
	lease      store.Lease
	until      time.Time
	assignment uint64
	statements map[string]int
	rows       int
	orphans    int       // partitions whose owner is lost or that have none
	settled    time.Time // when there was none any more
	lost       map[string]bool
}

// count notes an operation of some statements, with BEGIN and COMMIT.
func (c *control) count(op string, statements, rows int) {
	c.statements[op] += statements + 2
	c.rows += rows
}

func (c *control) Beat(_ context.Context, b *store.Beat) (*store.View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if c.workers[b.Worker.ID] == nil {
		w := b.Worker
		c.workers[w.ID] = &w
	}
	c.seen[b.Worker.ID] = now
	if c.lease.Holder != b.Worker.ID && c.until.Before(now) {
		c.lease = store.Lease{Holder: b.Worker.ID, Term: c.lease.Term + 1}
	}
	v := c.view(now)
	if c.lease.Holder != b.Worker.ID {
		c.count("beat", 3, 1)
		return v, nil
	}
	c.until = now.Add(b.Lease)
	c.count("beat of the controller", 4, 1+len(c.workers))
	v.Workers = c.all(now)
	return v, nil
}

func (c *control) View(context.Context) (*store.View, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count("view", 2, 1+len(c.workers))
	v := c.view(time.Now())
	v.Workers = c.all(time.Now())
	return v, nil
}

func (c *control) view(now time.Time) *store.View {
	return &store.View{Now: now.UnixNano(), Lease: c.lease, Layout: simPartitions, Assignment: c.assignment, Pipeline: 1, Unfinished: 1}
}

func (c *control) all(now time.Time) []store.Worker {
	out := make([]store.Worker, 0, len(c.workers))
	for id, w := range c.workers {
		o := *w
		o.Unseen = now.Sub(c.seen[id])
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b store.Worker) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (c *control) Partitions(context.Context) ([]store.Partition, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count("partitions", 1, len(c.parts))
	return slices.Clone(c.parts), nil
}

func (c *control) Assign(_ context.Context, _ uint64, moves []store.Move) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count("assign", 5, len(moves))
	for _, m := range moves {
		p := &c.parts[m.Partition-1]
		if p.Worker != m.From {
			return fmt.Errorf("partition %d: %w", p.ID, store.ErrConflict)
		}
		c.own(p, m.To)
	}
	c.assignment++
	return nil
}

// own gives a partition an owner and keeps count of those without a living one.
func (c *control) own(p *store.Partition, worker string) {
	dead := func(w string) bool { return w == "" || c.lost[w] }
	if dead(p.Worker) {
		c.orphans--
	}
	if p.Worker = worker; dead(worker) {
		c.orphans++
	}
	if c.orphans == 0 {
		c.settled = time.Now()
	}
}

func (c *control) Bury(_ context.Context, _ uint64, workers []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(workers)
	return nil
}

func (c *control) Leave(_ context.Context, worker string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget([]string{worker})
	return nil
}

func (c *control) forget(workers []string) {
	c.count("bury", 5, 0)
	for _, w := range workers {
		delete(c.workers, w)
	}
	for i := range c.parts {
		if p := &c.parts[i]; p.Worker != "" && slices.Contains(workers, p.Worker) {
			c.own(p, "")
			c.rows++
		}
	}
	c.assignment++
}

func (c *control) Submit(context.Context, *store.Pipeline, []store.Partition) error { return nil }

// lose makes workers lost: what they have is orphaned from now on.
func (c *control) lose(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statements, c.rows = map[string]int{}, 0
	for _, id := range ids {
		c.lost[id] = true
	}
	for i := range c.parts {
		if c.lost[c.parts[i].Worker] {
			c.orphans++
		}
	}
}

// TestAThousandWorkersAndAHundredThousandPartitions simulates the control of a large
// cluster in virtual time: the real members, on a store that only counts. It tells the
// statements a second that the database gets, and how soon everything has a living
// owner after a tenth of the workers is lost at once, the controller among them.
func TestAThousandWorkersAndAHundredThousandPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &control{workers: map[string]*store.Worker{}, seen: map[string]time.Time{}, statements: map[string]int{}, lost: map[string]bool{}}
		for i := range simPartitions {
			c.parts = append(c.parts, store.Partition{ID: store.PartitionID(i + 1), Computation: fmt.Sprint("c", i%5), State: store.Executing})
		}
		c.orphans = simPartitions
		var running sync.WaitGroup
		stop := map[string]context.CancelFunc{}
		var ids []string
		for i := range simWorkers {
			id := fmt.Sprintf("w%03d", i)
			m, err := cluster.New(t.Context(), &silenced{c, id}, cluster.Options{Worker: id, Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				err = m.Join(t.Context(), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			stop[id], ids = cancel, append(ids, id)
			running.Go(func() { _ = m.Live(ctx, func(string) string { return "" }) }) // whoever is lost cannot leave
			wait(time.Millisecond)
		}
		wait(time.Minute)
		synctest.Wait()
		if c.orphans != 0 {
			t.Fatalf("%d partitions have no owner", c.orphans)
		}

		c.lose(nil)
		wait(time.Minute)
		synctest.Wait()
		t.Logf("at rest: %s", c.told(time.Minute))
		steady := c.total()

		began := time.Now()
		c.lose(ids[:simLost]) // the first is controller
		for _, id := range ids[:simLost] {
			stop[id]()
		}
		wait(time.Minute)
		synctest.Wait()
		took := c.settled.Sub(began)
		t.Logf("after %d workers were lost: everything has a living owner %s later; %s", simLost, took, c.told(time.Minute))
		if c.orphans != 0 || took > 2*cluster.DefaultLease+cluster.DefaultLease/2 {
			t.Errorf("%d partitions have no living owner, the others got theirs after %s", c.orphans, took)
		}
		if perSecond := steady / 60; perSecond > 3000 {
			t.Errorf("%d statements a second at rest", perSecond)
		}
		for _, cancel := range stop {
			cancel()
		}
		running.Wait()
	})
}

func (c *control) total() (n int) {
	for _, s := range c.statements {
		n += s
	}
	return n
}

func (c *control) told(over time.Duration) string {
	return fmt.Sprintf("%d statements and %d rows a second, of which %v in all", c.total()/int(over.Seconds()), c.rows/int(over.Seconds()), c.statements)
}

// silenced is a worker's way to the store: nothing comes through from one that is lost.
type silenced struct {
	*control
	id string
}

func (s *silenced) gone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost[s.id] {
		return fmt.Errorf("%s is lost: %w", s.id, store.ErrUnavailable)
	}
	return nil
}

func (s *silenced) Beat(ctx context.Context, b *store.Beat) (*store.View, error) {
	if err := s.gone(); err != nil {
		return nil, err
	}
	return s.control.Beat(ctx, b)
}

func (s *silenced) Leave(ctx context.Context, worker string) error {
	if err := s.gone(); err != nil {
		return err
	}
	return s.control.Leave(ctx, worker)
}
