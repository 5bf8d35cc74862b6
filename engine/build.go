package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

// builder makes the plan of a spec and collects every problem on the way. Of a
// spec that has problems already, it looks at what is sound and makes no plan.
type builder struct {
	o        Options
	plan     plan
	problems yson.Problems
	inputs   []error           // those of ErrInput
	targets  map[string]string // of sinks, with the paths of those who write them
	owners   map[string]string // of tables, with the paths of those who write them
}

// newPlan gives meaning to the names of a spec. Its error joins the problems,
// those of the spec among them, and what is wrong with the input.
func newPlan(ctx context.Context, o Options) (*plan, error) {
	b := builder{o: o, problems: slices.Clone(o.Spec.Problems), targets: map[string]string{}, owners: map[string]string{}}
	for _, id := range o.Spec.Pipeline.ComputationIDs() {
		b.computation(ctx, o.Spec.Pipeline.Computations[id])
	}
	b.plan.tellBlockers()
	b.problems.Sort()
	return &b.plan, errors.Join(append([]error{b.problems.Err()}, b.inputs...)...)
}

func (b *builder) problem(path string, err error) {
	if err != nil {
		b.problems = append(b.problems, b.o.Spec.ProblemsAt(path, err)...)
	}
}

// schema returns the schema of a stream, nil if the spec has problems with it.
func (b *builder) schema(stream string) *schema.Schema {
	s := b.o.Spec.Pipeline.Streams[stream]
	if s == nil || !b.o.Spec.Sound(yson.Join("spec.streams", stream)) {
		return nil
	}
	return s.Schema
}

// sound reports whether the spec has no problem at or below path, nor with the
// streams.
func (b *builder) sound(path string, streams ...string) bool {
	return b.o.Spec.Sound(path) && !slices.ContainsFunc(streams, func(id string) bool { return b.schema(id) == nil })
}

func (b *builder) computation(ctx context.Context, c *spec.Computation) {
	path := yson.Join("spec.computations", c.ID)
	n := &node{id: c.ID, owner: c.ID, dynamic: b.o.Spec.Dynamic.Computation(c.ID)}
	if c.GroupBy.Len() > 0 {
		n.key = c.GroupBy
	}
	b.inputsOf(n, c.Inputs)
	for i := range n.inputs {
		n.inputs[i].idle = idleOf(b.o.Spec.Pipeline.Producer(n.inputs[i].stream))
	}
	b.outputsOf(n, c, path)
	b.managers(n, c, path)
	b.joiners(ctx, n, c, path)
	b.lookups(n, c, path)
	n.visitors, n.timers = visitorsOf(n, c), timersOf(c)
	n.generator, n.alignment = c.Watermark.Generator, c.Watermark.Alignment
	n.delays = delaysOf(&b.o.Spec.Pipeline, c)
	n.emits, n.order = emittingOf(c), orderOf(c.Ordering)
	switch {
	case c.Class.IsCompanion(), c.Class == 0: // refused by the spec
	case c.Class.IsSource():
		n.kind = store.SourcePartition
		b.source(ctx, n, c, path)
	default:
		n.kind = store.RangePartition
	}
	switch {
	case c.Class.RunsFunction():
		b.function(n, c, path)
	case c.Class.IsPassthrough() && !c.Class.IsSource():
		n.factory, n.setup = newPassOn, flow.Setup{Parents: c.Dependencies}
	}
	b.plan.nodes = append(b.plan.nodes, n)
	for _, id := range c.SinkIDs() {
		b.sink(n, c.Sinks[id], yson.Join(path, "sinks", id))
	}
}

func emittingOf(c *spec.Computation) emitting {
	switch {
	case !c.Class.IsSwiftMap():
		return fromAll
	case c.AllowBatching:
		return fromMessages
	default:
		return fromOneMessage
	}
}

func (b *builder) inputsOf(n *node, streams []string) {
	for _, id := range streams {
		if producer := b.o.Spec.Pipeline.Producer(id); producer != nil {
			n.inputs = append(n.inputs, inputPlan{stream: id, producer: producer.ID, schema: b.schema(id)})
		}
	}
}

