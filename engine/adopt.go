package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/yson"
)

// open makes the store this pipeline's, or checks that it is and that the spec
// fits the data in it; only then anything is changed.
func (p *Pipeline) open(ctx context.Context, s store.Store) error {
	stored, next, parts, err := p.compare(ctx, s)
	if err != nil {
		return err
	}
	if err := p.plan.ready(ctx, s, p.log); err != nil {
		return err
	}
	missing, err := p.plan.missing(parts, p.plan.layout(p.opts.Cores, parts))
	if err != nil {
		return err
	}
	changed := stored == nil || !stored.Equal(next)
	if shared, ok := s.(store.Cluster); ok && (changed || len(missing) > 0) {
		err := shared.Submit(ctx, next, missing)
		if errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("somebody else submitted or changed the pipeline at the same time, so nothing is changed now: look at what is there (rondo spec get), and submit again: %w", err)
		}
		return err
	}
	if changed {
		if err := s.SavePipeline(ctx, next); err != nil {
			return fmt.Errorf("store the spec: %w", err)
		}
	}
	if len(missing) > 0 {
		if _, err := s.CreatePartitions(ctx, missing); err != nil {
			return fmt.Errorf("create partitions: %w", err)
		}
	}
	return nil
}

// ready checks the plan against what is in the store, and binds it to that.
func (p *plan) ready(ctx context.Context, s store.Store, log *slog.Logger) error {
	if err := p.check(ctx, s); err != nil {
		return err
	}
	if err := errors.Join(p.checkTables(ctx, s, log), p.bindJoiners(ctx, s)); err != nil {
		return err
	}
	return p.attach(ctx, s)
}

// compare reads what a store has of a pipeline, and decides what it is to have next.
// Computations that are completed have carried out what they were told: should they start
// again, they must not begin with that.
func (p *Pipeline) compare(ctx context.Context, s store.Catalog) (stored, next *store.Pipeline, parts []store.Partition, err error) {
	if stored, err = s.Pipeline(ctx); err != nil {
		return nil, nil, nil, fmt.Errorf("read the stored pipeline: %w", err)
	}
	if err := p.wants(stored); err != nil {
		return nil, nil, nil, err
	}
	if parts, err = s.Partitions(ctx); err != nil {
		return nil, nil, nil, fmt.Errorf("read partitions: %w", err)
	}
	reports, err := s.Reports(ctx)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read reports: %w", err)
	}
	if next, err = p.adopt(stored, len(parts) > 0, reports, anotherOf(s)); err == nil {
		next.Runs = slices.DeleteFunc(next.Runs, func(r store.Run) bool { return finished(of(parts, r.Computation)) })
	}
	return stored, next, parts, err
}

// wants checks the version of the stored spec, if somebody cares.
func (p *Pipeline) wants(stored *store.Pipeline) error {
	switch want := p.opts.Version; {
	case want == 0:
		return nil
	case stored == nil:
		return fmt.Errorf("%w: there is none yet, and not version %d: leave the version out", ErrVersion, want)
	case stored.Version != want:
		return fmt.Errorf("%w: it has version %d, not %d; read it again", ErrVersion, stored.Version, want)
	default:
		return nil
	}
}

// adopt decides what is to be stored of the pipeline, and which dynamic spec is
// in force: the file's, unless it is the one that was loaded last and another
// was set since.
func (p *Pipeline) adopt(stored *store.Pipeline, data bool, reports []store.Report, another string) (*store.Pipeline, error) {
	sp := p.opts.Spec
	if stored == nil {
		return &store.Pipeline{Name: sp.Name, Static: sp.StaticText, Dynamic: sp.DynamicText, Loaded: sp.DynamicText}, nil
	}
	if stored.Name != sp.Name {
		return nil, fmt.Errorf("the store belongs to pipeline %s, not %s: choose another %s", stored.Name, sp.Name, another)
	}
	next := stored.Clone()
	if stored.Static != sp.StaticText {
		if err := p.checkStatic(stored, data, reports, another); err != nil {
			return nil, err
		}
		p.log.Info("the static spec has changed, the new one is in force", "pipeline", sp.Name)
		next.Static = sp.StaticText
	}
	if stored.Loaded != sp.DynamicText {
		if gone := dropped(stored.Loaded, stored.Dynamic, sp.DynamicText); len(gone) > 0 {
			p.log.Warn("the file's dynamic spec has changed, so that it is in force and what was set before is not any more: set it again, or write it into the file", "pipeline", sp.Name, "dropped", strings.Join(gone, "; "))
		}
		next.Dynamic, next.Loaded = sp.DynamicText, sp.DynamicText
	}
	next.Runs = slices.DeleteFunc(next.Runs, func(r store.Run) bool {
		c := sp.Pipeline.Computations[r.Computation]
		return c == nil || c.VisitStreams[r.Stream] == nil
	})
	return next, p.force(next)
}

// anotherOf is how a command chooses another store than this one.
func anotherOf(s store.Catalog) string {
	if _, shared := s.(store.Cluster); shared {
		return "store with --store, such as one in another schema (rondo_schema=NAME in its URL)"
	}
	return "data folder with --data"
}

// force applies a stored dynamic spec that is not the file's.
func (p *Pipeline) force(in *store.Pipeline) error {
	if in.Dynamic == p.opts.Spec.DynamicText {
		return nil
	}
	effective, err := spec.Stored(in.Name, p.opts.Spec.Path, in.Static, in.Dynamic)
	if err != nil {
		return fmt.Errorf("the stored dynamic spec: %w", err)
	}
	p.log.Info("the dynamic spec that was set is in force, not the file's", "pipeline", in.Name, "version", in.Version)
	p.plan.apply(&effective.Dynamic)
	return nil
}

