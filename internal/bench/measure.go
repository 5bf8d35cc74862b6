package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// Config says what is measured.
type Config struct {
	// Partitions is the number of partitions that count, Keys that of different
	// keys, Count that of messages or visits.
	Partitions, Keys, Count int
	// Dir is where the stores are made, in folders of their own.
	Dir string
	// Open makes a store by its name instead, if it is not nil.
	Open func(name string) (store.Store, error)
	// Update: visits write the state of their key; else they do nothing.
	Update bool
	// Progress is told now and then what is going on and which part of it is done,
	// 0 to 1. It may be nil.
	Progress func(stage string, done float64)
}

// sources is the number of the source's partitions.
const sources = 4

// batch is the number of messages or visits in an epoch.
const batch = 1000

// Result is how long a pipeline and its floor took for the same work.
type Result struct {
	Count           int
	Pipeline, Floor time.Duration
}

// Rate is the pipeline's, per second.
func (r *Result) Rate() float64 { return float64(r.Count) / r.Pipeline.Seconds() }

// FloorRate is the floor's, per second.
func (r *Result) FloorRate() float64 { return float64(r.Count) / r.Floor.Seconds() }

// OfFloor is what part of the floor's rate the pipeline reaches.
func (r *Result) OfFloor() float64 { return r.Floor.Seconds() / r.Pipeline.Seconds() }

// Add joins the results of two runs.
func (r *Result) Add(o *Result) {
	r.Count += o.Count
	r.Pipeline += o.Pipeline
	r.Floor += o.Floor
}

// Check says what is wrong with the numbers.
func (c *Config) Check() error {
	switch {
	case c.Partitions < 1 || c.Partitions > 10_000:
		return fmt.Errorf("%d partitions: want 1 to 10000", c.Partitions)
	case c.Keys < c.Partitions:
		return fmt.Errorf("%d keys: want one at least for each of the %d partitions", c.Keys, c.Partitions)
	case c.Count < 1:
		return fmt.Errorf("a count of %d: want 1 at least", c.Count)
	default:
		return nil
	}
}

// Messages measures counting messages by key, over two hops: source to inbox,
// inbox to state.
func Messages(ctx context.Context, c Config) (*Result, error) {
	r := &Result{Count: c.Count}
	var err error
	if r.Pipeline, err = c.messages(ctx); err != nil {
		return nil, err
	}
	r.Floor, err = c.floor(ctx, (*Floor).Messages)
	return r, err
}

// Visits measures visiting keys.
func Visits(ctx context.Context, c Config) (*Result, error) {
	r := &Result{Count: c.Count}
	var err error
	if r.Pipeline, err = c.visits(ctx); err != nil {
		return nil, err
	}
	visits := (*Floor).Visits
	if c.Update {
		visits = (*Floor).Updates
	}
	r.Floor, err = c.floor(ctx, visits)
	return r, err
}

// in runs f with a store of its own.
func (c *Config) in(name string, f func(store.Store) error) error {
	s, err := c.open(name)
	if err != nil {
		return err
	}
	return errors.Join(f(s), s.Close())
}

func (c *Config) open(name string) (store.Store, error) {
	if c.Open != nil {
		return c.Open(name)
	}
	s, err := pebblestore.Open(filepath.Join(c.Dir, name), pebblestore.Options{})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Config) progress(stage string, done float64) {
	if c.Progress != nil {
		c.Progress(stage, min(done, 1))
	}
}

// floor fills a store with the keys and measures work on it.
func (c *Config) floor(ctx context.Context, work func(*Floor, context.Context, int) (time.Duration, error)) (d time.Duration, err error) {
	err = c.in("floor", func(s store.Store) error {
		f, err := NewFloor(ctx, s, c.Partitions, batch, c.Keys)
		if err != nil {
			return err
		}
		if err := f.Fill(ctx); err != nil {
			return err
		}
		f.Progress = func(done float64) { c.progress("floor", done) }
		d, err = work(f, ctx, c.Count)
		return err
	})
	return d, err
}

// messages runs the pipeline to its end.
func (c *Config) messages(ctx context.Context) (d time.Duration, err error) {
	p, err := Setup{Counters: c.Partitions, Sources: sources, Keys: c.Keys, Messages: c.Count}.Pipeline(ctx)
	if err != nil {
		return 0, err
	}
	err = c.in("pipeline", func(s store.Store) error {
		r := start(ctx, p, s)
		r.until(func(s *engine.Status) bool {
			c.progress("pipeline", float64(s.Messages)/float64(c.Count))
			return false
		})
		if r.err == nil && r.summary.Messages != uint64(c.Count) {
			return fmt.Errorf("%d messages, want %d", r.summary.Messages, c.Count)
		}
		if r.err == nil {
			d = r.summary.Elapsed
		}
		return r.err
	})
	return d, err
}

// visits runs the pipeline until its keys are there, and then measures how long
// the visits take.
func (c *Config) visits(ctx context.Context) (d time.Duration, err error) {
	p, err := Setup{
		Counters: c.Partitions, Sources: sources, Keys: c.Keys, Messages: c.Keys, Period: "1ms", Endless: true, Update: c.Update,
	}.Pipeline(ctx)
	if err != nil {
		return 0, err
	}
	err = c.in("pipeline", func(s store.Store) error {
		r := start(ctx, p, s)
		before, began := r.until(func(s *engine.Status) bool {
			n := consumed(s)
			c.progress("filling", float64(n)/float64(c.Keys))
			return n == uint64(c.Keys)
		})
		after, end := r.until(func(s *engine.Status) bool {
			n := s.Visits - before
			c.progress("pipeline", float64(n)/float64(c.Count))
			return n >= uint64(c.Count)
		})
		if r.ended {
			return errors.Join(errors.New("the pipeline ended early"), r.err)
		}
		p.Pause()
		r.until(func(*engine.Status) bool { return false })
		d = time.Duration(float64(end.Sub(began)) * float64(c.Count) / float64(after-before))
		return r.err
	})
	return d, err
}

// consumed is how many messages the counters have taken.
func consumed(s *engine.Status) uint64 {
	var taken uint64
	for _, p := range s.Partitions {
		if p.Kind == store.RangePartition {
			taken += p.Totals.Messages
		}
	}
	return taken
}
