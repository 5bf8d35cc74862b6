package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// The target of a pipeline that workers run is stored with its spec, so that it
// outlives everybody (store.Target). Each worker follows it: jobs that work begin to
// drain at once; whatever else changes ends their round, and the next one goes by the
// new target. The beats tell what a worker goes by, and whether it is done with that;
// of a drain that is, the leader stores that it is over.

// turn tells what jobs that were started under one target do about another: end, or
// drain.
func turn(began, now store.Target) (end, drain bool) {
	drain = began == store.ToWork && now == store.ToDrain
	return began != now && !drain, drain
}

// runs tells whether there are jobs under a target.
func runs(t store.Target) bool { return t == store.ToWork || t == store.ToDrain }

// standing is where a worker is with the target: what it goes by, and that it runs no
// jobs, or that they drain and none has anything left to do.
type standing struct {
	Pipeline   uint64 `json:"pipeline,omitempty"`
	Layout     uint64 `json:"layout,omitempty"`
	Assignment uint64 `json:"assignment,omitempty"`
	Idle       bool   `json:"idle,omitempty"`
	Drained    bool   `json:"drained,omitempty"`
}

// standingOf reads what a worker told of it; none if it told nothing.
func standingOf(said []byte) standing {
	var w words
	if json.Unmarshal(said, &w) != nil {
		return standing{}
	}
	return w.Standing
}

// Idle tells whether a worker that said this runs no jobs, and none before the pipeline
// has another target; p is as it is stored.
func Idle(said []byte, p *store.Pipeline) bool {
	s := standingOf(said)
	return s.Idle && s.Pipeline >= p.Aimed
}

// Fresh is what a worker says before Run: it runs no jobs. The version is that of a
// pipeline as it was stored before; what Run goes by is no older.
func Fresh(version uint64) []byte {
	text, err := json.Marshal(words{System: store.NoTime, Standing: standing{Pipeline: version, Idle: true}})
	if err != nil {
		return nil // numbers alone: it cannot be
	}
	return text
}

// allDrained tells whether nothing is in flight anywhere: all workers drain, none has
// anything left to do, and each partition that is not completed has one of them. It
// stays so, whoever dies: sources take nothing, and what was in flight is consumed in
// commits.
func allDrained(h *Heard, parts []store.Partition) bool {
	want := standing{h.Pipeline, h.Layout, h.Assignment, false, true}
	for _, said := range h.Told {
		if standingOf(said) != want {
			return false
		}
	}
	return !slices.ContainsFunc(parts, func(p store.Partition) bool {
		_, lives := h.Told[p.Worker]
		return p.State != store.Completed && !lives
	})
}

// stint is a round of a worker: what it was begun under, which partitions it has,
// and what of the cluster it takes into account.
type stint struct {
	target store.Target
	mine   []*board
	known  standing
}

// beginStint begins a round with the target in force.
func (e *environment) beginStint(parts []store.Partition) store.Target {
	if e.member == nil {
		return store.ToWork
	}
	s := stint{target: e.orders.Load().target}
	e.draining.Store(s.target == store.ToDrain)
	for i := range parts {
		if b := e.board(parts[i].ID); e.mine(&parts[i]) && parts[i].State != store.Completed {
			b.setDrained(false)
			s.mine = append(s.mine, b)
		}
	}
	e.mu.Lock()
	former := e.stint.target
	e.stint = s
	e.mu.Unlock()
	if text := aims[s.target]; former != s.target {
		e.log.Info(text)
	}
	return s.target
}

var aims = [...]string{
	store.ToWork: "the pipeline works again", store.ToPause: "the pipeline is paused, waiting until it is started",
	store.ToDrain: "the pipeline drains", store.ToRest: "the pipeline is stopped, waiting until it is started",
}

// heed follows the target; true if the round has to end for it.
func (e *environment) heed() bool {
	now := e.orders.Load().target
	e.mu.Lock()
	end, drain := turn(e.stint.target, now)
	e.mu.Unlock()
	if drain && !e.draining.Swap(true) {
		e.log.Info(aims[now])
		e.exchange.wakeAll()
	}
	return end
}

// goBy notes what of the cluster the round takes into account, and tells the others if
// they wait for that.
func (e *environment) goBy(v *store.View) {
	known := standing{Pipeline: v.Pipeline, Layout: v.Layout, Assignment: v.Assignment}
	e.mu.Lock()
	news := e.stint.known != known
	e.stint.known = known
	e.mu.Unlock()
	if news && e.orders.Load().target != store.ToWork {
		e.member.Tell(e.say)
	}
}

func (e *environment) standing() standing {
	e.mu.Lock()
	s := e.stint
	e.mu.Unlock()
	out := s.known
	out.Idle = !runs(s.target)
	out.Drained = e.draining.Load() && !out.Idle && allQuiet(s.mine)
	return out
}

func allQuiet(boards []*board) bool {
	return !slices.ContainsFunc(boards, func(b *board) bool { return !b.quiet() })
}

// settleEvery is how often the leader looks whether a drain is over.
const settleEvery = 200 * time.Millisecond

// settle has the leader store that a drain is over, until the round ends.
func (e *environment) settle(ctx context.Context) error {
	ticker := time.NewTicker(settleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.halt.Load().done:
			return nil
		case <-ticker.C:
		}
		if !e.draining.Load() || !e.leads() {
			continue
		}
		switch err := e.settleNow(ctx); {
		case err == nil, ctx.Err() != nil, errors.Is(err, store.ErrConflict): // looked at again
		default:
			e.log.Warn("it cannot be found out whether the drain is over, trying again", "error", err)
		}
	}
}

func (e *environment) settleNow(ctx context.Context) error {
	h, err := e.member.Hear(ctx)
	if err != nil || !allDrained(h, nil) {
		return err
	}
	parts, err := e.store.Partitions(ctx)
	if err != nil || !allDrained(h, parts) {
		return err
	}
	stored, err := e.store.Pipeline(ctx)
	if err != nil || stored == nil || stored.Version != h.Pipeline || stored.Target != store.ToDrain {
		return err
	}
	next := stored.Clone()
	next.Aim(store.ToRest)
	return e.store.SavePipeline(ctx, next)
}
