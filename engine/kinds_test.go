package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
)

// copying emits what it gets into the stream of this name.
type copying string

func (c copying) OnMessage(_ context.Context, _ flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return out.AddMessage(flow.OutputMessage{StreamID: string(c), Payload: m.Payload, EventTimestamp: flow.NoTimestamp})
}

// copyingBatch does so in batches, with the parent of each.
type copyingBatch string

func (c copyingBatch) OnMessages(ctx context.Context, rt flow.Runtime, msgs []flow.Message, out flow.OutputCollector) error {
	for _, m := range msgs {
		if err := copying(c).OnMessage(ctx, rt, m, out.WithParents(m.ID)); err != nil {
			return err
		}
	}
	return nil
}

// edited replaces parts of a rig's spec, each of which must be there.
func edited(t *testing.T, changes ...string) func(string) string {
	return func(text string) string {
		for i := 0; i < len(changes); i += 2 {
			if !strings.Contains(text, changes[i]) {
				t.Fatalf("the spec has no %s", changes[i])
			}
			text = strings.Replace(text, changes[i], changes[i+1], 1)
		}
		return text
	}
}

const rowSchema = "{schema = [{name=key;type=string;required=%true}; {name=value;type=int64;required=%true}; {name=at;type=int64;required=%true}]}"

// relayed puts a computation between the reader and the counter; settings are more
// fields of it.
func relayed(t *testing.T, settings string) func(string) string {
	return edited(t,
		"streams = {", "streams = { raw = "+rowSchema+"; ",
		"output_stream_ids = [rows]", "output_stream_ids = [raw]",
		"counter = {", `relay = { input_stream_ids = [raw]; output_stream_ids = [rows];
      group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(value)"}; {name=value;type=int64}]; `+settings+" }; counter = {")
}

// TestEveryKindOfComputationPassesEveryRowOnOnce: whatever reads the rows and
// whatever lies between, the figures are the same, through faults.
func TestEveryKindOfComputationPassesEveryRowOnOnce(t *testing.T) {
	reader := func(class string) func(string) string {
		return edited(t, "computation_class_name = source_passthrough", "computation_class_name = "+class+"; processing_function = copy")
	}
	for name, edit := range map[string]func(string) string{
		"source":           reader("source"),
		"transform_source": reader("transform_source"),
		"batches of a source": edited(t, "computation_class_name = source_passthrough",
			"computation_class_name = source; processing_function = copy_batch"),
		"passthrough":            relayed(t, "computation_class_name = passthrough"),
		"swift_passthrough":      relayed(t, "computation_class_name = swift_passthrough"),
		"swift_map":              relayed(t, "computation_class_name = swift_map; processing_function = copy"),
		"batches of a swift_map": relayed(t, "computation_class_name = swift_map; processing_function = copy_batch"),
		"ordered by event time":  relayed(t, "computation_class_name = passthrough; input_ordering = {}"),
		"ordered by system time": relayed(t, "computation_class_name = passthrough; input_ordering = {time_type = system_time; stream_delays = {raw = 5000}}"),
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				synctest.Test(t, func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 0))
					r := newRig(t, 400, 37)
					r.edit = edit
					r.functions = map[string]flow.Function{"copy": copying("rows"), "copy_batch": copyingBatch("rows")}
					r.run(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault { return someFault(rng, c) }))
					r.check()
				})
			}
		})
	}
}

// TestPassingOnIntoSeveralOutputs: every output gets every row, of those inputs
// that it depends on.
func TestPassingOnIntoSeveralOutputs(t *testing.T) {
	for name, edit := range map[string]func(string) string{
		"source": edited(t, "streams = {", "streams = { copies = "+rowSchema+"; ",
			"output_stream_ids = [rows]", "output_stream_ids = [rows; copies]",
			"input_stream_ids = [rows]; output", "input_stream_ids = [rows; copies]; output"),
		"passthrough": func(text string) string {
			text = relayed(t, "computation_class_name = passthrough")(text)
			return edited(t, "streams = {", "streams = { copies = "+rowSchema+"; ",
				"input_stream_ids = [raw]; output_stream_ids = [rows]", "input_stream_ids = [raw]; output_stream_ids = [rows; copies]",
				"input_stream_ids = [rows]; output", "input_stream_ids = [rows; copies]; output")(text)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 400, 37)
				r.edit = edit
				r.run(storetest.NewModel())
				for i := range r.rows {
					r.rows[i] = append(r.rows[i], r.rows[i]...)
				}
				r.check()
			})
		})
	}
}

