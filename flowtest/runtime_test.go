package flowtest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// bench is a runtime with one output stream, and a message of key 1.
func bench(t *testing.T) (*flowtest.Runtime, flow.Message) {
	keys := flowtest.Schema(t, "hash uint64 required")
	out := flowtest.Schema(t, "n int64 required")
	key := flowtest.Key(t, keys, uint64(1))
	return flowtest.NewRuntime(flow.Streams{"out": out}), flowtest.Message("in", key, 5, out, flowtest.Row(t, out, 7))
}

func set(t *testing.T, rt *flowtest.Runtime, name string, key flow.Key, value string) {
	t.Helper()
	c, err := rt.Cell(name, key)
	if err != nil {
		t.Fatal(err)
	}
	c.SetBytes([]byte(value))
}

func endEpoch(t *testing.T, rt *flowtest.Runtime) {
	t.Helper()
	if err := rt.EndEpoch(); err != nil {
		t.Fatal(err)
	}
}

func TestAFailedEpochTakesEverythingBack(t *testing.T) {
	rt, msg := bench(t)
	set(t, rt, "/a", msg.Key, "kept")
	rt.Count("n", 1)
	endEpoch(t, rt)
	set(t, rt, "/a", msg.Key, "lost")
	set(t, rt, "/b", msg.Key, "lost")
	rt.Count("n", 10)
	if err := rt.AddMessage(flow.OutputMessage{StreamID: "out", Payload: msg.Payload}); err != nil {
		t.Fatal(err)
	}
	if rt.Counted("n") != 11 || len(rt.Emitted()) != 1 {
		t.Errorf("within the epoch: counted %d, emitted %v", rt.Counted("n"), rt.Emitted())
	}
	rt.FailEpoch()
	endEpoch(t, rt)
	if a, b := rt.Stored("/a", msg.Key), rt.Stored("/b", msg.Key); string(a) != "kept" || b != nil {
		t.Errorf("stored %q and %q, want kept and nothing", a, b)
	}
	if rt.Counted("n") != 1 || len(rt.Emitted()) != 0 {
		t.Errorf("counted %d, emitted %v", rt.Counted("n"), rt.Emitted())
	}
}

func TestAnEpochWhoseStatesCannotBeEncodedFails(t *testing.T) {
	rt, msg := bench(t)
	set(t, rt, "/a", msg.Key, "lost")
	c, err := rt.Cell("/b", msg.Key)
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	c.SetValue(1, func(any) ([]byte, error) { return nil, refused })
	if err := rt.EndEpoch(); !errors.Is(err, refused) {
		t.Errorf("the epoch ends with %v", err)
	}
	if a := rt.Stored("/a", msg.Key); a != nil {
		t.Errorf("stored %q", a)
	}
}

func TestClearKeyRemovesStoredAndNewStatesOfThatKeyOnly(t *testing.T) {
	rt, msg := bench(t)
	other := flowtest.Key(t, msg.Key.Schema(), uint64(2))
	set(t, rt, "/stored", msg.Key, "x")
	set(t, rt, "/stored", other, "x")
	endEpoch(t, rt)
	set(t, rt, "/new", msg.Key, "x")
	if err := rt.ClearKey(flow.Visit{Key: msg.Key}); err != nil {
		t.Fatal(err)
	}
	endEpoch(t, rt)
	if a, b := rt.Stored("/stored", msg.Key), rt.Stored("/new", msg.Key); a != nil || b != nil {
		t.Errorf("stored %q and %q", a, b)
	}
	if b := rt.Stored("/stored", other); string(b) != "x" {
		t.Errorf("the other key has %q", b)
	}
}

func TestOnlyWhatFitsAnOutputIsEmitted(t *testing.T) {
	rt, msg := bench(t)
	row := flowtest.Row(t, msg.Payload.Schema(), 1)
	if err := rt.AddMessage(flow.OutputMessage{StreamID: "out", Payload: flow.NewPayload(msg.Payload.Schema(), row)}); err != nil {
		t.Fatal(err)
	}
	row[0] = schema.Int64(2) // the collector has a copy
	if got := rt.Emitted()[0].Payload.Int64("n"); got != 1 {
		t.Errorf("emitted %d, want 1", got)
	}
	for want, m := range map[string]flow.OutputMessage{
		`stream "other" is no output: the outputs are ["out"]`: {StreamID: "other"},
		`stream out: column n: `:                               {StreamID: "out", Payload: flow.NewPayload(msg.Payload.Schema(), make(schema.Row, 1))},
	} {
		if err := rt.AddMessage(m); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := rt.MessageBuilder("other").Set("n", 3).Finish(); err == nil {
		t.Error("a message for a stream that is no output")
	}
	b := rt.MessageBuilder("out")
	m, err := b.Set("n", 3).Finish()
	if err := errors.Join(err, rt.AddMessage(m)); err != nil || len(rt.Emitted()) != 2 {
		t.Errorf("emitted %v, error %v", rt.Emitted(), err)
	}
}

func TestTimersOfAnEpochAreKept(t *testing.T) {
	rt, msg := bench(t)
	want := flow.TimerRequest{TriggerTimestamp: 7, StreamID: "t"}
	if err := rt.WithParents(msg.ID).AddTimer(want); err != nil || len(rt.Timers()) != 1 || rt.Timers()[0] != want {
		t.Errorf("timers %v, error %v", rt.Timers(), err)
	}
	rt.FailEpoch()
	if got := rt.Timers(); len(got) != 0 {
		t.Errorf("a failed epoch leaves %v", got)
	}
	if timer := flowtest.Timer("t", msg.Key, 7, 5); flow.KeyOf(timer).Encoded() != msg.Key.Encoded() || timer.EventTimestamp != 5 {
		t.Errorf("timer %+v", timer)
	}
}

func TestWatermarksAreWhatWasSet(t *testing.T) {
	rt, _ := bench(t)
	if at, ok := rt.Watermark("in"); ok {
		t.Errorf("a watermark from the start: %v", at)
	}
	rt.SetWatermark("in", 5)
	if at, ok := rt.Watermark("in"); !ok || at != 5 {
		t.Errorf("watermark %v, %v", at, ok)
	}
}
