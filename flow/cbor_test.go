package flow_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/flow"
)

// everything has a field of each sort that states are made of.
type everything struct {
	I8     int8
	I64    int64
	U64    uint64
	F32    float32
	F64    float64
	B      bool
	S      string
	Bytes  []byte
	List   []int64
	Names  map[string]uint8
	Nested *everything
	At     time.Time
	Named  int `cbor:"n,omitempty"`
}

func drawEverything(t *rapid.T, depth int) everything {
	e := everything{
		I8: rapid.Int8().Draw(t, "i8"), I64: rapid.Int64().Draw(t, "i64"), U64: rapid.Uint64().Draw(t, "u64"),
		F32: rapid.Float32().Draw(t, "f32"), F64: rapid.Float64().Draw(t, "f64"), B: rapid.Bool().Draw(t, "b"),
		S:     string(rapid.SliceOf(rapid.Byte()).Draw(t, "s")), // any bytes
		Bytes: rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "bytes"),
		List:  rapid.SliceOfN(rapid.Int64(), 1, 9).Draw(t, "list"),
		Names: rapid.MapOfN(rapid.String(), rapid.Uint8(), 1, 9).Draw(t, "names"),
		At:    time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC(),
		Named: rapid.Int().Draw(t, "named"),
	}
	if depth > 0 && rapid.Bool().Draw(t, "nested") {
		inner := drawEverything(t, depth-1)
		e.Nested = &inner
	}
	return e
}

func TestCBORGivesBackWhatItTook(t *testing.T) {
	c := flow.CBOR[everything]()
	rapid.Check(t, func(t *rapid.T) {
		want := drawEverything(t, 3)
		b, err := c.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Decode(b)
		if err != nil {
			t.Fatalf("%x cannot be read again: %v", b, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v became %+v", want, got)
		}
	})
}

// roundTrip returns what a value is after it was stored.
func roundTrip[T any](t *testing.T, v T) T {
	t.Helper()
	c := flow.CBOR[T]()
	b, err := c.Encode(v)
	if err != nil {
		t.Fatalf("encode %T: %v", v, err)
	}
	v, err = c.Decode(b)
	if err != nil {
		t.Fatalf("decode %T: %v", v, err)
	}
	return v
}

// A state that was stored and cannot be read stops its partition for good, so
// nothing may be refused only on the way back.
func TestCBORReadsAllThatItWrites(t *testing.T) {
	if got := roundTrip(t, make([]int, 200_000)); len(got) != 200_000 {
		t.Errorf("a list of 200000 comes back with %d", len(got))
	}
	many := map[int]bool{}
	for i := range 200_000 {
		many[i] = true
	}
	if got := roundTrip(t, many); len(got) != len(many) {
		t.Errorf("a map of %d comes back with %d", len(many), len(got))
	}
	type node struct{ Next *node }
	var deep *node
	for range 5000 {
		deep = &node{deep}
	}
	depth := 0
	for n := roundTrip(t, deep); n != nil; n = n.Next {
		depth++
	}
	if depth != 5000 {
		t.Errorf("5000 levels come back as %d", depth)
	}
	big := strings.Repeat("\xff\x00", 1<<20)
	if got := roundTrip(t, big); got != big {
		t.Error("two megabytes that are no UTF-8 come back as others")
	}
	quiet, payload := math.NaN(), math.Float64frombits(0x7ff8_0000_0000_1234)
	for _, f := range []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), quiet, payload, math.SmallestNonzeroFloat64, math.MaxFloat64} {
		if got := roundTrip(t, f); math.Float64bits(got) != math.Float64bits(f) {
			t.Errorf("%x comes back as %x", math.Float64bits(f), math.Float64bits(got))
		}
	}
	at := time.Date(2001, 1, 1, 0, 47, 0, 123456789, time.FixedZone("CST", -6*3600))
	if got := roundTrip(t, at); !got.Equal(at) {
		t.Errorf("%v comes back as %v", at, got)
	}
	if got := roundTrip[any](t, map[string]any{"at": at}); !got.(map[any]any)["at"].(time.Time).Equal(at) {
		t.Errorf("%v inside an any comes back as %v", at, got)
	}
}

func TestFieldsMayBeAdded(t *testing.T) {
	b, err := flow.CBOR[struct{ A int }]().Encode(struct{ A int }{7})
	if err != nil {
		t.Fatal(err)
	}
	v, err := flow.CBOR[struct{ A, B int }]().Decode(b)
	if err != nil || v.A != 7 || v.B != 0 {
		t.Errorf("%+v, error %v", v, err)
	}
}
