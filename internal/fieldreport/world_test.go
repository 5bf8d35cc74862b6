package fieldreport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/storetest"
)

// world is what a scenario plays in: a pipeline with one visit stream, lives of
// it one after the other on one store, and the record of what happened.
// Scenarios fill the fields of setting and change those of the second group at
// any time between lives.
type world struct {
	setting
	// on decides about calls; nil does what messages ask for, and nothing on
	// visits. It is called by all jobs at once.
	on func(*call) error
	// fault decides about calls to the store; nil is none.
	fault func(storetest.Call) storetest.Fault
	// latency is told how long a message took from push to commit.
	latency func(time.Duration)
	// messageCost and visitCost are how long the handlers take.
	messageCost, visitCost time.Duration
	quiet                  bool // keep no record

	t      *testing.T
	rng    *rand.Rand
	rec    *flowtest.Recorder
	began  time.Time
	feed   *feed
	sink   *sink
	fs     *vfs.MemFS
	store  *watched
	keys   *flow.KeySchema
	stamps atomic.Uint64
	life   *life
	shared *storetest.Shared // once there are workers
	hands  []*hand
	hired  int
	ended  time.Duration // when the last life did
}

// setting is what a spec is written from.
type setting struct {
	partitions int           // 4
	buckets    int           // 2
	period     time.Duration // 10 s
	visitor    string        // more dynamic fields of the visit stream
	dynamic    string        // more dynamic fields of the keeper
	static     string        // static fields of the visit stream
	off        bool          // no visit stream at all
	model      bool          // the model store in place of Pebble
	onDisk     bool          // Pebble in a folder; not in virtual time
	skips      bool          // on_visit_error = skip
	hash       func(key uint64) uint64
}

const specText = `{ name = field; spec = {
  streams = {
    rows = {schema = [{name=hash;type=uint64;required=%%true}; {name=key;type=uint64;required=%%true}; {name=op;type=int64;required=%%true}; {name=at;type=int64;required=%%true}]};
    out = {schema = [{name=key;type=uint64}; {name=stamp;type=uint64}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows]; source_streams = {feed = {source_class_name = feed}} };
    keeper = { computation_class_name = transform; processing_function = keep;
      group_by_schema = [{name=hash;type=uint64;required=%%true}; {name=key;type=uint64;required=%%true}];
      input_stream_ids = [rows]; output_stream_ids = [out]; %s
      sinks = {out = {sink_class_name = sink; input_stream_ids = [out]}} } } };
  dynamic_spec = {computations = {keeper = {desired_partition_count = %d; %s %s}}} }`

func (s *setting) spec() string {
	if s.off {
		return fmt.Sprintf(specText, "", s.partitions, s.dynamic, "")
	}
	visitor := s.visitor
	if s.skips {
		visitor += " on_visit_error = skip;"
	}
	return fmt.Sprintf(specText,
		fmt.Sprintf("key_visitor_streams = {sweep = {bucket_count = %d; %s}}; streams_dependency = {out = [rows; sweep]};", s.buckets, s.static),
		s.partitions, s.dynamic,
		fmt.Sprintf("key_visitor_streams = {sweep = {period = %q; finite = %%false; %s}};", s.period, visitor))
}

// newWorld makes an empty world; zero fields of the setting get their defaults.
func newWorld(t *testing.T, s setting) *world {
	t.Helper()
	if s.partitions == 0 {
		s.partitions = 4
	}
	if s.buckets == 0 {
		s.buckets = 2
	}
	if s.period == 0 {
		s.period = 10 * time.Second
	}
	if s.hash == nil {
		s.hash = scatter
	}
	w := &world{setting: s, t: t, rng: rand.New(rand.NewPCG(*seed, 0)), began: time.Now(), feed: newFeed(), sink: &sink{}, fs: vfs.NewMem()}
	w.rec = flowtest.NewRecorder(w.now)
	var err error
	w.keys, err = schema.New([]schema.Column{{Name: "hash", Type: schema.TypeUint64, Required: true}, {Name: "key", Type: schema.TypeUint64, Required: true}})
	if err != nil {
		t.Fatal(err)
	}
	w.open()
	t.Cleanup(w.close)
	return w
}

