package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
)

// lettered gives the rig a dead-letter stream into the sink.
func lettered(text string) string {
	for _, c := range [][2]string{
		{"counts = {schema", "dead = {schema = [{name=reason;type=string}; {name=stream_id;type=string}; {name=message_id;type=string}; {name=key;type=string}; {name=value;type=int64}]}; counts = {schema"},
		{"output_stream_ids = [counts]", "output_stream_ids = [counts; dead]"},
		{"sink_class_name = memory; input_stream_ids = [counts]", "sink_class_name = memory; input_stream_ids = [counts; dead]"},
	} {
		if !strings.Contains(text, c[0]) {
			panic("the spec has no " + c[0])
		}
		text = strings.Replace(text, c[0], c[1], 1)
	}
	return text
}

// TestFailedMessagesBecomeLetters: exactly one for each, with the reason, through
// faults and restarts, for rows and batches; they leave nothing else behind, and
// the others count (D-24).
func TestFailedMessagesBecomeLetters(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 300, 29)
		r.partitions = 1 + rng.IntN(3)
		r.dynamic = "on_message_error = dead_letter; dead_letter_stream = dead;"
		r.edit = lettered
		bad := func(m flow.Message) bool { return m.Payload.Int64("value")%10 == 3 }
		fail := func() error { return errors.New("sour milk") }
		if rng.IntN(2) == 0 {
			fail = func() error { panic("sour milk") }
		}
		batch := rng.IntN(2) == 0
		r.function = func() flow.Function {
			f := sourMessages{newCountFunction(r), bad, fail}
			if batch {
				return batchCount{f}
			}
			return f
		}
		sum := r.run(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault { return someFault(rng, c) }))
		if sum.Counts["failed_messages"] != 30 {
			t.Errorf("counts %v, want 30 failed messages", sum.Counts)
		}
		letters := r.letters()
		if len(letters) != 30 {
			t.Errorf("%d letters, want 30", len(letters))
		}
		ids := map[string]bool{}
		for _, m := range letters {
			p := m.Payload
			if p.Int64("value")%10 != 3 || p.String("key") != fmt.Sprint(p.Int64("value")%29) || p.String("stream_id") != "rows" {
				t.Errorf("letter %v", p.Row())
			}
			if reason := p.String("reason"); !strings.Contains(reason, "sour milk") || strings.Contains(reason, "goroutine") {
				t.Errorf("reason %q", reason)
			}
			ids[p.String("message_id")] = true
			if m.EventTimestamp != flow.Time(p.Int64("value")*1e9) {
				t.Errorf("a letter of value %d at %d", p.Int64("value"), m.EventTimestamp)
			}
		}
		if len(ids) != 30 {
			t.Errorf("%d different message ids", len(ids))
		}
		for i := range r.rows {
			r.rows[i] = slices.DeleteFunc(r.rows[i], func(row schema.Row) bool { return row[1].AsInt64()%10 == 3 })
		}
		r.check()
	})
}

// letters takes the dead letters out of what the sink has.
func (r *rig) letters() (out []flow.Message) {
	r.sink.written = slices.DeleteFunc(r.sink.written, func(m flow.Message) bool {
		if m.StreamID == "dead" {
			out = append(out, m)
		}
		return m.StreamID == "dead"
	})
	return out
}

// sourMessages fails in messages only, after it has done everything.
type sourMessages struct {
	*countFunction
	bad  func(flow.Message) bool
	fail func() error
}

func (f sourMessages) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	err := f.countFunction.OnMessage(ctx, rt, m, out)
	if f.bad(m) {
		return f.fail()
	}
	return err
}
