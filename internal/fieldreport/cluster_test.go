package fieldreport

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// lease is short beside a period, so that a dead worker costs a part of one.
const lease = 2 * time.Second

// seats is a store that several workers share.
func (w *world) seats() *storetest.Shared {
	if w.shared == nil {
		w.shared = storetest.NewShared(w.store, time.Now)
	}
	return w.shared
}

// hand is a worker of a cluster: the engine and a member of its own, on its seat of the
// store.
type hand struct {
	w      *world
	id     string
	seat   *storetest.Seat
	faults *storetest.Faults
	tell   context.CancelFunc
	done   chan struct{}
	err    error

	mu     sync.Mutex
	p      *engine.Pipeline
	frozen chan struct{}    // closed when it wakes
	calls  []flowtest.Event // not committed
}

// booked is a worker's seat. Calls of its own are committed by commits of its own: those
// that it makes after somebody else has taken a partition are nobody's.
type booked struct {
	store.Store
	h *hand
}

func (h *hand) add(e flowtest.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, e)
}

// settle takes the calls about some keys out of the book.
func (h *hand) settle(owns func(flow.Key) bool, committed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = slices.DeleteFunc(h.calls, func(e flowtest.Event) bool {
		mine := owns(e.Key)
		if mine && committed {
			h.w.rec.Add(e)
		}
		return mine
	})
	if committed {
		h.w.rec.Commit(owns)
	}
}

func (b booked) Commit(ctx context.Context, c *store.Commit) error {
	err := b.Store.Commit(ctx, c)
	if err == nil {
		b.h.settle(b.h.w.store.owned(ctx, c.Partition), true)
	}
	return err
}

func (b booked) RaiseGeneration(ctx context.Context, id store.PartitionID) (*store.Job, error) {
	j, err := b.Store.RaiseGeneration(ctx, id)
	if err == nil {
		b.h.settle(b.h.w.store.owned(ctx, id), false)
	}
	return j, err
}

// placed is what a worker sees of the store: its seat, with faults in what it reads
// and commits.
type placed struct {
	*storetest.Faults
	store.Cluster
}

// hire starts a worker.
func (w *world) hire() *hand {
	w.t.Helper()
	w.hired++
	h := &hand{w: w, id: fmt.Sprint("worker-", w.hired), done: make(chan struct{})}
	h.seat = w.seats().Seat(h.id)
	h.faults = storetest.NewFaults(booked{h.seat, h}, func(storetest.Call) storetest.Fault {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.frozen != nil {
			return storetest.Held(h.frozen)
		}
		return storetest.Fault{}
	})
	ctx, tell := context.WithCancel(w.t.Context())
	h.tell = tell
	o := cluster.Options{Worker: h.id, Lease: lease, Log: slog.New(slog.DiscardHandler)}
	go func() {
		defer close(h.done)
		_, h.err = cluster.Run(ctx, placed{h.faults, h.seat}, o, func(ctx context.Context, _ *spec.Spec, m *cluster.Member) (*engine.Summary, error) {
			p := w.prepared(h, m)
			h.mu.Lock()
			h.p = p
			h.mu.Unlock()
			return m.Work(ctx, p)
		})
	}()
	w.hands = append(w.hands, h)
	return h
}

// partedSink is a sink for several workers, one after the other.
type partedSink struct{ *sink }

func (s partedSink) OpenPart(ctx context.Context, _ string, former []byte) (connector.Writer, []byte, error) {
	return s.Open(ctx, former)
}

func (partedSink) Part([]byte) (string, bool, error) { return "all", true, nil }

// leave tells a worker to stop, and waits for that.
func (h *hand) leave() {
	h.w.t.Helper()
	h.tell()
	<-h.done
	if h.err != nil {
		h.w.t.Errorf("%s ended with %v", h.id, h.err)
	}
	h.gone()
}

// kill ends a worker as a dying process does.
func (h *hand) kill() {
	h.faults.Kill()
	h.seat.Silence()
	h.tell()
	<-h.done
	h.gone()
}

func (h *hand) gone() {
	h.w.hands = slices.DeleteFunc(h.w.hands, func(o *hand) bool { return o == h })
}

// freeze stops a worker with whatever it has in hand, which goes on when it wakes.
func (h *hand) freeze() (wake func()) {
	answer := h.seat.Silence()
	h.mu.Lock()
	defer h.mu.Unlock()
	frozen := make(chan struct{})
	h.frozen = frozen
	return func() {
		h.mu.Lock()
		h.frozen = nil
		h.mu.Unlock()
		answer()
		close(frozen)
	}
}

func (w *world) leaveAll() {
	for len(w.hands) > 0 {
		w.hands[0].leave()
	}
}

// shares are how many partitions each worker has, those of the source and the sink
// among them.
func (w *world) shares() map[string]int {
	w.t.Helper()
	parts, err := w.seats().Partitions(context.WithoutCancel(w.t.Context()))
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]int{}
	for _, p := range parts {
		out[p.Worker]++
	}
	return out
}

// staffed begins a cluster, with keys, and waits until every worker has its share.
func staffed(t *testing.T, s setting, workers int, keys uint64) *world {
	t.Helper()
	w := newWorld(t, s)
	w.t.Cleanup(w.leaveAll)
	w.fill(0, keys, nil)
	for range workers {
		w.hire()
	}
	w.wait(2 * lease)
	if n := len(w.shares()); n != workers {
		t.Fatalf("%d of %d workers have partitions", n, workers)
	}
	return w
}

