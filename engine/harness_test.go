package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a pipeline over memory: a source that holds rows, a function that
// counts them by key, and a sink that keeps what was written.
type rig struct {
	t          *testing.T
	rows       [][]schema.Row // by source partition
	gate       chan struct{}  // if set, the last row of each partition waits for it
	rate       int            // if set, so many rows a second of each partition are there to be read
	sink       *memorySink
	partitions int
	period     string
	dynamic    string // more dynamic fields of the counter
	onMessage  func(flow.Message) error
	function   func() flow.Function // in place of the counting function
	functions  map[string]flow.Function
	edit       func(spec string) string
	buffer     int    // Options.VisitBuffer
	dead       string // a source partition that cannot be opened
	timed      bool   // the source has watermarks of its own: the time of the next row
	shared     bool   // several workers run it
	log        io.Writer
	began      time.Time // when it was made, which rate goes by
}

// newRig makes n rows over the given number of keys, in two source partitions.
func newRig(t *testing.T, n, keys int) *rig {
	r := &rig{t: t, sink: &memorySink{}, partitions: 3, began: time.Now(), period: "20ms", rows: make([][]schema.Row, 2)}
	for i := range n {
		row := schema.Row{schema.String(strconv.Itoa(i % keys)), schema.Int64(int64(i)), schema.Int64(int64(i))}
		r.rows[i%2] = append(r.rows[i%2], row)
	}
	return r
}

const rigSpec = `{ spec = {
  streams = {
    rows = {schema = [{name=key;type=string;required=%%true}; {name=value;type=int64;required=%%true}; {name=at;type=int64;required=%%true}]};
    counts = {schema = [{name=key;type=string}; {name=count;type=int64}; {name=sum;type=int64}; {name=pass;type=uint64}; {name=final;type=boolean}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {memory = {source_class_name = memory}};
      watermark_strategy = {event_timestamp_assigner = {column = at; format = seconds}} };
    counter = { computation_class_name = transform; processing_function = count;
      group_by_schema = [{name=hash;type=uint64;required=%%true;expression="farm_hash(key)"}; {name=key;type=string}];
      input_stream_ids = [rows]; output_stream_ids = [counts];
      key_visitor_streams = {sweep = {}};
      streams_dependency = {counts = [sweep]};
      sinks = {out = {sink_class_name = memory; input_stream_ids = [counts]}} } } };
  dynamic_spec = {computations = {
    reader = {max_rows_per_batch = 37};
    counter = {desired_partition_count = %d; %s key_visitor_streams = {sweep = {period = "%s"}}}}} }`

func (r *rig) pipeline() *Pipeline {
	r.t.Helper()
	text := fmt.Sprintf(rigSpec, r.partitions, r.dynamic, r.period)
	if r.edit != nil {
		text = r.edit(text)
	}
	p, err := r.prepare(text)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *rig) prepare(text string) (*Pipeline, error) {
	s, err := spec.Parse("rig.yson", []byte(text))
	if err != nil {
		return nil, err
	}
	functions, connectors := r.registries()
	o := Options{Spec: s, Functions: functions, Connectors: connectors, Log: slog.New(slog.DiscardHandler), VisitBuffer: r.buffer}
	if r.log != nil {
		o.Log = slog.New(slog.NewTextHandler(r.log, nil))
	}
	if os.Getenv("RONDO_TEST_LOG") != "" {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return Prepare(r.t.Context(), o)
}

func (r *rig) newFunction() flow.Function {
	if r.function != nil {
		return r.function()
	}
	return newCountFunction(r)
}

// check demands that the final counts of all keys are what the rows say, each
// key once.
func (r *rig) check() {
	r.t.Helper()
	want := map[string][2]int64{}
	for _, part := range r.rows {
		for _, row := range part {
			w := want[row[0].AsString()]
			want[row[0].AsString()] = [2]int64{w[0] + 1, w[1] + row[1].AsInt64()}
		}
	}
	got := map[string][2]int64{}
	for _, m := range r.sink.written {
		if !m.Payload.Bool("final") {
			continue
		}
		key := m.Payload.String("key")
		if _, twice := got[key]; twice {
			r.t.Errorf("key %s was visited twice in the final pass", key)
		}
		got[key] = [2]int64{m.Payload.Int64("count"), m.Payload.Int64("sum")}
	}
	if len(got) != len(want) {
		r.t.Errorf("%d keys in the final pass, want %d", len(got), len(want))
	}
	for key, w := range want {
		if got[key] != w {
			r.t.Errorf("key %s: count and sum %v, want %v", key, got[key], w)
		}
	}
}

// countFunction counts and sums the rows of a key, and emits that on visits.
type countFunction struct {
	rig   *rig
	state *flow.State[countState]
}

type countState struct{ Count, Sum int64 }

func newCountFunction(r *rig) *countFunction {
	return &countFunction{rig: r, state: flow.NewState("/count", flow.CBOR[countState]())}
}

func (f *countFunction) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	if f.rig.onMessage != nil {
		if err := f.rig.onMessage(m); err != nil {
			return err
		}
	}
	h := f.state.Open(rt, m)
	s, _, err := h.Get()
	if err != nil {
		return err
	}
	return h.Set(countState{s.Count + 1, s.Sum + m.Payload.Int64("value")})
}

