package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
)

// spreading tells other keys of its own computation of each row (KV-31).
type spreading struct{ told, heard *atomic.Int64 }

func (f spreading) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	if m.StreamID == "pongs" {
		f.heard.Add(1)
		return nil
	}
	for i := range 3 {
		row, err := rt.MessageBuilder("pings").SetValue("key", schema.String(fmt.Sprint("other", i))).Set("value", int64(1)).Set("at", int64(1)).Finish()
		if err := errors.Join(err, out.AddMessage(row)); err != nil {
			return err
		}
		f.told.Add(1)
	}
	return nil
}

// TestALoopWhoseInboxesAreFullGoesOn: what comes into a loop of computations fills their
// inboxes, as a fast source does. What they send each other is what empties them (D-18).
func TestALoopWhoseInboxesAreFullGoesOn(t *testing.T) {
	small := "inbox_row_limit = 20; max_rows_per_batch = 5; desired_partition_count = 2"
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 600, 20)
		f := spreading{&atomic.Int64{}, &atomic.Int64{}}
		r.functions = map[string]flow.Function{"spreading": f}
		p, err := r.prepare(graphSpec(
			`tester = { computation_class_name = transform; processing_function = spreading; input_stream_ids = [rows; pongs]; output_stream_ids = [pings]; `+byKey+`
       streams_dependency = {pings = [rows]} };
     echo = { computation_class_name = passthrough; input_stream_ids = [pings]; output_stream_ids = [pongs]; `+byKey+` };`,
			`reader = {max_rows_per_batch = 37}; tester = {`+small+`}; echo = {`+small+`};`))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		sum, err := p.Run(ctx, storetest.NewModel())
		if err != nil || !sum.Completed {
			t.Fatalf("it is stuck: %+v, error %v; %d messages were sent, %d have come back", sum, err, f.told.Load(), f.heard.Load())
		}
		if f.told.Load() != 1800 || f.heard.Load() != 1800 {
			t.Errorf("%d messages were sent and %d came back, of 1800", f.told.Load(), f.heard.Load())
		}
	})
}
