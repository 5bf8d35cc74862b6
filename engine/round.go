package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// halt ends the work on one layout of partitions at the next epoch bound.
type halt struct {
	done chan struct{}
	once sync.Once
}

func (h *halt) end() { h.once.Do(func() { close(h.done) }) }

// halted tells jobs to stop at their next epoch bound.
func (e *environment) halted() bool {
	select {
	case <-e.halt.Load().done:
		return true
	default:
		return false
	}
}

// newHalt begins a round. A pause that comes at the same time ends the old one or
// is seen here.
func (e *environment) newHalt() {
	h := &halt{done: make(chan struct{})}
	e.halt.Store(h)
	if e.pausing.Load() {
		h.end()
	}
}

// wish is that a computation has another number of partitions; forced, that they
// are replaced also if some are Completed and the number stays.
type wish struct {
	node   *node
	count  int
	forced bool
	done   []chan<- error // capacity 1 each
}

func (w *wish) answer(err error) {
	for _, c := range w.done {
		c <- err
	}
}

// wishes are what is asked for and not done: one a computation.
type wishes struct {
	mu      sync.Mutex
	list    []*wish
	closed  bool
	changed chan struct{} // capacity 1
}

func newWishes() *wishes { return &wishes{changed: make(chan struct{}, 1)} }

// add replaces the former wish for the computation. Whoever made that is answered
// with this one if it is for the same number, and else told of it.
func (w *wishes) add(n *wish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(n)
}

// put is add, under the lock.
func (w *wishes) put(n *wish) {
	if w.closed {
		n.answer(errEnded)
		return
	}
	if i := w.of(n.node); i >= 0 {
		if o := w.list[i]; o.count == n.count {
			n.done, n.forced = append(n.done, o.done...), n.forced || o.forced
		} else {
			o.answer(superseded(o, n))
		}
		w.list[i] = n
	} else {
		w.list = append(w.list, n)
	}
	w.look()
}

// of is the place of the wish for a computation, -1 if there is none.
func (w *wishes) of(n *node) int {
	return slices.IndexFunc(w.list, func(o *wish) bool { return o.node == n })
}

// back takes a wish in again that could not be fulfilled, unless there is another
// for the computation by now.
func (w *wishes) back(o *wish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.of(o.node); i >= 0 && w.list[i].count != o.count {
		o.answer(superseded(o, w.list[i]))
		return
	}
	w.put(o)
}

func superseded(o, n *wish) error {
	return fmt.Errorf("%d partitions of computation %s are no longer asked for: somebody asked for %d", o.count, o.node.id, n.count)
}

// want makes wishes of what orders say, which may be what there is.
func (w *wishes) want(p *plan, o *orders) {
	for _, n := range p.nodes {
		if desired := o.of(n).DesiredPartitionCount; n.kind == store.RangePartition && desired != nil {
			w.add(&wish{node: n, count: *desired})
		}
	}
}

// look makes somebody judge the wishes anew.
func (w *wishes) look() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *wishes) all() []*wish {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

// take removes a wish, unless another took its place.
func (w *wishes) take(o *wish) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.list)
	w.list = slices.DeleteFunc(w.list, func(n *wish) bool { return n == o })
	return len(w.list) < before
}

// work runs rounds, in each of which the partitions stay the same, until the
// pipeline is completed, stopped or paused. A number of partitions that the spec
// has changed meanwhile comes first.
func (p *Pipeline) work(ctx context.Context, e *environment, parts []store.Partition) (err error) {
	agreed, _ := e.nextWish(ctx, p)
	for {
		if agreed != nil {
			parts, err = p.replace(ctx, e, agreed)
		}
		if agreed = nil; err == nil {
			agreed, err = p.round(ctx, e, parts)
		}
		goesOn := err == nil && agreed == nil && e.moved(ctx, parts)
		if goesOn {
			parts, err = e.arrangeAgain(ctx, p.plan)
		}
		if err != nil || agreed == nil && !goesOn {
			if agreed != nil {
				e.wishes.back(agreed)
			}
			e.refuseWishes(ctx, p)
			return err
		}
	}
}

// replace fulfils a wish between two rounds.
func (p *Pipeline) replace(ctx context.Context, e *environment, w *wish) ([]store.Partition, error) {
	err := p.plan.relayout(ctx, e.store, w.node, e.orders.Load().of(w.node), w.count, e.term(), p.log)
	parts, arranged := e.arrangeAgain(ctx, p.plan)
	switch {
	case verdictOf(err) == partition.Wait: // one has completed since it was asked
		p.log.Info("partitions are not replaced yet", "computation", w.node.id, "reason", err)
		e.wishes.back(w)
	case again(err):
		p.log.Warn("partitions are not replaced yet", "computation", w.node.id, "reason", err)
		e.wishes.back(w)
	default:
		w.answer(err)
	}
	return parts, arranged
}

// again tells the errors after which what is true is read, and decided anew.
func again(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrUnknownOutcome) ||
		errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrStopped)
}

