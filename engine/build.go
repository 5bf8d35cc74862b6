package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

// builder makes the plan of a spec and collects every problem on the way.
type builder struct {
	o        Options
	plan     plan
	problems []error
	targets  map[string]string // of sinks, with the paths of those who write them
}

// newPlan gives meaning to the names of a spec.
func newPlan(ctx context.Context, o Options) (*plan, error) {
	b := builder{o: o, targets: map[string]string{}}
	for _, id := range o.Spec.Pipeline.ComputationIDs() {
		b.computation(ctx, o.Spec.Pipeline.Computations[id])
	}
	return &b.plan, errors.Join(b.problems...)
}

func (b *builder) problem(path string, err error) {
	if err != nil {
		b.problems = append(b.problems, fmt.Errorf("%s: %w", path, err))
	}
}

func (b *builder) computation(ctx context.Context, c *spec.Computation) {
	path := "spec.computations." + c.ID
	n := &node{id: c.ID, owner: c.ID, dynamic: b.o.Spec.Dynamic.Computation(c.ID)}
	if c.GroupBy.Len() > 0 {
		n.key = c.GroupBy
	}
	b.inputs(n, c.Inputs)
	b.outputs(n, c)
	b.visitors(n, c)
	switch c.Class {
	case spec.ClassTransform:
		n.kind = store.RangePartition
		b.function(n, c, path)
	case spec.ClassSourcePassthrough:
		n.kind = store.SourcePartition
		b.source(ctx, n, c, path)
	}
	b.plan.nodes = append(b.plan.nodes, n)
	for _, id := range c.SinkIDs() {
		b.sink(n, c.Sinks[id], path+".sinks."+id)
	}
}

func (b *builder) inputs(n *node, streams []string) {
	p := &b.o.Spec.Pipeline
	for _, id := range streams {
		n.inputs = append(n.inputs, inputPlan{stream: id, producer: p.Producer(id).ID, schema: p.Streams[id].Schema})
	}
}

func (b *builder) outputs(n *node, c *spec.Computation) {
	for _, id := range c.Outputs {
		s := b.o.Spec.Pipeline.Streams[id].Schema
		n.outputs = append(n.outputs, partition.Output{Stream: id, Parents: c.Dependencies[id]})
		n.schemas = append(n.schemas, s)
		assign, err := newAssigner(c.Watermark.Assigner, s)
		b.problem("spec.computations."+c.ID+".watermark_strategy.event_timestamp_assigner, for stream "+id, err)
		n.assigners = append(n.assigners, assign)
	}
}

func (b *builder) visitors(n *node, c *spec.Computation) {
	for i, id := range c.VisitStreamIDs() {
		v := c.VisitStreams[id]
		plan := visitorPlan{stream: id, index: uint16(len(c.Outputs) + i), buckets: v.BucketCount, upstream: v.Upstream}
		if len(v.Names) > 0 {
			plan.names = v.Names
		}
		n.visitors = append(n.visitors, plan)
	}
}

// function finds the function and tries its factory, so that wrong parameters
// show before anything runs.
func (b *builder) function(n *node, c *spec.Computation, path string) {
	var known bool
	if n.factory, known = b.o.Functions.Lookup(c.ProcessingFunction); !known {
		b.problem(path+".processing_function", fmt.Errorf("no function %q: known are %s", c.ProcessingFunction, strings.Join(b.o.Functions.Names(), ", ")))
		return
	}
	n.setup = flow.Setup{
		Computation: c.ID,
		Parameters:  flow.NewParameters(c.FunctionParameters, path+".processing_function_parameters"),
		Inputs:      b.schemas(c.Inputs), Outputs: b.schemas(c.Outputs), Key: n.key,
		Visits: c.VisitStreamIDs(), Parents: c.Dependencies,
	}
	f, err := n.factory(n.setup)
	if err == nil {
		err = n.accepts(f)
	}
	b.problem(path, err)
}