// close ends the world; a second time it does nothing.
func (w *world) close() {
	if w.life != nil {
		w.kill()
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *world) open() {
	w.t.Helper()
	w.store = &watched{Store: storetest.NewModel(), rec: w.rec, owners: map[store.PartitionID]store.Partition{},
		latency: func(pushed time.Duration) {
			if w.latency != nil {
				w.latency(w.now() - pushed)
			}
		}}
	if w.model {
		return
	}
	dir, o := "data", pebblestore.Options{FS: w.fs, CacheBytes: 8 << 20, MemTableBytes: 4 << 20}
	if w.onDisk {
		dir, o.FS = w.t.TempDir(), nil
	}
	s, err := pebblestore.Open(dir, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.store.Store = s
}

// scatter spreads keys over all hashes.
func scatter(key uint64) uint64 {
	key = (key ^ key>>30) * 0xbf58476d1ce4e5b9
	key = (key ^ key>>27) * 0x94d049bb133111eb
	return key ^ key>>31
}

func (w *world) now() time.Duration { return time.Since(w.began) }

func (w *world) stamp() uint64 { return w.stamps.Add(1) }

// wait lets time pass.
func (w *world) wait(d time.Duration) { <-time.After(d) }

// periods is a number of periods.
func (w *world) periods(n float64) time.Duration { return time.Duration(n * float64(w.period)) }

func (w *world) encoded(key uint64) string {
	return string(schema.AppendKey(nil, schema.Uint64(w.hash(key)), schema.Uint64(key)))
}

// send pushes a message about a key.
func (w *world) send(key uint64, op int64) {
	w.feed.push(schema.Row{schema.Uint64(w.hash(key)), schema.Uint64(key), schema.Int64(op), schema.Int64(int64(w.now()))})
}

// fill gives new keys [from, to) a state without going through messages, as an
// owner of their partitions would who was there before.
func (w *world) fill(from, to uint64, data func(key uint64) uint64) {
	w.t.Helper()
	w.layout()
	w.write(from, to, func(key uint64) store.StateWrite {
		v := cell{Stamp: w.stamp()}
		if data != nil {
			v.Data = data(key)
		}
		if !w.quiet {
			w.rec.Add(flowtest.Event{Kind: flowtest.MessageCall, Key: flow.NewKey(w.keys, w.encoded(key)), Stamp: v.Stamp, Left: v.Stamp})
		}
		value, _ := cellCodec{}.Encode(v)
		return store.StateWrite{Name: "/cell", Value: value}
	})
}

// clear removes the states of the keys [from, to), unrecorded.
func (w *world) clear(from, to uint64) {
	w.t.Helper()
	w.write(from, to, func(uint64) store.StateWrite { return store.StateWrite{Name: "/cell"} })
}

const writeBatch = 20_000

// write makes this test the owner of every partition and commits a row for each
// key.
func (w *world) write(from, to uint64, row func(key uint64) store.StateWrite) {
	w.t.Helper()
	for _, p := range w.ranges() {
		job, err := w.store.RaiseGeneration(w.t.Context(), p.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		mine := flowtest.HashRange(p.Lower, p.Upper, p.Open)
		var states []store.StateWrite
		for key := from; key < to; key++ {
			if k := w.encoded(key); mine(flow.NewKey(w.keys, k)) {
				s := row(key)
				s.Key = k
				states = append(states, s)
			}
			if len(states) == writeBatch || key+1 == to {
				w.commit(&job.Partition, states)
				states = states[:0]
			}
		}
	}
}

func (w *world) commit(p *store.Partition, states []store.StateWrite) {
	w.t.Helper()
	c := &store.Commit{Partition: p.ID, Generation: p.Generation, Computation: p.Computation, Routing: p.Routing, States: states}
	if err := w.store.Commit(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

// keyOf returns the first key that is accepted.
func (w *world) keyOf(owns func(flow.Key) bool) (key uint64) {
	for !owns(flow.NewKey(w.keys, w.encoded(key))) {
		key++
	}
	return key
}

// layout makes the partitions without running any.
func (w *world) layout() {
	w.t.Helper()
	p := w.pipeline()
	p.Pause()
	if _, err := p.Run(w.t.Context(), w.store); err != nil {
		w.t.Fatal(err)
	}
}

// ranges are the partitions of the keeper, in order.
func (w *world) ranges() (out []store.Partition) {
	w.t.Helper()
	parts, err := w.store.Partitions(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range parts {
		if p.Kind == store.RangePartition {
			out = append(out, p)
		}
	}
	return out
}

func (w *world) pipeline() *engine.Pipeline {
	w.t.Helper()
	return w.prepared(nil, nil)
}

// prepared prepares the pipeline, for a worker if there is one.
func (w *world) prepared(h *hand, m engine.Membership) *engine.Pipeline {
	w.t.Helper()
	s, err := spec.Parse("field.yson", []byte(w.spec()))
	if err != nil {
		w.t.Fatal(err)
	}
	var functions flow.Registry
	var connectors connector.Registry
	o := engine.Options{Spec: s, Functions: &functions, Connectors: &connectors, Member: m, Log: slog.New(slog.DiscardHandler)}
	if os.Getenv("RONDO_TEST_LOG") != "" {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	err = errors.Join(
		functions.Register("keep", func(flow.Setup) (flow.Function, error) { return newKeeper(w, h), nil }),
		connectors.AddSource("feed", func(connector.Setup) (connector.Source, error) { return w.feed, nil }),
		connectors.AddSink("sink", func(connector.Setup) (connector.Sink, error) { return partedSink{w.sink}, nil }))
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := engine.Prepare(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// stored is what flowtest.Atomic wants: the stamps in the store by key.
func (w *world) stored() map[string]uint64 {
	w.t.Helper()
	a, err := w.store.ListStates(context.WithoutCancel(w.t.Context()), store.ListRequest{Computation: "keeper"})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]uint64{}
	for _, k := range a.Keys {
		for _, r := range k.Rows {
			if c, err := (cellCodec{}).Decode(r.Value); err == nil && r.Name == "/cell" {
				out[k.Key] = c.Stamp
			}
		}
	}
	return out
}

// errRefused is what a call returns that is to fail.
var errRefused = errors.New("refused by the scenario")

// check fails the test for each error.
func (w *world) check(errs ...error) {
	w.t.Helper()
	for _, err := range errs {
		if err != nil {
			w.t.Error(err)
		}
	}
}
