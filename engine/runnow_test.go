package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

// slowRig has passes of ten days, so that what is visited in a minute was
// ordered.
func slowRig(t *testing.T) *rig {
	r := newRig(t, 200, 50)
	r.period = "10d"
	return r
}

// TestRunNowVisitsEveryKeyOnce at once, is refused while it does, and then the
// normal pace returns (KV-49).
func TestRunNowVisitsEveryKeyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := slowRig(t)
		p := r.start(storetest.NewModel())
		p.visits(time.Minute)
		for round := range 3 {
			before := p.Status().Visits
			p.must(p.RunNow(t.Context(), "counter", "sweep", 0))
			if err := p.RunNow(t.Context(), "counter", "sweep", 0); err == nil || !strings.Contains(err.Error(), "wait until it is over") {
				t.Errorf("round %d: a second command says %v", round, err)
			}
			if n := p.visits(10 * time.Second); n > 0 && int(p.Status().Visits-before) != 50 {
				t.Errorf("round %d: %d visits, want 50", round, p.Status().Visits-before)
			}
			if n := p.visits(time.Minute); n > 1 {
				t.Errorf("round %d: %d visits after it", round, n)
			}
		}
		if v := p.VisitStreams()[0]; v.Running || v.Run.ID == 0 || len(v.Parts) != 3 {
			t.Errorf("status %+v", v.Status)
		}
		passes, err := p.Passes("counter", "sweep")
		p.must(err)
		for _, part := range passes {
			if len(part.Passes) < 3 || part.Passes[2].Delivered+part.Passes[2].Gone != part.Passes[2].Seen {
				t.Errorf("passes %+v of partition %d", part.Passes, part.Partition)
			}
		}
		p.pause()
	})
}

// TestRunNowKeepsItsPaceOverARestart: it is in the pass record.
func TestRunNowKeepsItsPaceOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := slowRig(t)
		s := storetest.NewModel()
		p := r.start(s)
		p.visits(time.Minute)
		p.must(p.RunNow(t.Context(), "counter", "sweep", 40*time.Second))
		first := p.visits(20 * time.Second)
		if err := p.RunNow(t.Context(), "counter", "sweep", 0); err == nil || !strings.Contains(err.Error(), "carries out a run-now already") {
			t.Errorf("a second command says %v", err)
		}
		p.pause()
		p = r.start(s)
		if !p.VisitStreams()[0].Running {
			t.Error("the command is forgotten by the restart")
		}
		second := p.visits(30 * time.Second)
		if first < 15 || first > 35 || first+second != 50 {
			t.Errorf("%d visits in the first half, %d in the second, want 50 together", first, second)
		}
		p.pause()
	})
}

func TestRunNowIsRefusedWhereItMakesNoSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := slowRig(t)
		r.edit = func(text string) string {
			return strings.Replace(text, "sweep = {period", `sweep = {final_pass_period = "1h"; period`, 1)
		}
		p := r.start(storetest.NewModel())
		refused := func(computation, stream string, period time.Duration, want string) {
			t.Helper()
			err := p.RunNow(t.Context(), computation, stream, period)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("run-now of %s %s: %v, want %q", computation, stream, err, want)
			}
		}
		refused("counter", "mop", 0, `computation counter has no visit stream mop: there are counter sweep`)
		refused("reader", "sweep", 0, "there are counter sweep")
		refused("counter", "sweep", -1, "must be at least 0")
		p.must(p.set("enabled", "%false"))
		refused("counter", "sweep", 0, "is disabled: enable it first")
		p.must(p.set("enabled", "%true"))
		close(r.gate)
		<-time.After(10 * time.Minute)
		refused("counter", "sweep", 0, "is in its final pass")
		stored, err := p.env.store.Pipeline(t.Context())
		p.must(err)
		if len(stored.Runs) > 0 {
			t.Errorf("refused commands are stored: %+v", stored.Runs)
		}
		p.pause()
	})
}

