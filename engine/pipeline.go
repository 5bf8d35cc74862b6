package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"golang.org/x/sync/errgroup"
)

// Options are what a pipeline is made of.
type Options struct {
	// Spec is the pipeline's spec. If it has problems, Prepare tells them with its
	// own, as far as it understands it.
	Spec *spec.Spec
	// Functions and Connectors give meaning to the names in the spec; nil ones
	// are empty.
	Functions  *flow.Registry
	Connectors *connector.Registry
	// SpecDir is the folder that source paths are relative to, DataDir the one
	// that sink paths are relative to.
	SpecDir, DataDir string
	// Log takes what happens, such as jobs that fail and start again; the default
	// is slog's.
	Log *slog.Logger
	// VisitBuffer is the most bytes of prefetched state that the buffers of all
	// visit streams hold together, 0 for DefaultVisitBuffer. A stream that has
	// nothing else may exceed it by one key, so that none stands still.
	VisitBuffer int
	// Version, if it is not 0, is the version of the stored spec that the run is to go
	// on from: it fails with ErrVersion and changes nothing if there is another one.
	Version uint64
	// Cores decides how many partitions a computation gets that does not say;
	// the default is what the process may use.
	Cores int
	// Member is the place of this process among others that run the same pipeline
	// from the same store; nil if it runs all of it.
	Member Membership
}

// Pipeline is a checked pipeline, ready to run.
type Pipeline struct {
	opts Options
	plan *plan
	log  *slog.Logger
	// clock is that of the run.
	clock clock
	// begun is closed when Run has something to show.
	begun chan struct{}

	mu  sync.Mutex
	env *environment // while running
	// stop and pause remember what was asked for before Run.
	stop, pause bool
}

// ErrInput marks the problems of Prepare that are no fault of the spec: what a
// source is to read is not there, or cannot be read.
var ErrInput = errors.New("the input cannot be read")

