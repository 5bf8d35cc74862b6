package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// parts is the number of partitions of a watched pipeline; the upper bits of a
// hash tell which.
const (
	parts    = 4
	partBits = 2
)

// watched is a pipeline whose messages come at a rate and whose calls take a
// time of their own. It measures from outside: how long a message takes until
// it is committed, and how long single calls to the store take.
type watched struct {
	store.Store
	rate    float64       // messages a second
	keys    uint64        // that messages and states have
	cost    time.Duration // of a message and of a visit
	period  string        // of the visit stream; "" is none
	more    string        // dynamic parameters of it
	oneHash bool          // all keys have the same
	onVisit func(rt flow.Runtime, v flow.Visit) error

	messages, visits atomic.Int64
	slowest          atomic.Int64 // call to the store but for commits, nanoseconds

	first store.PartitionID // of the counter; the others follow

	mu     sync.Mutex
	origin time.Time
	taken  [parts][]int64 // when messages were due whose epoch is not committed
	done   []delivered
}

// delivered is a message that is committed: when it was due, since the origin,
// and how long it took from then.
type delivered struct{ due, took time.Duration }

const watchedSpec = `{ name = bench; spec = {
  streams = {rows = {schema = [{name=hash;type=uint64;required=%%true}; {name=key;type=uint64;required=%%true}; {name=due;type=int64;required=%%true}]}};
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows]; source_streams = {generate = {source_class_name = generate}} };
    counter = { computation_class_name = transform; processing_function = count;
      group_by_schema = [{name=hash;type=uint64;required=%%true}; {name=key;type=uint64;required=%%true}]; input_stream_ids = [rows]; key_visitor_streams = {%s} } } };
  dynamic_spec = {computations = {counter = {desired_partition_count = %d; key_visitor_streams = {%s}}}} }`

func (w *watched) prepare(ctx context.Context) (*engine.Pipeline, error) {
	static, dynamic := "", ""
	if w.period != "" {
		static, dynamic = "sweep = {}", fmt.Sprintf("sweep = {period = %q; finite = %%false; %s}", w.period, w.more)
	}
	parsed, err := spec.Parse("bench.yson", fmt.Appendf(nil, watchedSpec, static, parts, dynamic))
	if err != nil {
		return nil, err
	}
	var functions flow.Registry
	var connectors connector.Registry
	err = errors.Join(
		functions.Register("count", func(flow.Setup) (flow.Function, error) {
			return &watchedCount{w, flow.NewState("/count", flow.CBOR[int64]())}, nil
		}),
		connectors.AddSource("generate", func(connector.Setup) (connector.Source, error) { return (*pacedSource)(w), nil }))
	if err != nil {
		return nil, err
	}
	return engine.Prepare(ctx, engine.Options{Spec: parsed, Functions: &functions, Connectors: &connectors, Log: slog.New(slog.DiscardHandler)})
}

// run runs the pipeline until f returns.
func (w *watched) run(tb testing.TB, s store.Store, f func(*engine.Pipeline)) {
	tb.Helper()
	w.Store, w.origin = s, time.Now()
	p, err := w.prepare(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	r := start(tb.Context(), p, w)
	f(p)
	p.Pause()
	<-r.done
	if r.err != nil {
		tb.Fatal(r.err)
	}
}

// wait lets time pass.
func wait(d time.Duration) { <-time.After(d) }

func (w *watched) Commit(ctx context.Context, c *store.Commit) error {
	err := w.Store.Commit(ctx, c)
	if err == nil && c.Computation == "counter" {
		w.committed(c.Partition)
	}
	return err
}

// committed notes the latencies of what a partition took.
func (w *watched) committed(id store.PartitionID) {
	now := time.Since(w.origin)
	w.mu.Lock()
	defer w.mu.Unlock()
	of := int(id - w.first)
	for _, due := range w.taken[of] {
		w.done = append(w.done, delivered{time.Duration(due), now - time.Duration(due)})
	}
	w.taken[of] = w.taken[of][:0]
}

func (w *watched) timed(began time.Time) {
	for took := int64(time.Since(began)); ; {
		was := w.slowest.Load()
		if took <= was || w.slowest.CompareAndSwap(was, took) {
			return
		}
	}
}

func (w *watched) ListStates(ctx context.Context, r store.ListRequest) (*store.ListAnswer, error) {
	defer w.timed(time.Now())
	return w.Store.ListStates(ctx, r)
}

func (w *watched) GetStates(ctx context.Context, computation string, keys []string) ([][]store.StateRow, error) {
	defer w.timed(time.Now())
	return w.Store.GetStates(ctx, computation, keys)
}

type watchedCount struct {
	w     *watched
	state *flow.State[int64]
}

func (c *watchedCount) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	c.w.spin()
	c.w.messages.Add(1)
	h := c.state.Open(rt, m)
	n, _, err := h.Get()
	if err != nil {
		return err
	}
	c.w.mu.Lock()
	of := m.Payload.Uint64("hash") >> (64 - partBits)
	c.w.taken[of] = append(c.w.taken[of], m.Payload.Int64("due"))
	c.w.mu.Unlock()
	return h.Set(n + 1)
}

