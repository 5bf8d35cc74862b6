package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// batchCount is the counting function in its batch form.
type batchCount struct{ row *countFunction }

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