func (b *builder) outputsOf(n *node, c *spec.Computation, path string) {
	path = yson.Join(path, "watermark_strategy", "event_timestamp_assigner")
	for _, id := range c.Outputs {
		s := b.schema(id)
		if s == nil {
			continue
		}
		n.outputs = append(n.outputs, partition.Output{Stream: id, Parents: c.Dependencies[id]})
		n.schemas = append(n.schemas, s)
		assign, err := newAssigner(c.Watermark.Assigner, s)
		if err != nil && b.sound(path) {
			b.problem(path, fmt.Errorf("stream %s: %w", id, err))
		}
		n.assigners = append(n.assigners, assign)
	}
}

func visitorsOf(n *node, c *spec.Computation) (plans []visitorPlan) {
	for i, id := range c.VisitStreamIDs() {
		v := c.VisitStreams[id]
		plan := visitorPlan{stream: id, index: uint16(len(c.Outputs) + i), buckets: v.BucketCount, upstream: v.Upstream}
		plan.internal, plan.managed, plan.joined = v.ScansInternal(), n.managed(v.ExternalNames), n.scanned(v.ExternalNames)
		plan.listed = slices.Concat(v.Names, slices.DeleteFunc(slices.Clone(v.ExternalNames), func(name string) bool {
			j := c.ExternalJoiners[name]
			return j != nil && !j.VisitorDriven() // it is never scanned, so nothing is found under it
		}))
		if len(v.Names) > 0 {
			plan.names = v.Names
		}
		plans = append(plans, plan)
	}
	return plans
}

// function finds the function and tries its factory, so that wrong parameters
// show before anything runs.
func (b *builder) function(n *node, c *spec.Computation, path string) {
	var known bool
	if n.factory, known = b.o.Functions.Lookup(c.ProcessingFunction); !known && c.ProcessingFunction != "" {
		b.unknown(n, path+".processing_function", "function", c.ProcessingFunction, b.o.Functions.Names())
	}
	if !known || !b.sound(path, slices.Concat(c.Inputs, c.Outputs)...) {
		return
	}
	n.setup = flow.Setup{
		Computation: c.ID,
		Parameters:  flow.NewParameters(c.FunctionParameters, path+".processing_function_parameters"),
		Inputs:      b.schemas(c.Inputs), Outputs: b.schemas(c.Outputs), Key: n.key,
		Timers: c.TimerStreamIDs(), Visits: c.VisitStreamIDs(), Parents: c.Dependencies,
		Externals: n.externals(),
	}
	for _, id := range c.SourceIDs() {
		n.setup.Inputs[id] = b.o.Spec.Pipeline.SchemaOf(c, id)
	}
	f, err := made(n.factory(n.setup))
	if err == nil {
		err = n.accepts(f)
	}
	b.problem(path, err)
	n.checker, _ = f.(flow.TableChecker)
	if err == nil {
		d := b.o.Spec.Dynamic.Computation(c.ID)
		b.problem(dynamicParameters(c.ID), n.reconfigure(callsOf(f), d))
	}
}

// made refuses a factory that made nothing and does not say why.
func made[T any](v T, err error) (T, error) {
	if err == nil && any(v) == nil {
		err = errors.New("the factory returned neither a value nor an error: correct it")
	}
	return v, err
}