// visitsSince tells how many visits each partition has had since then, the fewest.
func (w *world) visitsSince(from time.Duration) (fewest int) {
	fewest = 1 << 30
	for _, p := range w.ranges() {
		fewest = min(fewest, w.rec.Committed().Where(owns(p)).Visits(flowtest.Span{From: from, To: w.now()}))
	}
	return fewest
}

func TestR19ALimitIsOfTheWholeClusterToo(t *testing.T) {
	for _, partitions := range []int{4, 16} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprintf("%d partitions on %d workers", partitions, workers), func(t *testing.T) {
				play(t, func(t *testing.T) {
					w := staffed(t, setting{partitions: partitions, period: time.Second, visitor: "max_visits_per_second = 100;"}, workers, 4000)
					from := w.now()
					w.wait(60 * time.Second)
					if n := w.rec.Committed().Visits(flowtest.Span{From: from, To: w.now()}); n < 5700 || n > 6300 {
						t.Errorf("%d visits in a minute: the limit is 100 a second", n)
					}
					w.leaveAll()
				})
			})
		}
	}
}

func TestR25AWorkerThatComesBackGetsItsPartOfTheRunningPass(t *testing.T) {
	play(t, func(t *testing.T) {
		w := staffed(t, setting{partitions: 8}, 4, 1000)
		w.wait(w.periods(1.5))
		w.hands[w.rng.IntN(4)].kill()
		back := w.now()
		w.hire()
		w.wait(2*lease + w.periods(0.6))
		for id, n := range w.shares() {
			if n < 2 || n > 3 {
				t.Errorf("worker %q has %d of 10 partitions: %v", id, n, w.shares())
			}
		}
		if w.visitsSince(back) == 0 {
			t.Error("no visit in one of the partitions since")
		}
		// What a worker shows of its own partitions is so; it shows others as starting.
		working := 0
		for _, h := range w.hands {
			for _, s := range h.p.Status().Partitions {
				if s.Kind == store.RangePartition && s.Phase == engine.Working && s.Error == "" {
					working++
				}
			}
		}
		if working != 8 {
			t.Errorf("%d of 8 partitions are shown as working", working)
		}
		w.wait(w.periods(2))
		w.leaveAll()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.2)+3*lease))
	})
}

func TestR27KeysOfADeadWorkerAreVisitedByOthers(t *testing.T) {
	play(t, func(t *testing.T) {
		w := staffed(t, setting{partitions: 8}, 4, 1000)
		w.wait(w.periods(1.4))
		w.hands[w.rng.IntN(4)].kill()
		for w.shares()[""] > 0 || len(w.shares()) > 3 {
			w.wait(100 * time.Millisecond)
		}
		reassigned := w.now()
		w.wait(w.periods(5))
		w.leaveAll()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.2)+2*lease), flowtest.Cover(l.Since(reassigned), w.periods(1.2)))
	})
}

func TestR27APartitionThatMovesInMidPassIsVisitedOnce(t *testing.T) {
	play(t, func(t *testing.T) {
		w := staffed(t, setting{partitions: 8}, 2, 1000)
		for range 6 {
			w.wait(time.Duration(w.rng.Int64N(int64(w.period))))
			if len(w.hands) == 2 {
				w.hire()
			} else {
				w.hands[w.rng.IntN(3)].leave()
			}
		}
		w.wait(w.periods(2))
		w.leaveAll()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Cover(l, w.periods(1.2)+lease), flowtest.Gap(l, w.periods(1.2)+lease))
	})
}

func TestR28AFrozenWorkerChangesNothingWhenItWakes(t *testing.T) {
	play(t, func(t *testing.T) {
		w := newWorld(t, setting{partitions: 2, period: 5 * time.Second})
		w.on = func(c *call) error {
			if c.visit != nil {
				c.do, c.emit = put, 1
			} else {
				c.do = put
			}
			return nil
		}
		w.fill(0, 500, nil)
		w.t.Cleanup(w.leaveAll)
		a := w.hire()
		w.wait(w.periods(1.3))
		w.hire()
		wake := a.freeze()
		for w.shares()[a.id] > 0 {
			w.wait(100 * time.Millisecond)
		}
		for range 100 {
			w.send(uint64(w.rng.IntN(500)), set)
		}
		w.wait(5 * time.Second)
		wake()
		w.wait(w.periods(3))
		if w.shares()[a.id] == 0 {
			t.Error("the worker that woke gets no share again")
		}
		w.leaveAll()
		l := w.rec.Committed()
		w.check(flowtest.Once(l), flowtest.Fresh(l), flowtest.NoGhost(l), flowtest.Cover(l, w.periods(1.2)+3*lease),
			flowtest.Atomic(l, w.stored(), w.sink.byStamp()))
	})
}

func TestR42APartitionThatComesBackFindsWhatOthersWrote(t *testing.T) {
	play(t, func(t *testing.T) {
		const keys = 300
		w := newWorld(t, setting{period: time.Second})
		w.on = func(c *call) error { c.do = put; return nil }
		w.fill(0, keys, nil)
		w.t.Cleanup(w.leaveAll)
		w.hire()
		w.wait(w.periods(4))
		for range 5 { // from the first to a second, and back
			b := w.hire()
			w.wait(w.periods(4))
			if w.shares()[b.id] != 3 {
				t.Errorf("the second worker has %v", w.shares())
			}
			for range 20 {
				w.send(uint64(w.rng.IntN(keys)), set)
			}
			w.wait(w.periods(1.5))
			b.leave()
			w.wait(w.periods(4))
		}
		w.leaveAll()
		l := w.rec.Committed()
		w.check(flowtest.Fresh(l), flowtest.NoGhost(l), flowtest.Atomic(l, w.stored(), w.sink.byStamp()))
	})
}