// TestSkippedMessagesAreTakenAndCounted: of sources, of inputs, in rows and in
// batches.
func TestSkippedMessagesAreTakenAndCounted(t *testing.T) {
	skip := `skip_if_expression = "value % 3 = 0"; `
	for name, c := range map[string]struct {
		edit  func(string) string
		batch bool
	}{
		"source":              {edit: edited(t, "reader = {max", "reader = {"+skip+"max")},
		"source function":     {edit: edited(t, "reader = {max", "reader = {"+skip+"max", "computation_class_name = source_passthrough", "computation_class_name = source; processing_function = copy")},
		"input":               {edit: edited(t, "counter = {desired", "counter = {"+skip+"desired")},
		"batches of an input": {edit: edited(t, "counter = {desired", "counter = {"+skip+"desired"), batch: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 300, 20)
				r.edit = c.edit
				r.functions = map[string]flow.Function{"copy": copying("rows")}
				if c.batch {
					r.function = func() flow.Function { return batchCount{newCountFunction(r)} }
				}
				sum := r.run(storetest.NewModel())
				if sum.Counts["skipped_by_expression"] != 100 {
					t.Errorf("counts %v, want 100 skipped", sum.Counts)
				}
				for i, rows := range r.rows {
					r.rows[i] = nil
					for _, row := range rows {
						if row[1].AsInt64()%3 != 0 {
							r.rows[i] = append(r.rows[i], row)
						}
					}
				}
				r.check()
			})
		})
	}
}

// visitingMap keeps a state, and emits from visits what a swift_map may not.
type visitingMap struct {
	copying
	state *flow.State[countState]
}

func (f visitingMap) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	if err := f.state.Open(rt, m).Set(countState{Count: 1}); err != nil {
		return err
	}
	return f.copying.OnMessage(ctx, rt, m, out)
}

func (f visitingMap) OnVisit(_ context.Context, rt flow.Runtime, _ flow.Visit, out flow.OutputCollector) error {
	m, err := rt.MessageBuilder("rows").SetValue("key", schema.String("x")).Set("value", int64(1)).Set("at", int64(1)).Finish()
	if err != nil {
		return err
	}
	return out.AddMessage(m)
}

// manyParents emits without saying from which message.
type manyParents struct{ copying }

func (f manyParents) OnMessages(ctx context.Context, rt flow.Runtime, msgs []flow.Message, out flow.OutputCollector) error {
	for _, m := range msgs {
		if err := f.copying.OnMessage(ctx, rt, m, out); err != nil {
			return err
		}
	}
	return nil
}

// stateful keeps state where there is none.
type stateful struct{ *flow.State[countState] }

func (f stateful) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	return f.Open(rt, m).Set(countState{Count: 1})
}

// TestKindsRefuseAtRunTimeWhatTheyMayNot: the epoch fails, and the error says what
// to do (KV-42).
func TestKindsRefuseAtRunTimeWhatTheyMayNot(t *testing.T) {
	state := func() *flow.State[countState] { return flow.NewState("/count", flow.CBOR[countState]()) }
	for name, c := range map[string]struct {
		edit     func(string) string
		function flow.Function
		want     string
	}{
		"emit from a visit of a swift_map": {
			relayed(t, "computation_class_name = swift_map; processing_function = bad; key_visitor_streams = {v = {}}"),
			visitingMap{copying("rows"), state()},
			"computation relay is a swift_map, whose visits and timers may only change state, but this was emitted from v: make it a transform",
		},
		"emit from many messages of a swift_map": {
			relayed(t, "computation_class_name = swift_map; processing_function = bad"),
			struct{ flow.BatchFunction }{manyParents{copying("rows")}},
			"name its parent (WithParents), or set allow_batching_with_relaxed_guarantees=%true",
		},
		"keep state in a source": {
			edited(t, "computation_class_name = source_passthrough", "computation_class_name = source; processing_function = bad"),
			stateful{state()},
			"computation reader reads a source and has no keys, so it keeps no state: do this in a transform that reads its output",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 20, 10)
				r.edit, r.functions = c.edit, map[string]flow.Function{"bad": c.function}
				if got := r.failure(); !strings.Contains(got, c.want) {
					t.Errorf("it shows %q, want %q", got, c.want)
				}
			})
		})
	}
}

// failure runs the rig for a while and returns the errors that show.
func (r *rig) failure() string {
	r.t.Helper()
	p := r.pipeline()
	var shown strings.Builder
	time.AfterFunc(3*time.Second, func() {
		for _, s := range p.Status().Partitions {
			if s.Error != "" {
				fmt.Fprintln(&shown, s.Error)
			}
		}
		p.Pause()
	})
	if _, err := p.Run(r.t.Context(), storetest.NewModel()); err != nil {
		fmt.Fprintln(&shown, err)
	}
	return shown.String()
}
