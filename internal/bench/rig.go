package bench

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
)

// Setup says how large a measured pipeline is.
type Setup struct {
	// Counters and Sources are the numbers of partitions of the counting
	// computation and of its source.
	Counters, Sources int
	// Keys is the number of different keys, Messages that of messages.
	Keys, Messages int
	// Period is the visit stream's.
	Period string
	// Endless: the source waits after its last message, so that visits go on.
	Endless bool
	// Update: a visit writes the state of its key.
	Update bool
}

const specText = `{ name = bench; spec = {
  streams = {rows = {schema = [{name=key;type=uint64;required=%%true}]}};
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {generate = {source_class_name = generate}} };
    counter = { computation_class_name = transform; processing_function = count;
      group_by_schema = [{name=hash;type=uint64;required=%%true;expression="farm_hash(key)"}; {name=key;type=uint64}];
      input_stream_ids = [rows]; key_visitor_streams = {%s} } } };
  dynamic_spec = {computations = {counter = {desired_partition_count = %d; key_visitor_streams = {%s}}}} }`

// Pipeline returns the counting pipeline: one state for each key, a no-op on
// visits.
func (s Setup) Pipeline(ctx context.Context) (*engine.Pipeline, error) {
	static, dynamic := "", ""
	if s.Period != "" {
		static, dynamic = "sweep = {}", fmt.Sprintf("sweep = {period = %q}", s.Period)
	}
	parsed, err := spec.Parse("bench.yson", fmt.Appendf(nil, specText, static, s.Counters, dynamic))
	if err != nil {
		return nil, err
	}
	var functions flow.Registry
	var connectors connector.Registry
	if err := functions.Register("count", s.newCount); err != nil {
		return nil, err
	}
	if err := connectors.AddSource("generate", func(connector.Setup) (connector.Source, error) { return generator{s}, nil }); err != nil {
		return nil, err
	}
	return engine.Prepare(ctx, engine.Options{Spec: parsed, Functions: &functions, Connectors: &connectors, Log: slog.New(slog.DiscardHandler)})
}

// count keeps the number of messages of a key.
type count struct {
	state  *flow.State[int64]
	update bool
}

func (s Setup) newCount(flow.Setup) (flow.Function, error) {
	return &count{flow.NewState("/count", flow.CBOR[int64]()), s.Update}, nil
}

func (c *count) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	return increment(c.state.Open(rt, m))
}

func (c *count) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, _ flow.OutputCollector) error {
	if !c.update {
		return nil
	}
	return increment(c.state.Open(rt, v))
}

func increment(h flow.Handle[int64]) error {
	n, _, err := h.Get()
	if err != nil {
		return err
	}
	return h.Set(n + 1)
}

// generator is a source that counts through the keys.
type generator struct{ Setup }

// Partitions implements connector.Source.
func (g generator) Partitions(context.Context) ([]string, error) {
	var out []string
	for i := range g.Sources {
		out = append(out, strconv.Itoa(i))
	}
	return out, nil
}

func (g generator) Open(_ context.Context, key string, offset []byte) (connector.Reader, error) {
	part, err := strconv.Atoi(key)
	if err != nil {
		return nil, err
	}
	r := &generatorReader{generator: g, part: part}
	if offset != nil {
		r.next, err = strconv.Atoi(string(offset))
	}
	return r, err
}

type generatorReader struct {
	generator
	part, next int
}

func (r *generatorReader) Read(ctx context.Context, limit connector.Limit) (connector.Batch, error) {
	total := r.Messages/r.Sources + b2i(r.part < r.Messages%r.Sources)
	if r.next == total && r.Endless {
		<-ctx.Done()
		return connector.Batch{}, ctx.Err()
	}
	n := min(limit.Rows, total-r.next)
	b := connector.Batch{Rows: make([]schema.Row, n), Bytes: 8 * n}
	values := make([]schema.Value, n)
	for i := range n {
		values[i] = schema.Uint64(uint64(((r.next+i)*r.Sources + r.part) % r.Keys))
		b.Rows[i] = values[i : i+1 : i+1]
	}
	r.next += n
	b.Offset = []byte(strconv.Itoa(r.next))
	b.End = r.next == total && !r.Endless
	return b, nil
}

func (r *generatorReader) Close() error { return nil }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