// Prepare checks everything that can be checked without changing anything: that
// functions, sources and sinks exist and accept their parameters, and that the
// data to read is there. All problems are reported together.
func Prepare(ctx context.Context, o Options) (*Pipeline, error) {
	if o.Spec == nil {
		return nil, errors.New("there is no spec to prepare: set Options.Spec")
	}
	if o.Functions == nil {
		o.Functions = &flow.Registry{}
	}
	if o.Connectors == nil {
		o.Connectors = &connector.Registry{}
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.VisitBuffer == 0 {
		o.VisitBuffer = DefaultVisitBuffer
	}
	if o.Cores == 0 {
		o.Cores = runtime.GOMAXPROCS(0)
	}
	p, err := newPlan(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Pipeline{opts: o, plan: p, log: o.Log, clock: newClock(), begun: make(chan struct{})}, nil
}

// environment is what the jobs of a run share.
type environment struct {
	store    store.Store
	plan     *plan
	clock    clock
	member   Membership // nil: this process runs everything
	exchange *exchange
	log      *slog.Logger
	before   *Summary // of former runs
	orders   atomic.Pointer[orders]
	buffers  *visitBudget
	reports  *reportReads
	over     atomic.Bool // Run has returned, or is about to
	// pausing: stop at the next epoch bound. draining: take no new source input,
	// finish what is in flight, then stop. halt ends a round, with pausing or when
	// partitions are replaced.
	pausing, draining atomic.Bool
	halt              atomic.Pointer[halt]
	wishes            *wishes
	alignments        atomic.Pointer[alignments]
	timerCount        timerCount

	mu     sync.Mutex // boards, notes and stint
	boards map[store.PartitionID]*board
	notes  map[string]string // by computation: what its repartition waits for

	lacks  []Lack // what this worker told that it cannot run
	scales scales

	ordered chan struct{} // capacity 1: there are new orders
	stint   stint         // under mu; of workers
}

// Run works until the pipeline is completed, stopped or paused, and returns what
// the whole job came to, former runs included. It may be called once.
func (p *Pipeline) Run(ctx context.Context, s store.Store) (*Summary, error) {
	if s == nil {
		return nil, errors.New("there is no store to run on: open one, such as a pebblestore")
	}
	if err := p.enter(ctx, s); err != nil {
		return nil, err
	}
	env, err := p.newEnvironment(ctx, s)
	if err != nil {
		return nil, err
	}
	parts, err := env.arrange(ctx, p.plan)
	if err != nil {
		return nil, err
	}
	if env.before, err = summarize(ctx, s); err != nil {
		return nil, err
	}
	if env.before.Completed {
		p.log.Info("the pipeline is completed, nothing is left to do; rondo run --fresh starts over, and a program of your own does with an empty data folder", "pipeline", p.opts.Spec.Name)
	}
	defer p.plan.closeJoiners()
	if err := p.plan.beginJoiners(); err != nil {
		return nil, err
	}
	if env.member != nil {
		env.member.Tell(env.say)
	}
	p.begin(env)
	err = p.work(ctx, env, parts)
	env.over.Store(true)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	after, sumErr := summarize(context.WithoutCancel(ctx), s)
	if sumErr != nil {
		return nil, errors.Join(err, sumErr)
	}
	after.since(env.before, env.clock.mono())
	return after, err
}

func (p *Pipeline) newEnvironment(ctx context.Context, s store.Store) (*environment, error) {
	env := &environment{store: s, plan: p.plan, clock: p.clock, exchange: newExchange(), wishes: newWishes(), log: p.log, ordered: make(chan struct{}, 1)}
	if env.member = p.opts.Member; env.member != nil {
		env.clock.wall = env.member.Now
	}
	env.halt.Store(&halt{done: make(chan struct{})})
	stored, err := s.Pipeline(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the stored pipeline: %w", err)
	}
	o, err := newOrders(stored, p.opts.Spec.Path)
	if err != nil {
		return nil, err
	}
	env.orders.Store(o)
	env.reports = newReportReads()
	env.buffers = newVisitBudget(p.opts.VisitBuffer, env.exchange.wakeAll)
	return env, nil
}

// arrange wires the plan to the partitions that there are, and makes what jobs
// share of them. It is called while none runs.
func (e *environment) arrange(ctx context.Context, p *plan) ([]store.Partition, error) {
	parts, err := e.store.Partitions(ctx)
	if err != nil {
		return nil, fmt.Errorf("read partitions: %w", err)
	}
	totals, err := e.store.Totals(ctx)
	if err != nil {
		return nil, fmt.Errorf("read totals: %w", err)
	}
	sizes, err := e.store.InboxSizes(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the sizes of inboxes: %w", err)
	}
	if err := p.wire(parts); err != nil {
		return nil, err
	}
	e.exchange.reset(ids(parts), func(id store.PartitionID) bool {
		i := slices.IndexFunc(parts, func(p store.Partition) bool { return p.ID == id })
		return i >= 0 && parts[i].State != store.Completed && e.mine(&parts[i])
	})
	e.alignments.Store(newAlignments(p, e.mine, e.clock.mono()))
	for _, size := range sizes {
		e.exchange.add(size.Target, size.Messages, size.Bytes)
	}
	e.post(parts, totals)
	o := e.enforce(p)
	if err := e.completedPasses(ctx, p); err != nil {
		return nil, err
	}
	e.wishes.want(p, o)
	e.tellLacks(ctx, p, parts)
	return parts, nil
}

// begin makes the run known to Stop, Pause and Status.
func (p *Pipeline) begin(env *environment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.env = env
	if p.pause {
		env.doPause()
	}
	if p.stop {
		env.doStop()
	}
	close(p.begun)
}

// Begun is closed when Run has begun: from then on the pipeline can be looked at
// and told what to do.
func (p *Pipeline) Begun() <-chan struct{} { return p.begun }

// Pause stops at the next epoch bound; everything in flight stays in the store
// (D-21). Run then returns.
func (p *Pipeline) Pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause = true
	if p.env != nil {
		p.env.doPause()
	}
}

// Stop takes no new source input, finishes what is in flight, and then stops
// (D-21). Run then returns. A pipeline that pauses leaves what is in flight to the
// next run: it refuses. So does a worker: the whole pipeline is stopped in the store
// (store.ToDrain).
func (p *Pipeline) Stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opts.Member != nil {
		return errNotAlone
	}
	if p.pause {
		return fmt.Errorf("%w: what is in flight stays in the store, and the next run goes on with it", errPausing)
	}
	p.stop = true
	if p.env != nil {
		p.env.doStop()
	}
	return nil
}

func (e *environment) doPause() {
	e.pausing.Store(true)
	e.halt.Load().end()
	e.exchange.wakeAll()
}

func (e *environment) doStop() {
	e.draining.Store(true)
	e.exchange.wakeAll()
}

// runAll supervises every partition of this process that is not completed, and
// waits for all.
func (e *environment) runAll(ctx context.Context, p *Pipeline, parts []store.Partition) error {
	g, ctx := errgroup.WithContext(ctx)
	target := e.beginStint(parts)
	for _, part := range parts {
		if part.State == store.Completed {
			e.board(part.ID).update(func(s *PartitionStatus) { s.Phase = Done })
			continue
		}
		if e.mine(&part) && !runs(target) {
			e.board(part.ID).update(func(s *PartitionStatus) { s.Phase = Paused })
		} else if e.mine(&part) {
			g.Go(func() error { return e.supervise(ctx, p.plan.node(part.Computation), part.ID) })
		}
	}
	if e.member != nil && !finished(parts) {
		g.Go(func() error { return e.attend(ctx, p, parts) })
		if runs(target) {
			g.Go(func() error { return e.newGossip(p.plan, parts).run(ctx) })
			g.Go(func() error { return e.settle(ctx) })
		}
	}
	return g.Wait()
}

// quiesce stops the pipeline when it drains and no partition has anything left
// to do. A worker tells the others.
func (e *environment) quiesce() {
	if !e.draining.Load() {
		return
	}
	if e.member != nil {
		if e.standing().Drained {
			e.member.Tell(e.say)
		}
		return
	}
	for _, b := range e.allBoards() {
		if !b.quiet() {
			return
		}
	}
	e.doPause()
}