func (c *watchedCount) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	c.w.spin()
	c.w.visits.Add(1)
	if c.w.onVisit != nil {
		return c.w.onVisit(rt, v)
	}
	return nil
}

// spin takes processing time, which share is about.
func (w *watched) spin() {
	for began := time.Now(); w.cost > 0 && time.Since(began) < w.cost; {
	}
}

// pacedSource makes messages that are due at a steady rate.
type pacedSource watched

func (s *pacedSource) Partitions(context.Context) ([]string, error) { return []string{"0"}, nil }

func (s *pacedSource) Open(_ context.Context, _ string, offset []byte) (connector.Reader, error) {
	r := &pacedReader{s: s}
	var err error
	if offset != nil {
		r.next, err = strconv.ParseUint(string(offset), 10, 64)
	}
	r.from = r.next
	return r, err
}

type pacedReader struct {
	s          *pacedSource
	from, next uint64
}

func (r *pacedReader) due(n uint64) time.Duration {
	return time.Duration(float64(n-r.from) / r.s.rate * float64(time.Second))
}

func (r *pacedReader) Read(ctx context.Context, limit connector.Limit) (connector.Batch, error) {
	for {
		d := time.Hour
		if r.s.rate > 0 {
			d = r.due(r.next) - time.Since(r.s.origin)
		}
		if d <= 0 {
			break
		}
		t := time.NewTimer(d)
		select {
		case <-ctx.Done():
			t.Stop()
			return connector.Batch{}, ctx.Err()
		case <-t.C:
		}
	}
	var b connector.Batch
	for now := time.Since(r.s.origin); len(b.Rows) < limit.Rows && r.due(r.next) <= now; r.next++ {
		key := r.next * 7919 % r.s.keys // of all partitions in turn
		b.Rows = append(b.Rows, schema.Row{schema.Uint64((*watched)(r.s).hash(key)), schema.Uint64(key), schema.Int64(int64(r.due(r.next)))})
	}
	b.Bytes, b.Offset = 24*len(b.Rows), strconv.AppendUint(nil, r.next, 10)
	return b, nil
}

func (r *pacedReader) Close() error { return nil }

// filled opens a store with the layout and a state for each key.
func (w *watched) filled(tb testing.TB, row func(key uint64) store.StateWrite) *pebblestore.Store {
	tb.Helper()
	s, err := pebblestore.Open(tb.TempDir(), pebblestore.Options{CacheBytes: 16 << 20, MemTableBytes: 8 << 20})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	p, err := w.prepare(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	p.Pause()
	if _, err := p.Run(tb.Context(), s); err != nil {
		tb.Fatal(err)
	}
	w.write(tb, s, row)
	return s
}

const writeBatch = 10_000

// write commits a row for every key, as the owner of all partitions.
func (w *watched) write(tb testing.TB, s store.Store, row func(key uint64) store.StateWrite) {
	tb.Helper()
	ps, err := s.Partitions(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range ps {
		if p.Computation != "counter" {
			continue
		}
		if w.first == 0 {
			w.first = p.ID
		}
		job, err := s.RaiseGeneration(tb.Context(), p.ID)
		if err != nil {
			tb.Fatal(err)
		}
		c := &store.Commit{Partition: p.ID, Generation: job.Partition.Generation, Computation: "counter"}
		for key := range w.keys {
			if r := row(key); r.Key >= hashKey(p.Lower) && (p.Open || r.Key < hashKey(p.Upper)) {
				c.States = append(c.States, r)
			}
			if len(c.States) == writeBatch || key+1 == w.keys {
				if err := s.Commit(tb.Context(), c); err != nil {
					tb.Fatal(err)
				}
				c.States = c.States[:0]
			}
		}
	}
}

func hashKey(hash uint64) string { return string(schema.AppendKey(nil, schema.Uint64(hash))) }

// hash spreads the keys evenly, in their order, or puts them all in one place.
func (w *watched) hash(key uint64) uint64 {
	if w.oneHash {
		return 1 << 62
	}
	return key * (1 << 63 / w.keys * 2)
}

// counted is the state of a key that had one message.
func (w *watched) counted(key uint64) store.StateWrite {
	k := schema.AppendKey(nil, schema.Uint64(w.hash(key)), schema.Uint64(key))
	return store.StateWrite{Key: string(k), Name: "/count", Value: []byte{1}}
}
