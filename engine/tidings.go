package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// Talk is how workers tell each other, now and then, what no report says.
type Talk interface {
	// Tell makes every beat carry what say returns then, the first one at once; nil:
	// nothing.
	Tell(say func() []byte)
	// Hear returns what living workers have told last, all as of one moment.
	Hear(ctx context.Context) (*Heard, error)
}

// Heard is what workers have told.
type Heard struct {
	// Now is the moment by the store's clock, unix nanoseconds; the others are those of
	// the view.
	Now                          int64
	Layout, Assignment, Pipeline uint64
	// Told is by worker; nil of those that live and have told nothing.
	Told map[string][]byte
}

// words are what a worker tells: at a moment by the store's clock, the system time that
// none of its later epochs is before and everything before which is committed, and
// which of its partitions are held back; and where it is with the target.
type words struct {
	At       int64               `json:"at"`
	System   int64               `json:"system"`
	Held     []store.PartitionID `json:"held,omitempty"`
	Standing standing            `json:"standing,omitzero"`
}

// talks tells that something depends on what only other workers know.
func (p *plan) talks() bool {
	return slices.ContainsFunc(p.nodes, func(n *node) bool {
		return n.systemTimed() || n.alignment != nil || len(n.idlers()) > 0
	})
}

func (e *environment) say() []byte {
	w := words{At: e.clock.now().Wall, Standing: e.standing()}
	w.System, w.Held = e.exchange.said(e.clock)
	text, err := json.Marshal(w)
	if err != nil {
		return nil // numbers alone: it cannot be
	}
	return text
}

// said is what other workers are to know of this one.
func (x *exchange) said(c clock) (system int64, held []store.PartitionID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	system = c.now().Wall
	for _, at := range x.underway {
		system = min(system, at)
	}
	for _, id := range slices.Sorted(maps.Keys(x.held)) {
		if s := x.held[id]; s.held && s.ours {
			held = append(held, id)
		}
	}
	return system, held
}

// tidings are what other workers have told, and who has the partitions of others. They
// are not changed.
//
// Hazard: what a worker told must not be older than what is believed of who has which
// partition. Owners are read after the words, or nobody has moved since; then what a
// former owner committed is there to be read, and what a new one begins is later than
// its word.
type tidings struct {
	known  time.Duration // the moment
	owners map[store.PartitionID]owner
	told   map[string]told
}

// owner is who has a partition, if anybody, and whether it is Completed: nothing more
// comes of it, whoever has it.
type owner struct {
	worker string
	done   bool
}

func ownersOf(parts []store.Partition) map[store.PartitionID]owner {
	out := make(map[store.PartitionID]owner, len(parts))
	for _, p := range parts {
		out[p.ID] = owner{p.Worker, p.State == store.Completed}
	}
	return out
}

// told is what a worker told: of which moment, by the monotonic clock here.
type told struct {
	known  time.Duration
	system int64
}

// by returns what the owner of a partition has told. Nobody holds back what nobody has,
// and nobody knows when it goes on.
func (t *tidings) by(id store.PartitionID) told {
	o := t.owners[id]
	w, lives := t.told[o.worker]
	switch {
	case o.done:
		return told{t.known, math.MaxInt64}
	case !lives:
		return told{t.known, store.NoTime}
	default:
		return w
	}
}

// of returns the least that the owners of some partitions have told.
func (t *tidings) of(ids []store.PartitionID) (known time.Duration, system int64) {
	if t == nil {
		return 0, store.NoTime
	}
	known, system = math.MaxInt64, math.MaxInt64
	for _, id := range ids {
		w := t.by(id)
		known, system = min(known, w.known), min(system, w.system)
	}
	return known, system
}

// mind is what a job has heard of its producers in other processes.
type mind struct {
	others  [][]store.PartitionID // by input
	tidings *tidings              // that the rest is of
	known   []time.Duration       // by input
	system  []int64
}

// newMind is nil if all producers that still produce are here.
func (e *environment) newMind(n *node) *mind {
	m := &mind{others: make([][]store.PartitionID, len(n.inputs)), known: make([]time.Duration, len(n.inputs)), system: make([]int64, len(n.inputs))}
	any := false
	for i, in := range n.inputs {
		parts := e.plan.node(in.producer).partitions
		for p := range parts {
			if parts[p].State != store.Completed && !e.mine(&parts[p]) {
				m.others[i], any = append(m.others[i], parts[p].ID), true
			}
		}
		m.known[i], m.system[i] = 0, store.NoTime
	}
	if !any {
		return nil
	}
	return m
}

// hear takes in what is new.
func (m *mind) hear(x *exchange) {
	t := x.tidings.Load()
	if t == m.tidings {
		return
	}
	m.tidings = t
	for i, ids := range m.others {
		m.known[i], m.system[i] = t.of(ids)
	}
}

// bound bounds system times by what others have told.
func (m *mind) bound(times []int64) {
	for i, ids := range m.others {
		if len(ids) > 0 {
			times[i] = min(times[i], m.system[i])
		}
	}
}

// upTo tells for each input up to when it is known who is held back.
func (m *mind) upTo(now time.Duration) []time.Duration {
	out := slices.Repeat([]time.Duration{now}, len(m.others))
	for i, ids := range m.others {
		if len(ids) > 0 {
			out[i] = min(now, m.known[i])
		}
	}
	return out
}

// ask hears what others have told. What it returns may be believed after everything that
// was committed by now is read.
func (g *gossip) ask(ctx context.Context) (*tidings, []store.PartitionID, error) {
	h, err := g.env.member.Hear(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("hear other workers: %w", err)
	}
	if g.owners == nil || h.Assignment != g.assignment {
		parts, err := g.env.store.Partitions(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("read partitions: %w", err)
		}
		g.owners, g.assignment = ownersOf(parts), h.Assignment
	}
	now := g.env.clock.now()
	t := &tidings{known: momentOf(h.Now, now), owners: g.owners, told: map[string]told{}}
	var held []store.PartitionID
	for worker, text := range h.Told {
		if len(text) == 0 {
			t.told[worker] = told{0, store.NoTime} // it may begin at any moment
			continue
		}
		var w words
		if err := json.Unmarshal(text, &w); err != nil {
			return nil, nil, fmt.Errorf("worker %s tells %q: %w", worker, text, err)
		}
		t.told[worker] = told{momentOf(w.At, now), w.System}
		held = append(held, w.Held...)
	}
	slices.Sort(held)
	return t, held, nil
}

// momentOf is a moment of the store's clock by the monotonic clock.
func momentOf(at int64, now visit.Instant) time.Duration {
	return max(now.Mono-time.Duration(max(now.Wall-at, 0)), 1)
}

// believe makes what others told known to the jobs here.
func (g *gossip) believe(t *tidings, held []store.PartitionID) {
	for id, f := range g.foreign {
		_, f.held = slices.BinarySearch(held, id)
		f.known = max(f.known, t.by(id).known)
		g.env.exchange.holdBack(id, f.known, f.held, false)
		g.align(id, f)
	}
	g.env.exchange.tidings.Store(t)
	g.env.exchange.wakeAll()
}
