package flow_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// counter counts the messages of each key and, when the key is visited, emits
// the count and forgets the key.
type counter struct{ count *flow.State[int64] }

func (c counter) OnMessage(_ context.Context, rt flow.Runtime, msg flow.Message, _ flow.OutputCollector) error {
	count := c.count.Open(rt, msg)
	n, _, err := count.Get()
	if err != nil {
		return err
	}
	return count.Set(n + 1)
}

func (c counter) OnVisit(_ context.Context, rt flow.Runtime, visit flow.Visit, out flow.OutputCollector) error {
	count := c.count.Open(rt, visit)
	n, ok, err := count.Get()
	if err != nil || !ok {
		return err
	}
	b := rt.MessageBuilder("counts")
	m, err := b.Set("n", n).Finish()
	if err != nil {
		return err
	}
	if err := out.AddMessage(m); err != nil {
		return err
	}
	rt.Count("forgotten", 1)
	return rt.ClearKey(visit)
}

func newCounter(flow.Setup) (flow.Function, error) {
	return counter{flow.NewState("/count", flow.CBOR[int64]())}, nil
}

// A function is a value with OnMessage, OnVisit or both.
func Example() {
	counts, err := schema.New([]schema.Column{{Name: "n", Type: schema.TypeInt64}})
	if err != nil {
		log.Fatal(err)
	}
	rt := flowtest.NewRuntime(flow.Streams{"counts": counts})
	key := flow.NewKey(nil, string(schema.AppendKey(nil, schema.Uint64(1))))

	f, err := newCounter(flow.Setup{})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		if err := f.(flow.RowFunction).OnMessage(context.Background(), rt, flow.Message{Key: key}, rt); err != nil {
			log.Fatal(err)
		}
	}
	if err := f.(flow.RowVisitFunction).OnVisit(context.Background(), rt, flow.Visit{Key: key}, rt); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rt.Emitted()[0].Payload.Int64("n"), "messages,", rt.Counted("forgotten"), "key forgotten")
	// Output: 3 messages, 1 key forgotten
}

// A registry gives functions the names that specs use.
func ExampleRegistry() {
	var functions flow.Registry
	if err := functions.Register("counter", newCounter); err != nil {
		log.Fatal(err)
	}
	fmt.Println(functions.Names(), functions.Register("counter", newCounter))
	// Output: [counter] register function "counter": the name is taken
}

// fixed is a codec of one's own: eight bytes for each value.
type fixed struct{}

func (fixed) Encode(v uint64) ([]byte, error) { return binary.BigEndian.AppendUint64(nil, v), nil }

func (fixed) Decode(b []byte) (uint64, error) {
	if len(b) != 8 {
		return 0, errors.New("want 8 bytes")
	}
	return binary.BigEndian.Uint64(b), nil
}

func ExampleCodec() {
	rt := flowtest.NewRuntime(nil)
	in := flow.Message{Key: flow.NewKey(nil, "key")}
	state := flow.NewState("/n", flow.Codec[uint64](fixed{}))

	h := state.Open(rt, in)
	if err := errors.Join(h.Set(258), rt.EndEpoch()); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%x\n", rt.Stored("/n", in.Key))
	// Output: 0000000000000102
}

func ExampleCBOR() {
	type route struct {
		Flights int    `cbor:"flights"`
		Last    string `cbor:"last"`
	}
	b, err := flow.CBOR[route]().Encode(route{3, "2001/01/01"})
	if err != nil {
		log.Fatal(err)
	}
	v, err := flow.CBOR[route]().Decode(b)
	fmt.Println(v, err)
	// Output: {3 2001/01/01} <nil>
}

// Raw is for states that are bytes already.
func ExampleRaw() {
	rt := flowtest.NewRuntime(nil)
	in := flow.Visit{Key: flow.NewKey(nil, "key")}
	sketch := flow.NewState("/sketch", flow.Raw())

	h := sketch.Open(rt, in)
	if err := h.Set([]byte{1, 2, 3}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Get())
	h.Clear()
	fmt.Println(h.Get())
	// Output:
	// [1 2 3] true <nil>
	// [] false <nil>
}

// Protobuf is for messages of generated types.
func ExampleProtobuf() {
	c := flow.Protobuf[*wrapperspb.StringValue]()
	b, err := c.Encode(wrapperspb.String("LAS"))
	if err != nil {
		log.Fatal(err)
	}
	v, err := c.Decode(b)
	fmt.Println(v.GetValue(), err)
	// Output: LAS <nil>
}

// pairs handles messages and visits in batches: it emits a message for each visit
// that depends on this visit alone.
type pairs struct{ count *flow.State[int64] }

func (p pairs) OnMessages(_ context.Context, rt flow.Runtime, msgs []flow.Message, _ flow.OutputCollector) error {
	for _, m := range msgs {
		h := p.count.Open(rt, m)
		n, _, err := h.Get()
		if err := errors.Join(err, h.Set(n+1)); err != nil {
			return err
		}
	}
	rt.Count("batches", 1)
	return nil
}

func (p pairs) OnVisits(_ context.Context, rt flow.Runtime, visits []flow.Visit, out flow.OutputCollector) error {
	for _, v := range visits {
		n, _, err := p.count.Open(rt, v).Get()
		if err != nil {
			return err
		}
		m, err := rt.MessageBuilder("counts").Set("n", n).Finish()
		if err := errors.Join(err, out.WithParents(v.ID).AddMessage(m)); err != nil {
			return err
		}
	}
	return nil
}

func ExampleBatchFunction() {
	counts, err := schema.New([]schema.Column{{Name: "n", Type: schema.TypeInt64}})
	if err != nil {
		log.Fatal(err)
	}
	rt := flowtest.NewRuntime(flow.Streams{"counts": counts})
	key := flow.NewKey(nil, string(schema.AppendKey(nil, schema.Uint64(1))))
	f := pairs{flow.NewState("/count", flow.CBOR[int64]())}

	ctx := context.Background()
	err = errors.Join(
		f.OnMessages(ctx, rt, []flow.Message{{Key: key}, {Key: key}, {Key: key}}, rt),
		f.OnVisits(ctx, rt, []flow.Visit{{Key: key}}, rt))
	fmt.Println(rt.Emitted()[0].Payload.Int64("n"), rt.Counted("batches"), err)
	// Output: 3 1 <nil>
}

// Functions decide by event time, which watermarks tell.
func ExampleRuntime() {
	rt := flowtest.NewRuntime(nil)
	_, known := rt.Watermark("flights")
	fmt.Println(known)
	rt.SetWatermark("flights", flow.Time(978310020e9))
	at, known := rt.MinWatermark()
	fmt.Println(at, known)
	// Output:
	// false
	// 2001-01-01T00:47:00Z true
}
