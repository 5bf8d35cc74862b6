package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
)

// batchCount is the counting function in its batch form.
type batchCount struct {
	row interface {
		flow.RowFunction
		flow.RowVisitFunction
	}
}

func (b batchCount) OnMessages(ctx context.Context, rt flow.Runtime, msgs []flow.Message, out flow.OutputCollector) error {
	for _, m := range msgs {
		if err := b.row.OnMessage(ctx, rt, m, out); err != nil {
			return err
		}
	}
	return nil
}

func (b batchCount) OnVisits(ctx context.Context, rt flow.Runtime, visits []flow.Visit, out flow.OutputCollector) error {
	for _, v := range visits {
		if err := b.row.OnVisit(ctx, rt, v, out.WithParents(v.ID)); err != nil {
			return err
		}
	}
	return nil
}

func TestBatchFunctionsGiveTheSameFigures(t *testing.T) {
	r := newRig(t, 2000, 123)
	r.function = func() flow.Function { return batchCount{newCountFunction(r)} }
	r.run(storetest.NewModel())
	r.check()
	for _, m := range r.sink.written {
		if m.EventTimestamp > m.SystemTimestamp {
			t.Fatalf("message %s has event time %s, after its epoch's %s", m.ID, m.EventTimestamp, m.SystemTimestamp)
		}
	}
}

// misuse does one thing that a function must not do, in its first message or
// visit.
type misuse struct {
	*countFunction
	message func(flow.Runtime, flow.Message, flow.OutputCollector) error
}

func (m misuse) OnMessage(_ context.Context, rt flow.Runtime, msg flow.Message, out flow.OutputCollector) error {
	return m.message(rt, msg, out)
}

