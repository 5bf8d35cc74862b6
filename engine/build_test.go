package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

// judge prepares a tree with the rig's functions and connectors.
func (r *rig) judge(root *yson.Node) error {
	s, _ := spec.FromNode("rig.yson", root)
	functions, connectors := r.registries()
	_, err := Prepare(r.t.Context(), Options{Spec: s, Functions: functions, Connectors: connectors})
	return err
}

// TestAllProblemsAreToldTogether: those of the spec, and those of what is sound
// in it.
func TestAllProblemsAreToldTogether(t *testing.T) {
	r := newRig(t, 1, 1)
	text := fmt.Sprintf(rigSpec, 3, "", "0s")
	for _, change := range [][2]string{
		{"source_class_name = memory", "source_class_name = memry"},
		{"processing_function = count", "processing_function = counts"},
		{"sink_class_name = memory", "sink_class_name = tape"},
		{"format = seconds", "format = iso8601"},
		{"{name=pass;type=uint64}", "{name=pass;type=uint65}"},
	} {
		text = strings.Replace(text, change[0], change[1], 1)
	}
	root, err := yson.Parse([]byte(text), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	err = r.judge(root)
	for _, want := range []string{
		`4:113: spec.streams.counts.schema[3].type: unknown column type "uint65": did you mean uint64?`,
		`spec.computations.reader.source_streams.memory.source_class_name: no source "memry": did you mean memory?`,
		`spec.computations.reader.watermark_strategy.event_timestamp_assigner.column: `,
		`spec.computations.counter.processing_function: no function "counts": did you mean count?`,
		`spec.computations.counter.sinks.out.sink_class_name: no sink "tape": there are memory`,
		`dynamic_spec.computations.counter.key_visitor_streams.sweep.period: must be > 0`,
	} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("it is not told once that %s\n%v", want, err)
		}
	}
	if lines := strings.Count(fmt.Sprint(err), "\n") + 1; lines != 6 {
		t.Errorf("there are %d lines:\n%v", lines, err)
	}
}

// TestWhateverIsWrongWithASpecHasProblems replaces and removes every value of a
// valid spec, one at a time. Prepare tells what is wrong with it, and at least
// what the spec itself does.
func TestWhateverIsWrongWithASpecHasProblems(t *testing.T) {
	r := newRig(t, 1, 1)
	root, err := yson.Parse(fmt.Appendf(nil, rigSpec, 3, "", "1s"), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.judge(root); err != nil {
		t.Fatal(err)
	}
	tried, refused := 0, 0
	everywhere(root, func(n *yson.Node) {
		before := *n
		for _, value := range []*yson.Node{yson.Entity(), yson.Int64(7), yson.String("in"), yson.List(yson.String("x")), yson.Map(yson.Entry{Key: "x", Value: yson.Map()})} {
			*n = *value
			tried++
			err := r.judge(root)
			if _, fault := spec.FromNode("rig.yson", root); fault != nil {
				refused++
				var problems yson.Problems
				if !errors.As(err, &problems) || len(problems) == 0 {
					t.Errorf("%s: %v", yson.Encode(root), err)
				}
			}
		}
		*n = before
	})
	if tried < 300 || refused < tried/2 {
		t.Errorf("%d of %d were refused", refused, tried)
	}
}

// everywhere calls do for every node.
func everywhere(n *yson.Node, do func(*yson.Node)) {
	for _, item := range n.List {
		everywhere(item, do)
	}
	for _, entry := range n.Map {
		everywhere(entry.Value, do)
	}
	do(n)
}

// registries have what the rig's spec names.
func (r *rig) registries() (*flow.Registry, *connector.Registry) {
	r.t.Helper()
	var functions flow.Registry
	var connectors connector.Registry
	err := errors.Join(
		functions.Register("count", func(flow.Setup) (flow.Function, error) { return r.newFunction(), nil }),
		connectors.AddSource("memory", func(connector.Setup) (connector.Source, error) { return (*memorySource)(r), nil }),
		connectors.AddSink("memory", func(connector.Setup) (connector.Sink, error) {
			if r.shared {
				return partedSink{r.sink}, nil
			}
			return r.sink, nil
		}))
	for name, f := range r.functions {
		err = errors.Join(err, functions.Register(name, func(flow.Setup) (flow.Function, error) { return f, nil }))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return &functions, &connectors
}

// TestFactoriesThatMakeNothingAreProblems: they are told where they are named, as
// is a pipeline that has nothing at all.
func TestFactoriesThatMakeNothingAreProblems(t *testing.T) {
	text := fmt.Sprintf(rigSpec, 3, "", "1s")
	s, err := spec.Parse("rig.yson", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var functions flow.Registry
	var connectors connector.Registry
	if err := errors.Join(
		functions.Register("count", func(flow.Setup) (flow.Function, error) { return nil, nil }),
		connectors.AddSource("memory", func(connector.Setup) (connector.Source, error) { return nil, nil }),
		connectors.AddSink("memory", func(connector.Setup) (connector.Sink, error) { return nil, nil }),
	); err != nil {
		t.Fatal(err)
	}
	_, err = Prepare(t.Context(), Options{Spec: s, Functions: &functions, Connectors: &connectors})
	for _, place := range []string{"reader.source_streams.memory", "counter", "counter.sinks.out"} {
		want := "spec.computations." + place + ": the factory returned neither a value nor an error"
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("it is not told that %s\n%v", want, err)
		}
	}
	_, err = Prepare(t.Context(), Options{Spec: s})
	if err == nil || !strings.Contains(err.Error(), `no function "count": none is registered`) {
		t.Errorf("without functions and connectors: %v", err)
	}
	if _, err = Prepare(t.Context(), Options{}); err == nil || !strings.Contains(err.Error(), "set Options.Spec") {
		t.Errorf("without a spec: %v", err)
	}
}
