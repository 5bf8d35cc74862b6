package flow_test

import (
	"testing"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

// route is a state of the usual size.
type route struct {
	_       struct{} `cbor:",toarray"`
	Flights int64
	Delay   int64
	Last    string
}

// add is what a typical OnMessage does with its state.
func add(rt flow.Runtime, s *flow.State[route], msg flow.Message) error {
	h := s.Open(rt, msg)
	r, _, err := h.Get()
	if err != nil {
		return err
	}
	r.Flights++
	r.Delay += 7
	r.Last = "2001/01/01 00:47"
	return h.Set(r)
}

func benchmarkState(b *testing.B, epoch int) {
	b.ReportAllocs()
	s := flow.NewState("/route", flow.CBOR[route]())
	rt := flowtest.NewRuntime(nil)
	keys := flowtest.Schema(b, "hash uint64 required")
	msg := flowtest.Message("in", flowtest.Key(b, keys, uint64(1)), 0, keys, nil)
	for i := range b.N {
		if err := add(rt, s, msg); err != nil {
			b.Fatal(err)
		}
		if i%epoch == 0 {
			if err := rt.EndEpoch(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// One input of the key in each epoch: one decode and one encode, and what the
// test runtime adds.
func BenchmarkStateGetSetOncePerEpoch(b *testing.B) { benchmarkState(b, 1) }

// Many inputs of the key in each epoch.
func BenchmarkStateGetSetWithinEpoch(b *testing.B) { benchmarkState(b, 1<<30) }

func BenchmarkCBOR(b *testing.B) {
	c := flow.CBOR[route]()
	v := route{Flights: 250, Delay: 12345, Last: "2001/01/01 00:47"}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			if _, err := c.Encode(v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		stored, err := c.Encode(v)
		if err != nil {
			b.Fatal(err)
		}
		for range b.N {
			if _, err = c.Decode(stored); err != nil {
				b.Fatal(err)
			}
		}
	})
}