// checkStatic refuses changes that the data would not survive.
func (p *Pipeline) checkStatic(stored *store.Pipeline, data bool, reports []store.Report, another string) error {
	if !data {
		return nil
	}
	before, err := spec.Stored(stored.Name, p.opts.Spec.Path, stored.Static, stored.Loaded)
	if err != nil {
		return fmt.Errorf("the stored static spec: %w", err)
	}
	problems := incompatible(&before.Pipeline, &p.opts.Spec.Pipeline)
	problems = append(problems, reopened(&before.Pipeline, &p.opts.Spec.Pipeline, reports)...)
	if len(problems) == 0 {
		return nil
	}
	problems = append(problems, fmt.Errorf("the data of the pipeline was made with the former spec: undo these changes, or start in another %s", another))
	return errors.Join(problems...)
}

// incompatible lists the changes of a static spec that concern what is stored:
// keys, rows, and who reads and writes them.
func incompatible(before, after *spec.Pipeline) (problems []error) {
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	for _, id := range before.StreamIDs() {
		if s := after.Streams[id]; s != nil && !s.Schema.Equal(before.Streams[id].Schema) {
			add("spec.streams.%s.schema has changed", id)
		}
	}
	for _, id := range before.ComputationIDs() {
		if after.Computations[id] == nil {
			add("spec.computations.%s is gone", id)
		}
	}
	for _, id := range after.ComputationIDs() {
		path := "spec.computations." + id
		a, b := before.Computations[id], after.Computations[id]
		if a == nil {
			add("%s is new", path)
			continue
		}
		for _, c := range []struct {
			field string
			same  bool
		}{
			{"computation_class_name", a.Class == b.Class},
			{"group_by_schema", a.GroupBy.Equal(b.GroupBy)},
			{"input_stream_ids", slices.Equal(a.Inputs, b.Inputs)},
			{"output_stream_ids", slices.Equal(a.Outputs, b.Outputs)},
			{"sinks", maps.EqualFunc(a.Sinks, b.Sinks, sameSink)},
			{"source_streams", maps.EqualFunc(a.Sources, b.Sources, func(x, y *spec.Source) bool { return x.ClassName == y.ClassName })},
		} {
			if !c.same {
				add("%s.%s has changed", path, c.field)
			}
		}
	}
	for _, id := range after.ComputationIDs() {
		for _, timer := range timersGone(before.Computations[id], after.Computations[id]) {
			add("spec.computations.%s.timer_streams.%s is gone, and timers of it may be set", id, timer)
		}
	}
	return problems
}

func timersGone(before, after *spec.Computation) []string {
	if before == nil {
		return nil
	}
	return slices.DeleteFunc(before.TimerStreamIDs(), func(id string) bool { return after.TimerStreams[id] != nil })
}

// sameSink tells whether a sink goes on where it was: what it has written must fit
// what it will write.
func sameSink(a, b *spec.Sink) bool {
	return a.ClassName == b.ClassName && slices.Equal(a.Inputs, b.Inputs) && slices.Equal(text(a.Parameters), text(b.Parameters))
}

// text is the canonical form of parameters, nil for none.
func text(n *yson.Node) []byte {
	if n == nil {
		return nil
	}
	return yson.Encode(n)
}

// reopened lists output streams that are completed by what they depended on, and
// now depend on something else: their consumers are gone, and what is emitted
// later would be lost.
func reopened(before, after *spec.Pipeline, reports []store.Report) (problems []error) {
	told := map[string]bool{}
	for _, r := range reports {
		for _, s := range r.Streams {
			a, b := before.Computations[r.Computation], after.Computations[r.Computation]
			if s.State != store.Finished || a == nil || b == nil || told[s.Stream] {
				continue
			}
			if !slices.Equal(sorted(a.Dependencies[s.Stream]), sorted(b.Dependencies[s.Stream])) {
				told[s.Stream] = true
				problems = append(problems, fmt.Errorf("spec.computations.%s.streams_dependency.%s has changed, but the stream is completed and its readers are gone", r.Computation, s.Stream))
			}
		}
	}
	return problems
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// Check tells what sources and sinks would miss in a store, such as a queue to
// read; nil is one that has nothing. Run does so too before it changes anything.
func (p *Pipeline) Check(ctx context.Context, s store.Queues) error { return p.plan.check(ctx, s) }

func (p *plan) check(ctx context.Context, s store.Queues) (err error) {
	var queues []store.Queue
	if s != nil {
		if queues, err = s.Queues(ctx); err != nil {
			return fmt.Errorf("list queues: %w", err)
		}
	}
	return p.eachInStore(func(_ *node, c connector.InStore) (err error) {
		queues, err = c.Check(queues)
		return err
	})
}

// attach hands the store to the sinks and sources whose data lies in it.
func (p *plan) attach(ctx context.Context, s store.Queues) error {
	return p.eachInStore(func(n *node, c connector.InStore) error {
		err := c.Attach(ctx, s)
		if _, sink := c.(connector.StoreSink); sink || err != nil {
			return err
		}
		return n.enumerate(ctx)
	})
}

// eachInStore shows do the sinks and sources whose data lies in the store: sinks
// first, since they make what sources of the same pipeline may read.
func (p *plan) eachInStore(do func(*node, connector.InStore) error) error {
	for _, n := range p.nodes {
		for _, sink := range n.storeSinks {
			if err := do(n, sink.sink); err != nil {
				return fmt.Errorf("sink of computation %s: %w", n.id, err)
			}
		}
	}
	for _, n := range p.nodes {
		if source, ok := n.source.(connector.InStore); ok {
			if err := do(n, source); err != nil {
				return fmt.Errorf("source %s of computation %s: %w", n.sourceStream, n.id, err)
			}
		}
	}
	return nil
}
