package engine

import (
	"errors"
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"pgregory.net/rapid"
)

func wireSchema(t testing.TB) *schema.Schema {
	s, err := schema.New([]schema.Column{{Name: "s", Type: schema.TypeString}, {Name: "n", Type: schema.TypeInt64}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wireDecoder(s *schema.Schema) decoder {
	return decoder{schemas: map[string]*schema.Schema{"a": s, "b": s}}
}

// TestMessagesSurviveTheWire: what a target decodes is what was sent, from any
// place in the row, with ids that sort in the order produced (D-22).
func TestMessagesSurviveTheWire(t *testing.T) {
	s := wireSchema(t)
	d := wireDecoder(s)
	rapid.Check(t, func(t *rapid.T) {
		var box outbox
		system := rapid.Int64().Draw(t, "system") / 2
		epoch := rapid.Uint64().Draw(t, "epoch")
		var sent []wireMessage
		for i := range rapid.IntRange(1, 20).Draw(t, "messages") {
			m := wireMessage{
				stream: rapid.SampledFrom([]wireStream{{0, "a"}, {7, "b"}}).Draw(t, "stream"),
				index:  uint32(i), system: system,
				event: rapid.Int64().Draw(t, "event") / 2,
				key:   rapid.SliceOf(rapid.Byte()).Draw(t, "key"),
				row:   schema.Row{schema.String(rapid.String().Draw(t, "s")), schema.Int64(rapid.Int64().Draw(t, "n"))},
			}
			sent = append(sent, m)
			box.add(&m)
		}
		row := &store.InboxRow{InboxKey: store.InboxKey{Generation: 3}, Count: box.count, Payload: box.payload(epoch, system)}
		from := rapid.IntRange(0, len(sent)).Draw(t, "from")
		got, err := d.decode(nil, row, from, len(sent))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(sent)-from {
			t.Fatalf("%d messages, want %d", len(got), len(sent)-from)
		}
		for i, m := range got {
			checkWire(t, m, &sent[from+i], epoch)
			if i > 0 && m.StreamID == got[i-1].StreamID && m.ID.String() <= got[i-1].ID.String() {
				t.Fatalf("id %s comes after %s", m.ID, got[i-1].ID)
			}
		}
	})
}

func checkWire(t *rapid.T, got flow.Message, want *wireMessage, epoch uint64) {
	id := flow.MessageID{Generation: 3, Epoch: epoch, Stream: want.stream.index, Index: want.index}
	same := got.ID == id && got.StreamID == want.stream.id &&
		got.EventTimestamp == flow.Time(want.event) && got.SystemTimestamp == flow.Time(want.system) &&
		got.Key.Encoded() == string(want.key) && schema.CompareRows(got.Payload.Row(), want.row) == 0
	if !same {
		t.Fatalf("got %+v, sent %+v", got, want)
	}
}

// FuzzDecodePayload: damaged rows are errors of class corrupt, never a panic.
func FuzzDecodePayload(f *testing.F) {
	s := wireSchema(f)
	d := wireDecoder(s)
	var box outbox
	box.add(&wireMessage{stream: wireStream{0, "a"}, key: []byte("k"), row: schema.Row{schema.String("x"), schema.Int64(1)}})
	box.add(&wireMessage{stream: wireStream{1, "b"}, key: []byte("k"), row: schema.Row{schema.Null(), schema.Int64(1)}})
	good := box.payload(1, 2)
	f.Add(good, 2)
	f.Add(good[:len(good)-3], 2)
	f.Add([]byte{wireVersion + 1}, 1)
	f.Fuzz(func(t *testing.T, payload []byte, count int) {
		_, err := d.decode(nil, &store.InboxRow{Payload: payload, Count: count}, 0, min(count, 1000))
		if err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("error %v is not of class corrupt", err)
		}
	})
}