func (f *countFunction) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	h := f.state.Open(rt, v)
	s, _, err := h.Get()
	if err != nil {
		return err
	}
	row, err := v.Key.Row()
	if err != nil {
		return err
	}
	b := rt.MessageBuilder("counts")
	m, err := b.SetValue("key", row[1]).Set("count", s.Count).Set("sum", s.Sum).Set("pass", v.Pass).Set("final", v.Final).Finish()
	if err != nil {
		return err
	}
	return out.AddMessage(m)
}

// memorySource reads a rig's rows; offsets are row numbers.
type memorySource rig

func (s *memorySource) Partitions(context.Context) ([]string, error) {
	var out []string
	for i := range s.rows {
		out = append(out, strconv.Itoa(i))
	}
	return out, nil
}

func (s *memorySource) Open(_ context.Context, key string, offset []byte) (connector.Reader, error) {
	part, err := strconv.Atoi(key)
	if err != nil {
		return nil, err
	}
	at := 0
	if offset != nil {
		at, err = strconv.Atoi(string(offset))
	}
	if key == s.dead {
		err = errors.New("it is dead")
	}
	return &memoryReader{rows: s.rows[part], at: at, gate: s.gate, rate: s.rate, began: s.began}, err
}

func (s *memorySource) Watermarked() bool { return s.timed }

type memoryReader struct {
	rows  []schema.Row
	at    int
	gate  chan struct{}
	rate  int
	began time.Time
}

// there waits for rows that have come, and tells how many.
func (r *memoryReader) there(ctx context.Context) (int, error) {
	if r.rate == 0 {
		return len(r.rows), nil
	}
	next := r.began.Add(time.Duration(r.at+1) * time.Second / time.Duration(r.rate))
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(time.Until(next)):
	}
	return int(time.Since(r.began).Seconds() * float64(r.rate)), nil
}

func (r *memoryReader) Read(ctx context.Context, limit connector.Limit) (connector.Batch, error) {
	there, err := r.there(ctx)
	if err != nil {
		return connector.Batch{}, err
	}
	to := min(len(r.rows), r.at+limit.Rows, max(there, r.at+1))
	if r.gate != nil && r.at < len(r.rows) && to == len(r.rows) {
		if to = len(r.rows) - 1; r.at == to {
			select {
			case <-ctx.Done():
				return connector.Batch{}, ctx.Err()
			case <-r.gate:
				to++
			}
		}
	}
	b := connector.Batch{Rows: r.rows[r.at:to], Bytes: to - r.at, End: r.at == len(r.rows)} // the end comes by itself, as a file's does
	r.at = to
	b.Offset = []byte(strconv.Itoa(to))
	if to < len(r.rows) {
		b.Watermark = flow.Time(r.rows[to][2].AsInt64()) * flow.Time(time.Second)
	}
	return b, nil
}

func (r *memoryReader) Close() error { return nil }

// memorySink keeps what was written; what was not recorded is cut back when it
// is opened again, as a file would be.
type memorySink struct {
	mu      sync.Mutex
	written []flow.Message
	open    bool
}

func (s *memorySink) Open(_ context.Context, position []byte) (connector.Writer, []byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		return nil, nil, errors.New("the sink has a writer already")
	}
	n := 0
	if position != nil {
		var err error
		if n, err = strconv.Atoi(string(position)); err != nil || n > len(s.written) {
			return nil, nil, fmt.Errorf("position %q of %d: %w", position, len(s.written), err)
		}
	}
	s.written, s.open = s.written[:n], true
	return s, []byte(strconv.Itoa(n)), nil
}

func (s *memorySink) Target() string { return "memory" }

func (s *memorySink) Write(_ context.Context, messages []flow.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = append(s.written, slices.Clone(messages)...)
	return []byte(strconv.Itoa(len(s.written))), nil
}

func (s *memorySink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	return nil
}

var _ store.Store // the rig runs on any