func TestMisuseFailsTheEpochAndSaysWhatToDo(t *testing.T) {
	counts := func(rt flow.Runtime, out flow.OutputCollector) error {
		m, err := rt.MessageBuilder("counts").Finish()
		return errors.Join(err, out.AddMessage(m))
	}
	var other flow.Key
	for name, c := range map[string]struct {
		message func(flow.Runtime, flow.Message, flow.OutputCollector) error
		want    string
	}{
		"emit into an output that does not depend on the input": {
			func(rt flow.Runtime, _ flow.Message, out flow.OutputCollector) error { return counts(rt, out) },
			`output stream counts does not depend on rows, which this was emitted from: add "counts" = [sweep; rows] to streams_dependency of counter`,
		},
		"ignore that it was refused": {
			func(rt flow.Runtime, _ flow.Message, out flow.OutputCollector) error {
				_ = counts(rt, out)
				return nil
			},
			"output stream counts does not depend on rows",
		},
		"name a stream that is no output": {
			func(rt flow.Runtime, _ flow.Message, _ flow.OutputCollector) error {
				_, err := rt.MessageBuilder("rows").Finish()
				return err
			},
			`no output stream "rows": it is to be listed in output_stream_ids`,
		},
		"reach the key of another message": {
			func(rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
				if other.Encoded() == "" {
					other = m.Key
				}
				_, err := rt.Cell("/count", other)
				return err
			},
			"reaches the keys of its inputs only",
		},
		"name a state without a slash": {
			func(rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
				_, err := rt.Cell("count", m.Key)
				return err
			},
			`names of states start with "/"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 20, 10)
				r.partitions = 1
				r.function = func() flow.Function { return misuse{newCountFunction(r), c.message} }
				p := r.pipeline()
				var shown string
				time.AfterFunc(time.Second, func() {
					for _, s := range p.Status().Partitions {
						shown += s.Error
					}
					p.Pause()
				})
				if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(shown, c.want) {
					t.Errorf("the error is %q, want %q", shown, c.want)
				}
			})
		})
	}
}

// TestFailedInputsAreLeftOutWhole: with the policy skip, a failed message or visit
// leaves nothing behind - state, output, counts - is named, and the others go on;
// in batches the guilty one is found (KV-27, D-24).
func TestFailedInputsAreLeftOutWhole(t *testing.T) {
	for _, c := range []struct {
		name  string
		batch bool
		fail  func() error
	}{
		{"rows, an error", false, func() error { return errors.New("sour milk") }},
		{"rows, a panic", false, func() error { panic("sour milk") }},
		{"batches, an error", true, func() error { return errors.New("sour milk") }},
		{"batches, a panic", true, func() error { panic("sour milk") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testLeftOut(t, c.batch, c.fail) })
		})
	}
}

func testLeftOut(t *testing.T, batch bool, fail func() error) {
	r := newRig(t, 200, 20)
	r.partitions = 1
	r.dynamic = "on_message_error = skip;"
	r.edit = func(text string) string {
		return strings.Replace(text, `sweep = {period`, `sweep = {on_visit_error = skip; period`, 1)
	}
	bad := func(m flow.Message) bool { return m.Payload.Int64("value")%10 == 3 }
	r.function = func() flow.Function {
		f := sour{newCountFunction(r), bad, fail}
		if batch {
			return batchCount{f}
		}
		return f
	}
	p := r.pipeline()
	s := storetest.NewModel()
	sum, err := p.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Counts["failed_messages"] != 20 || sum.Counts["touched"] != 180 {
		t.Errorf("counts %v, want 20 failed messages and 180 touched", sum.Counts)
	}
	for i := range r.rows {
		r.rows[i] = slices.DeleteFunc(r.rows[i], func(row schema.Row) bool {
			return row[1].AsInt64()%10 == 3 || row[0].AsString() == "7" // key 7 fails when visited
		})
	}
	r.check()
	for _, m := range r.sink.written {
		if m.Payload.String("key") == "7" {
			t.Error("output of a failed visit")
		}
	}
	checkLeftOut(t, p.Status())
}

func checkLeftOut(t *testing.T, s Status) {
	shown := ""
	for _, p := range s.Partitions {
		for _, f := range p.Failed {
			shown += f.Path + ": " + f.Message + "\n"
		}
	}
	for _, want := range []string{"/key_visitor/sweep/failed_visits: ", "/messages/rows/failed: 20 left out", "sour milk", "key ["} {
		if !strings.Contains(shown, want) {
			t.Errorf("the status shows %q, want %q", shown, want)
		}
	}
}

// sour is the counting function, failing after it has done everything.
type sour struct {
	*countFunction
	bad  func(flow.Message) bool
	fail func() error
}

func (f sour) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	rt.Count("touched", 1)
	err := f.countFunction.OnMessage(ctx, rt, m, out)
	if f.bad(m) {
		return f.fail()
	}
	return err
}

func (f sour) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	err := f.countFunction.OnVisit(ctx, rt, v, out)
	if row, _ := v.Key.Row(); row[1].AsString() == "7" {
		return errors.Join(rt.ClearKey(v), f.fail())
	}
	return err
}

// strange has an OnVisit that nobody would call.
type strange struct{ quiet }

func (strange) OnVisit(context.Context, flow.Runtime, *flow.Visit, flow.OutputCollector) error {
	return nil
}

func TestMethodsThatWouldNotBeCalledAreRefused(t *testing.T) {
	r := newRig(t, 1, 1)
	n := &node{}
	err := n.accepts(strange{quiet{newCountFunction(r)}})
	if err == nil || !strings.Contains(err.Error(), "OnVisit of engine.strange is not the method that is called: it must be OnVisit(context.Context") {
		t.Errorf("error %v", err)
	}
}

// TestEventTimesThatCannotBeReadStopThePipeline: reading the row again would not
// help.
func TestEventTimesThatCannotBeReadStopThePipeline(t *testing.T) {
	r := newRig(t, 10, 10)
	r.rows[0][2][2] = schema.Int64(1 << 60)
	_, err := r.pipeline().Run(t.Context(), storetest.NewModel())
	if err == nil || !strings.Contains(err.Error(), "event timestamp from column at: 1152921504606846976 is not a time") {
		t.Errorf("error %v", err)
	}
}