// unknown tells of a name that is not one of known. A worker leaves what needs it to
// others.
func (b *builder) unknown(n *node, path, what, name string, known []string) {
	if b.o.Member != nil {
		n.lacks = append(n.lacks, fmt.Sprintf("no %s %q", what, name))
		return
	}
	hint := yson.DidYouMean(name, known)
	if len(known) == 0 {
		hint = "none is registered; add them to the registry in the options"
	}
	b.problem(path, fmt.Errorf("no %s %q: %s", what, name, hint))
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
	case c.onTimer != nil && c.onTimers != nil:
		return fmt.Errorf("function %T has both OnTimer and OnTimers: leave one out", f)
	case len(n.timers) > 0 && c.onTimer == nil && c.onTimers == nil:
		return fmt.Errorf("function %T has no OnTimer or OnTimers, but the computation has timer streams: add one, or remove timer_streams", f)
	case len(n.setup.Inputs) > 0 && !messages:
		return fmt.Errorf("function %T has no OnMessage or OnMessages, but the computation has inputs", f)
	case len(n.setup.Inputs) == 0 && !visits:
		return fmt.Errorf("function %T has no OnVisit or OnVisits, but the computation has visits only", f)
	default:
		return nil
	}
}

func (b *builder) schemas(streams []string) flow.Streams {
	out := flow.Streams{}
	for _, id := range streams {
		out[id] = b.schema(id)
	}
	return out
}

func (b *builder) source(ctx context.Context, n *node, c *spec.Computation, path string) {
	if len(c.Sources) != 1 || len(c.Outputs) == 0 {
		return // refused by the spec
	}
	id := c.SourceIDs()[0]
	src := c.Sources[id]
	path = yson.Join(path, "source_streams", id)
	if s := yson.Join("spec.streams", id); !b.o.Spec.Sound(s) {
		return
	}
	n.sourceStream, n.sourceSchema = id, b.o.Spec.Pipeline.SchemaOf(c, id)
	factory, known := b.o.Connectors.Source(src.ClassName)
	if !known && src.ClassName != "" {
		b.unknown(n, path+".source_class_name", "source", src.ClassName, b.o.Connectors.SourceClasses())
	}
	if !known || !b.sound(path, c.Outputs...) {
		return
	}
	var err error
	if n.source, err = made(factory(b.setup(c.ID, id, src.Parameters, path, n.sourceSchema, nil))); err != nil {
		b.problem(path, err)
		return
	}
	if g := c.Watermark.Generator; g != nil && g.UseSourceWatermark && !selfTimed(n.source) {
		b.problem(yson.Join("spec.computations", c.ID, "watermark_strategy", "watermark_generator", "use_source_watermark"),
			fmt.Errorf("the source %s has no watermarks of its own here: leave this out, and set out_of_orderness_bound", src.ClassName))
	}
	if _, later := n.source.(connector.InStore); later || b.o.Member != nil {
		return // its partitions are known when there is a store, see attach and lacking
	}
	if err := n.enumerate(ctx); err != nil {
		b.inputs = append(b.inputs, fmt.Errorf("%s: %w", path, err))
	}
}

// selfTimed tells that a source has watermarks of its own.
func selfTimed(s connector.Source) bool {
	w, ok := s.(connector.Watermarked)
	return ok && w.Watermarked()
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
	inStore, isInStore := b.o.Connectors.StoreSink(s.ClassName)
	factory, known := b.o.Connectors.Sink(s.ClassName)
	known = known || isInStore
	n := &node{id: owner.id + "/sinks/" + s.ID, owner: owner.id, kind: store.SinkPartition, dynamic: owner.dynamic}
	if !known && s.ClassName != "" {
		b.unknown(n, path+".sink_class_name", "sink", s.ClassName, b.o.Connectors.SinkClasses())
	}
	if len(n.lacks) > 0 { // whether it has partitions is seen in the store, see settle
		b.inputsOf(n, s.Inputs)
		b.plan.nodes = append(b.plan.nodes, n)
	}
	if !known || !b.sound(path, s.Inputs...) {
		return
	}
	if isInStore {
		sink, err := made(inStore(b.setup(owner.id, s.ID, s.Parameters, path, nil, b.schemas(s.Inputs))))
		b.problem(path, err)
		owner.storeSinks = append(owner.storeSinks, storeSink{s.Inputs, sink})
		return
	}
	b.inputsOf(n, s.Inputs)
	var err error
	n.sink, err = made(factory(b.setup(owner.id, s.ID, s.Parameters, path, nil, b.schemas(s.Inputs))))
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