// TestRunNowSurvivesACrashAtEveryPoint: the process dies at the n-th call to the
// store after the command was given, before or after the call took effect. What
// is stored is carried out, once; what was confirmed is stored.
func TestRunNowSurvivesACrashAtEveryPoint(t *testing.T) {
	for n := 1; n <= 45; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d, after %v", n, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testRunNowCrash(t, n, after) })
			})
		}
	}
}

func testRunNowCrash(t *testing.T, n int, after bool) {
	r := slowRig(t)
	model := storetest.NewModel()
	w := &crashing{at: n, after: after}
	var life context.Context
	life, w.kill = context.WithCancel(t.Context())
	r.gate = make(chan struct{})
	p := &running{Pipeline: r.pipeline(), t: t, done: make(chan error, 1)}
	go func() {
		_, err := p.Run(life, storetest.NewFaults(model, w.fault))
		p.done <- err
	}()
	p.visits(time.Minute)
	visited := p.Status().Visits
	w.armed.Store(true)
	given := p.RunNow(life, "counter", "sweep", 0)
	<-time.After(30 * time.Second)
	w.kill()
	<-p.done

	stored, err := model.Pipeline(t.Context())
	p.must(err)
	if given == nil && len(stored.Runs) == 0 {
		t.Fatal("a command that was confirmed is not stored")
	}
	p = r.start(model)
	<-time.After(time.Minute)
	want := visited
	if len(stored.Runs) > 0 {
		want += 50
	}
	if got := p.Status().Visits; got < want || got > want+3 {
		t.Errorf("%d visits, want %d and what a minute of ten days brings", got, want)
	}
	for key, times := range r.passes() {
		if times > 1 {
			t.Errorf("key and pass %v: %d visits", key, times)
		}
	}
	p.pause()
}

// passes counts the visits of each key in each pass, as the sink has them.
func (r *rig) passes() map[[2]string]int {
	r.sink.mu.Lock()
	defer r.sink.mu.Unlock()
	out := map[[2]string]int{}
	for _, m := range r.sink.written {
		out[[2]string{m.Payload.String("key"), fmt.Sprint(m.Payload.Uint64("pass"))}]++
	}
	return out
}

// crashing kills the process at a call to the store.
type crashing struct {
	at    int
	after bool
	kill  context.CancelFunc
	armed atomic.Bool
	mu    sync.Mutex
	calls int
}

func (w *crashing) fault(storetest.Call) storetest.Fault {
	if !w.armed.Load() {
		return storetest.Fault{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	switch {
	case w.calls < w.at:
		return storetest.Fault{}
	case w.calls > w.at:
		return storetest.Unavailable()
	}
	w.kill()
	return storetest.Lost(w.after)
}

// TestControlHoldsThroughStoreFaults: whatever the store loses or refuses, a
// change that is confirmed is in force, and one that is not is in force only if
// it is stored.
func TestControlHoldsThroughStoreFaults(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := slowRig(t)
		model := storetest.NewModel()
		faults := storetest.NewFaults(model, func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpSavePipeline && c.Number > 1 || c.Op == storetest.OpPipeline && c.Number > 2 {
				switch rng.IntN(6) {
				case 0:
					return storetest.Unavailable()
				case 1:
					return storetest.Lost(true)
				case 2:
					return storetest.Lost(false)
				}
			}
			return storetest.Fault{}
		})
		p := r.start(faults)
		for i := range 20 {
			period := fmt.Sprintf("%dh", i+100)
			version, err := p.SetDynamic(t.Context(), "computations.counter.key_visitor_streams.sweep.period", yson.String(period), 0)
			stored, _ := model.Pipeline(t.Context())
			isStored := strings.Contains(stored.Dynamic, period)
			switch {
			case err == nil && (!isStored || stored.Version != version):
				t.Fatalf("confirmed as version %d, stored is %+v", version, stored)
			case err != nil && isStored && !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrUnknownOutcome):
				t.Fatalf("stored, but the error is %v", err)
			}
			if err == nil && p.env.orders.Load().version != version {
				t.Fatalf("version %d is confirmed and %d in force", version, p.env.orders.Load().version)
			}
		}
		p.pause()
	})
}