// accepts tells whether the function has the methods that the computation
// needs, one of each kind.
func (n *node) accepts(f flow.Function) error {
	c := callsOf(f)
	if err := c.misspelled(f); err != nil {
		return err
	}
	messages, visits := c.onMessage != nil || c.onMessages != nil, c.onVisit != nil || c.onVisits != nil
	switch {
	case c.onMessage != nil && c.onMessages != nil:
		return fmt.Errorf("function %T has both OnMessage and OnMessages: leave one out", f)
	case c.onVisit != nil && c.onVisits != nil:
		return fmt.Errorf("function %T has both OnVisit and OnVisits: leave one out", f)
	case len(n.inputs) > 0 && !messages:
		return fmt.Errorf("function %T has no OnMessage or OnMessages, but the computation has inputs", f)
	case len(n.inputs) == 0 && !visits:
		return fmt.Errorf("function %T has no OnVisit or OnVisits, but the computation has visits only", f)
	default:
		return nil
	}
}

func (b *builder) schemas(streams []string) flow.Streams {
	out := flow.Streams{}
	for _, id := range streams {
		out[id] = b.o.Spec.Pipeline.Streams[id].Schema
	}
	return out
}

func (b *builder) source(ctx context.Context, n *node, c *spec.Computation, path string) {
	if len(c.SourceIDs()) != 1 || len(c.Outputs) != 1 {
		b.problem(path, errors.New("a passthrough source has one source stream and one output stream: make a computation for each"))
		return
	}
	id := c.SourceIDs()[0]
	src := c.Sources[id]
	path += ".source_streams." + id
	factory, known := b.o.Connectors.Source(src.ClassName)
	if !known {
		b.problem(path+".source_class_name", fmt.Errorf("no source %q: known are %s", src.ClassName, strings.Join(b.o.Connectors.SourceClasses(), ", ")))
		return
	}
	n.sourceStream = id
	var err error
	if n.source, err = factory(b.setup(c.ID, id, src.Parameters, path, n.schemas[0], nil)); err != nil {
		b.problem(path, err)
		return
	}
	if _, later := n.source.(connector.InStore); later {
		return // its partitions are known when there is a store, see attach
	}
	b.problem(path, n.enumerate(ctx))
}

// enumerate asks the source for its partitions.
func (n *node) enumerate(ctx context.Context) (err error) {
	if n.sourceKeys, err = n.source.Partitions(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	slices.Sort(n.sourceKeys)
	return nil
}

// sink makes a node of its own for a sink: it has its own inbox and one writer
// (D-26).
func (b *builder) sink(owner *node, s *spec.Sink, path string) {
	if factory, inStore := b.o.Connectors.StoreSink(s.ClassName); inStore {
		sink, err := factory(b.setup(owner.id, s.ID, s.Parameters, path, nil, b.schemas(s.Inputs)))
		b.problem(path, err)
		owner.storeSinks = append(owner.storeSinks, storeSink{s.Inputs, sink})
		return
	}
	n := &node{id: owner.id + "/sinks/" + s.ID, owner: owner.id, kind: store.SinkPartition, dynamic: owner.dynamic}
	b.inputs(n, s.Inputs)
	factory, known := b.o.Connectors.Sink(s.ClassName)
	if !known {
		b.problem(path+".sink_class_name", fmt.Errorf("no sink %q: known are %s", s.ClassName, strings.Join(b.o.Connectors.SinkClasses(), ", ")))
		return
	}
	var err error
	n.sink, err = factory(b.setup(owner.id, s.ID, s.Parameters, path, nil, b.schemas(s.Inputs)))
	b.problem(path, err)
	b.target(n.sink, path)
	b.plan.nodes = append(b.plan.nodes, n)
}

// target refuses a second sink with the same target.
func (b *builder) target(s connector.Sink, path string) {
	t, ok := s.(connector.Targeted)
	if !ok {
		return
	}
	target := t.Target()
	if first, taken := b.targets[target]; taken {
		b.problem(path, fmt.Errorf("it writes %s, as does %s: give each sink its own, or let one sink take all the streams", target, first))
		return
	}
	b.targets[target] = path
}

func (b *builder) setup(computation, name string, params *yson.Node, path string, s *schema.Schema, streams flow.Streams) connector.Setup {
	return connector.Setup{
		Computation: computation, Name: name,
		Parameters: flow.NewParameters(params, path+".parameters"),
		Schema:     s, Streams: streams,
		SpecDir: b.o.SpecDir, DataDir: b.o.DataDir,
	}
}
