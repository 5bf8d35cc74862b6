package flow_test

import (
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// TestProtobufStatesKeepEveryMessage: the empty message is a value, and what was
// got may be changed without any effect until Set.
func TestProtobufStatesKeepEveryMessage(t *testing.T) {
	rt := flowtest.NewRuntime(nil)
	in := flow.Message{Key: flow.NewKey(nil, "key")}
	state := flow.NewState("/n", flow.Protobuf[*wrapperspb.StringValue]())
	h := state.Open(rt, in)
	if _, ok, err := h.Get(); ok || err != nil {
		t.Fatalf("a state before it was set: %v, %v", ok, err)
	}
	for _, text := range []string{"", "x", "longer"} {
		if err := h.Set(wrapperspb.String(text)); err != nil {
			t.Fatal(err)
		}
		if err := rt.EndEpoch(); err != nil {
			t.Fatal(err)
		}
		h = state.Open(rt, in)
		got, ok, err := h.Get()
		if err != nil || !ok || got.GetValue() != text {
			t.Fatalf("got %v, %v, %v, want %q", got, ok, err, text)
		}
		got.Value = "changed"
		if again, _, _ := h.Get(); again.GetValue() != text {
			t.Fatalf("changing what was got changed the state to %q", again.GetValue())
		}
	}
}

func TestProtobufIsDeterministicAndRefusesOtherBytes(t *testing.T) {
	c := flow.Protobuf[*structpb.Struct]()
	m, err := structpb.NewStruct(map[string]any{"a": 1, "b": "x", "c": nil, "d": []any{true}})
	if err != nil {
		t.Fatal(err)
	}
	first, err := c.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if b, err := c.Encode(m); err != nil || string(b) != string(first) {
			t.Fatalf("encoded as %x, then as %x (%v)", first, b, err)
		}
	}
	if got, err := c.Decode(first); err != nil || !proto.Equal(got, m) {
		t.Fatalf("decoded as %v, %v", got, err)
	}
	for _, b := range [][]byte{nil, {2}, {1, 0xff}} {
		if _, err := c.Decode(b); err == nil {
			t.Errorf("%x was decoded", b)
		}
	}
}
