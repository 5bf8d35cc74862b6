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
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestVisitsNeverSeeOldState: messages and visits of few keys meet in one epoch and
// in adjacent ones, in all orders, while lists and commits take their time. Every
// visit sees exactly what the messages and visits before it left, the rows that
// the list read ahead notwithstanding (KV-22, KV-29).
func TestVisitsNeverSeeOldState(t *testing.T) {
	var visits, met atomic.Int64
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		f := newFreshness(t, rand.New(rand.NewPCG(rng.Uint64(), 0)))
		f.rig.run(slowStore{storetest.NewModel(), &pauses{rng: rng}})
		visits.Add(int64(f.visits))
		met.Add(int64(f.met))
		if f.wrong > 0 {
			t.Errorf("%d of %d visits and messages saw another state than they must; the first: %s", f.wrong, f.visits+f.messages, f.first)
		}
	})
	t.Logf("%d visits, %d of them within an epoch of a message of their key", visits.Load(), met.Load())
	if 2*met.Load() < visits.Load() {
		t.Errorf("%d of %d visits met a message: most are to", met.Load(), visits.Load())
	}
}

// freshness checks states against what the handlers of the one job did, which is
// what is stored since nothing fails.
type freshness struct {
	rig    *rig
	rng    *rand.Rand
	cost   time.Duration
	epoch  time.Duration
	states map[string]fresh // what must be there, by key
	handed map[string]time.Time

	visits, messages, met, wrong int
	first                        string
}

// fresh is the state of a key, in two names.
type fresh struct{ Messages, Visits int64 }

func newFreshness(t *testing.T, rng *rand.Rand) *freshness {
	keys := 1 + rng.IntN(6)
	r := newRig(t, 3000, keys)
	r.rows = [][]schema.Row{append(r.rows[0], r.rows[1]...)}
	r.partitions = 1
	r.period = fmt.Sprintf("%dms", 2+rng.IntN(20))
	f := &freshness{
		rig: r, rng: rng, cost: time.Duration(300+rng.IntN(2000)) * time.Microsecond,
		epoch:  time.Duration(1+rng.IntN(10)) * time.Millisecond,
		states: map[string]fresh{}, handed: map[string]time.Time{},
	}
	r.dynamic = fmt.Sprintf(`max_rows_per_batch = %d; max_epoch_duration = "%s";`, 1+rng.IntN(12), f.epoch)
	names := []string{`sweep = {}`, `sweep = {names = ["/a"]}`, `sweep = {names = ["/b"]; bucket_count = 2}; mop = {}`, `sweep = {}; mop = {names = ["/b"; "/c"]}`}[rng.IntN(4)]
	r.edit = func(text string) string {
		text = strings.Replace(text, "key_visitor_streams = {sweep = {}}", "key_visitor_streams = {"+names+"}", 1)
		if strings.Contains(names, "mop") {
			text = strings.Replace(text, "counts = [sweep]", "counts = [sweep; mop]", 1)
			text = strings.Replace(text, "sweep = {period", fmt.Sprintf(`mop = {period = "%s"}; sweep = {period`, r.period), 1)
		}
		return strings.Replace(text, "sweep = {period", "sweep = {visit_share = 0.5; period", 1)
	}
	batch := rng.IntN(3) == 0
	r.function = func() flow.Function {
		row := freshFunction{f, flow.NewState("/a", flow.CBOR[int64]()), flow.NewState("/b", flow.CBOR[int64]())}
		if batch {
			return batchCount{row}
		}
		return row
	}
	return f
}

// see compares what a handler sees with what must be there.
func (f *freshness) see(what string, key flow.Key, got fresh) {
	if want := f.states[key.Encoded()]; got != want {
		if f.wrong++; f.wrong == 1 {
			f.first = fmt.Sprintf("%s of key %s sees %+v, must see %+v", what, key, got, want)
		}
	}
}

type freshFunction struct {
	*freshness
	a, b *flow.State[int64]
}

// change lets a handler see the state of its key and leave another one.
func (f freshFunction) change(what string, rt flow.Runtime, of flow.Keyed, add fresh) error {
	key := flow.KeyOf(of)
	a, b := f.a.Open(rt, of), f.b.Open(rt, of)
	messages, _, err1 := a.Get()
	visits, _, err2 := b.Get()
	f.see(what, key, fresh{messages, visits})
	next := fresh{messages + add.Messages, visits + add.Visits}
	f.states[key.Encoded()] = next
	<-time.After(f.cost)
	return errors.Join(err1, err2, a.Set(next.Messages), b.Set(next.Visits))
}

func (f freshFunction) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	f.messages++
	f.handed[m.Key.Encoded()] = time.Now()
	return f.change("a message", rt, m, fresh{Messages: 1})
}

func (f freshFunction) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	f.visits++
	if at, ok := f.handed[v.Key.Encoded()]; ok && time.Since(at) <= 2*f.epoch+20*time.Millisecond {
		f.met++
	}
	if f.rng.IntN(8) == 0 {
		f.see("a visit", v.Key, f.states[v.Key.Encoded()])
		delete(f.states, v.Key.Encoded())
		return rt.ClearKey(v)
	}
	return f.change("a visit", rt, v, fresh{Visits: 1})
}

// slowStore takes random time before and after it reads and commits.
type slowStore struct {
	store.Store
	*pauses
}

type pauses struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (p *pauses) next() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(max(0, p.rng.IntN(16_000)-8000)) * time.Microsecond
}

func (p *pauses) pause() { <-time.After(p.next()) }

func (s slowStore) ListStates(ctx context.Context, r store.ListRequest) (*store.ListAnswer, error) {
	s.pause()
	defer s.pause()
	return s.Store.ListStates(ctx, r)
}

func (s slowStore) Commit(ctx context.Context, c *store.Commit) error {
	s.pause()
	defer s.pause()
	return s.Store.Commit(ctx, c)
}
