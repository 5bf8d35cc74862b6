package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// relayouter gives a computation other numbers of partitions while the job runs.
type relayouter struct {
	of      string
	layouts []int
	every   int64 // commits between two of them
	atFinal bool
	commits atomic.Int64
	turn    chan struct{} // capacity 1
}

func newRelayouter(o orders) *relayouter {
	return &relayouter{of: cmp.Or(o.Relaid, "routes"), layouts: o.Layouts, every: int64(o.Every), atFinal: o.AtFinal, turn: make(chan struct{}, 1)}
}

// committed counts the commits of the computation.
func (r *relayouter) committed(kind store.Kind) {
	if kind == store.RangePartition && r.every > 0 && r.commits.Add(1)%r.every == 0 {
		r.wake()
	}
}

func (r *relayouter) wake() {
	select {
	case r.turn <- struct{}{}:
	default:
	}
}

// run asks for one layout after the other. What comes too late is refused, and
// ends it.
func (r *relayouter) run(ctx context.Context, p *engine.Pipeline, say func(string, ...any)) error {
	for _, n := range r.layouts {
		select {
		case <-ctx.Done():
			return nil
		case <-r.turn:
		}
		err := p.Repartition(ctx, r.of, n)
		switch {
		case err == nil:
			say("layout of %d", n)
		case ctx.Err() != nil, errors.Is(err, engine.ErrNotRunning), strings.Contains(err.Error(), r.of+" has completed"):
			return nil
		default:
			fmt.Fprintln(os.Stderr, err) // a complaint
			return err
		}
	}
	return nil
}

// relaid are the layouts that a job goes through, over and over.
func relaid() []int {
	var out []int
	for range 50 {
		out = append(out, 8, 2, 16, 3)
	}
	return out
}

func TestFiguresAreExactThroughRepartitioning(t *testing.T) {
	t.Parallel()
	j := newJob(t, seed(), shape{moving: true})
	p, changes := j.start(orders{Layouts: relaid(), Every: 12, Stall: true}), 0
	for line, more := p.next(); more; line, more = p.next() {
		if !strings.HasPrefix(line, "layout of ") {
			continue
		}
		if changes++; changes == 8 {
			p.release()
		}
	}
	j.check(p.finish())
}

func TestFiguresAreExactThroughRandomKillsWhilePartitionsAreReplaced(t *testing.T) {
	t.Parallel()
	killOften(t, func(t *testing.T, seed uint64) *job { return newJob(t, seed, shape{moving: true}) }, orders{Layouts: relaid(), Every: 12})
}

// TestARepartitionAskedForDuringTheFinalPassChangesNothing: it waits, and is void
// when all have completed (KV-15).
func TestARepartitionAskedForDuringTheFinalPassChangesNothing(t *testing.T) {
	t.Parallel()
	j := newJob(t, seed(), shape{rows: 200})
	p := j.start(orders{Layouts: []int{8}, AtFinal: true})
	for line, more := p.next(); more; line, more = p.next() {
		if strings.HasPrefix(line, "layout of ") {
			t.Error("the partitions were replaced")
		}
	}
	j.check(p.finish())
}