// arrangeAgain arranges between two rounds, however long the store cannot be
// reached.
func (e *environment) arrangeAgain(ctx context.Context, p *plan) ([]store.Partition, error) {
	var o outage
	for backoff := firstBackoff; ; backoff = min(2*backoff, lastBackoff) {
		parts, err := e.arrange(ctx, p)
		if err != nil && !again(err) || e.pausing.Load() {
			return parts, err
		}
		o.tell(e.log, "the partitions cannot be read", err)
		if err == nil {
			return parts, nil
		}
		e.newHalt() // the former one has ended, and would end the wait
		if !e.sleep(ctx, backoff) {
			return nil, ctx.Err()
		}
	}
}

// round works until nothing is left to do, or until the partitions of a
// computation are to be replaced.
func (p *Pipeline) round(ctx context.Context, e *environment, parts []store.Partition) (*wish, error) {
	e.newHalt()
	watched, cancel := context.WithCancel(ctx)
	agreed := make(chan *wish, 1)
	go func() { agreed <- e.rearrange(watched, p) }()
	var load sync.WaitGroup
	load.Go(func() { e.followLoad(watched, p) })
	err := e.runAll(ctx, p, parts)
	cancel()
	load.Wait()
	return <-agreed, err
}

// rearrange waits until a wish may be granted, holds the output to its computation
// back until what waits there is little (D-13), and ends the round for it. It
// returns nil when the round ends before.
func (e *environment) rearrange(ctx context.Context, p *Pipeline) *wish {
	for {
		w, failed := e.nextWish(ctx, p)
		if w != nil {
			e.exchange.drainTo(ctx, ids(w.node.partitions))
			e.halt.Load().end()
			e.exchange.wakeAll()
			return w
		}
		var retry <-chan time.Time
		if failed {
			retry = time.After(lastBackoff)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-e.wishes.changed:
		case <-retry:
		}
	}
}

// nextWish takes a wish that may be fulfilled now. failed: of some it is not known.
func (e *environment) nextWish(ctx context.Context, p *Pipeline) (_ *wish, failed bool) {
	for _, w := range e.wishes.all() {
		granted, err := e.grant(ctx, p, w)
		if granted && e.wishes.take(w) {
			return w, false
		}
		failed = failed || err != nil
	}
	return nil, failed
}

// grant tells whether a wish may be fulfilled now. One that never will be is
// answered. The error is the store's: nothing is known.
func (e *environment) grant(ctx context.Context, p *Pipeline, w *wish) (bool, error) {
	if e.state() != Running || !e.leads() {
		return false, nil
	}
	done := slices.ContainsFunc(e.boardsOf(w.node), func(b *board) bool { return b.read(0).Phase == Done })
	if w.count == len(w.node.partitions) && !(w.forced && done) {
		if e.wishes.take(w) {
			w.answer(nil)
		}
		return false, nil
	}
	err := p.judgeNow(ctx, e, w)
	switch verdictOf(err) {
	case partition.Go:
		return err == nil, err
	case partition.Wait:
		e.note(w.node, err.Error())
		return false, nil
	}
	e.note(w.node, "")
	if e.wishes.take(w) {
		p.log.Info("the number of partitions stays what it was", "computation", w.node.id, "reason", err)
		w.answer(err)
	}
	return false, nil
}

// judgeNow judges by what is stored now. The transaction judges again.
func (p *Pipeline) judgeNow(ctx context.Context, e *environment, w *wish) error {
	all, err := e.store.Partitions(ctx)
	if err != nil {
		return err
	}
	return p.plan.judge(w.node, e.orders.Load().of(w.node), all, func(id store.PartitionID) ([]store.VisitorRow, error) {
		return e.store.Visitors(ctx, id)
	})
}

// close refuses what is wished for from now on.
func (w *wishes) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
}

// refuseWishes answers those who still wait when the work ends.
func (e *environment) refuseWishes(ctx context.Context, p *Pipeline) {
	e.wishes.close()
	for _, w := range e.wishes.all() {
		if e.wishes.take(w) {
			err := p.judgeNow(context.WithoutCancel(ctx), e, w)
			if err == nil {
				err = errEnded
			}
			w.answer(err)
		}
	}
}

// drainTo holds back what leads to the partitions until little waits for them, or
// 30 s have passed: it is all rewritten in one transaction (D-13).
func (x *exchange) drainTo(ctx context.Context, ids []store.PartitionID) {
	for _, id := range ids {
		x.sizes[id].held.Store(true)
	}
	late := time.NewTimer(holdTime)
	defer late.Stop()
	for {
		var bytes int64
		for _, id := range ids {
			bytes += x.sizes[id].bytes.Load()
		}
		if bytes <= holdBytes {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-late.C:
			return
		case <-x.freer:
		}
	}
}

// What may wait for partitions that are to be replaced, and how long it is waited
// for that (D-13).
const (
	holdBytes = 64 << 20
	holdTime  = 30 * time.Second
)
