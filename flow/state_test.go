package flow_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
)

// one returns a runtime and a message of the key 1.
func one(t testing.TB) (*flowtest.Runtime, flow.Message) {
	t.Helper()
	keys := flowtest.Schema(t, "hash uint64 required")
	return flowtest.NewRuntime(nil), flowtest.Message("in", flowtest.Key(t, keys, uint64(1)), 0, keys, schema.Row{schema.Uint64(1)})
}

func open[T any](t testing.TB, s *flow.State[T], rt flow.Runtime, in flow.Keyed) flow.Handle[T] {
	t.Helper()
	h := s.Open(rt, in)
	return h
}

func get[T any](t testing.TB, h flow.Handle[T]) (T, bool) {
	t.Helper()
	v, ok, err := h.Get()
	if err != nil {
		t.Fatal(err)
	}
	return v, ok
}

func set[T any](t testing.TB, h flow.Handle[T], v T) {
	t.Helper()
	if err := h.Set(v); err != nil {
		t.Fatal(err)
	}
}

func endEpoch(t testing.TB, rt *flowtest.Runtime) {
	t.Helper()
	if err := rt.EndEpoch(); err != nil {
		t.Fatal(err)
	}
}

func TestInputsOfAnEpochSeeWhatTheFormerOnesSet(t *testing.T) {
	rt, msg := one(t)
	visit := flow.Visit{Key: msg.Key}
	s := flow.NewState[route]("/route", nil)
	if v, ok := get(t, open(t, s, rt, msg)); ok {
		t.Fatalf("a new key has the state %v", v)
	}
	set(t, open(t, s, rt, msg), route{Flights: 1})
	if v, ok := get(t, open(t, s, rt, visit)); !ok || v.Flights != 1 {
		t.Fatalf("the visit sees %v, %v", v, ok)
	}
	endEpoch(t, rt)
	if v, ok := get(t, open(t, s, rt, msg)); !ok || v.Flights != 1 {
		t.Fatalf("the next epoch sees %v, %v", v, ok)
	}
	open(t, s, rt, visit).Clear()
	if v, ok := get(t, open(t, s, rt, msg)); ok {
		t.Fatalf("after Clear there is %v", v)
	}
	endEpoch(t, rt)
	if b := rt.Stored("/route", msg.Key); b != nil {
		t.Errorf("stored after Clear: %x", b)
	}
}

func TestStatesOfOtherKeysAndNamesAreOthers(t *testing.T) {
	rt, msg := one(t)
	other := flow.Visit{Key: flowtest.Key(t, msg.Key.Schema(), uint64(2))}
	a, b := flow.NewState("/a", flow.CBOR[int]()), flow.NewState("/a/b", flow.CBOR[int]())
	set(t, open(t, a, rt, msg), 7)
	if v, ok := get(t, open(t, b, rt, msg)); ok {
		t.Errorf("another name has %d", v)
	}
	if v, ok := get(t, open(t, a, rt, other)); ok {
		t.Errorf("another key has %d", v)
	}
}

// counting is a codec that counts its work.
type counting[T any] struct {
	flow.Codec[T]
	encoded, decoded *int
}

func (c counting[T]) Encode(v T) ([]byte, error) { *c.encoded++; return c.Codec.Encode(v) }
func (c counting[T]) Decode(b []byte) (T, error) { *c.decoded++; return c.Codec.Decode(b) }

func TestASelfContainedValueIsDecodedAndEncodedOncePerEpoch(t *testing.T) {
	rt, msg := one(t)
	var encoded, decoded int
	s := flow.NewState("/n", flow.Codec[route](counting[route]{flow.CBOR[route](), &encoded, &decoded}))
	for range 3 {
		for range 10 {
			h := open(t, s, rt, msg)
			v, _ := get(t, h)
			v.Flights++
			set(t, h, v)
		}
		endEpoch(t, rt)
	}
	if v, _ := get(t, open(t, s, rt, msg)); v.Flights != 30 {
		t.Errorf("counted %d, want 30", v.Flights)
	}
	if encoded != 3 || decoded != 3 { // the last Get is the third
		t.Errorf("%d times encoded, %d times decoded, want 3 and 3", encoded, decoded)
	}
}

// shape has all that can be changed behind a state's back.
type shape struct {
	List  []int
	Map   map[string]int
	Point *int
}

func TestAValueChangedWithoutSetChangesNothing(t *testing.T) {
	rt, msg := one(t)
	s := flow.NewState("/shape", flow.CBOR[shape]())
	n := 1
	mine := shape{[]int{1}, map[string]int{"a": 1}, &n}
	set(t, open(t, s, rt, msg), mine)
	spoil := func(v shape) { v.List[0], v.Map["a"], *v.Point = 2, 2, 2 }
	intact := func(when string) shape {
		t.Helper()
		v, ok := get(t, open(t, s, rt, msg))
		if !ok || v.List[0] != 1 || v.Map["a"] != 1 || *v.Point != 1 {
			t.Fatalf("%s: the state is %v, %v, %v", when, v.List, v.Map, *v.Point)
		}
		return v
	}
	spoil(mine)
	spoil(intact("after the set value was changed"))
	intact("after the got value was changed")
	endEpoch(t, rt)
	spoil(intact("in the next epoch"))
	intact("after the value decoded there was changed")
}

func TestRawBytesAreNotShared(t *testing.T) {
	rt, msg := one(t)
	s := flow.NewState("/raw", flow.Raw())
	mine := []byte("abc")
	set(t, open(t, s, rt, msg), mine)
	mine[0] = 'x'
	got, _ := get(t, open(t, s, rt, msg))
	got[1] = 'x'
	if got, _ = get(t, open(t, s, rt, msg)); string(got) != "abc" {
		t.Errorf("the state is %q", got)
	}
	endEpoch(t, rt)
	if b := rt.Stored("/raw", msg.Key); string(b) != "abc" {
		t.Errorf("stored %q", b)
	}
}

func TestAValueWithoutBytesIsAnError(t *testing.T) {
	rt, msg := one(t)
	h := open(t, flow.NewState("/raw", flow.Raw()), rt, msg)
	set(t, h, []byte("kept"))
	if err := h.Set(nil); err == nil || !strings.Contains(err.Error(), "state /raw") || !strings.Contains(err.Error(), "flow.Prefixed") {
		t.Errorf("set no bytes: error %v", err)
	}
	if v, ok := get(t, h); !ok || string(v) != "kept" {
		t.Errorf("after the refused Set the state is %q, %v", v, ok)
	}
	prefixed := open(t, flow.NewState("/prefixed", flow.Prefixed(flow.Raw())), rt, msg)
	set(t, prefixed, nil)
	endEpoch(t, rt)
	if v, ok := get(t, prefixed); !ok || len(v) != 0 {
		t.Errorf("with a prefix: %q, %v, want the empty value", v, ok)
	}
}

func TestPrefixedRefusesWhatHasNoPrefix(t *testing.T) {
	c := flow.Prefixed(flow.CBOR[string]())
	b, err := c.Encode("x")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := c.Decode(b); err != nil || v != "x" {
		t.Errorf("decoded %q, error %v", v, err)
	}
	for _, b := range [][]byte{nil, b[1:]} {
		if v, err := c.Decode(b); err == nil {
			t.Errorf("%x is decoded as %q", b, v)
		}
	}
}

type refusing struct{ flow.Codec[int] }

var errRefused = errors.New("refused")

func (refusing) Encode(int) ([]byte, error) { return nil, errRefused }

// A self-contained value is encoded only when the epoch ends: then at the
// latest its error must come.
func TestAnErrorOfTheCodecFailsTheEpoch(t *testing.T) {
	rt, msg := one(t)
	s := flow.NewState("/n", flow.Codec[int](refusing{flow.CBOR[int]()}))
	if err := open(t, s, rt, msg).Set(1); err != nil {
		t.Fatal(err)
	}
	if err := rt.EndEpoch(); !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "state /n") {
		t.Errorf("the epoch ends with %v", err)
	}
}

func TestStoredBytesOfAnotherFormAreAnError(t *testing.T) {
	rt, msg := one(t)
	set(t, open(t, flow.NewState("/n", flow.CBOR[string]()), rt, msg), "text")
	endEpoch(t, rt)
	_, _, err := open(t, flow.NewState("/n", flow.CBOR[route]()), rt, msg).Get()
	if err == nil || !strings.HasPrefix(err.Error(), "state /n: decode a flow_test.route: ") {
		t.Errorf("error %v", err)
	}
}

// Two states with one name and different types see each other's bytes.
func TestAStateSeenThroughTwoTypes(t *testing.T) {
	rt, msg := one(t)
	narrow, wide := open(t, flow.NewState("/n", flow.CBOR[int8]()), rt, msg), open(t, flow.NewState("/n", flow.CBOR[int64]()), rt, msg)
	set(t, narrow, 7)
	if v, ok := get(t, wide); !ok || v != 7 {
		t.Errorf("as int64: %d, %v", v, ok)
	}
	set(t, wide, 8)
	if v, ok := get(t, narrow); !ok || v != 8 {
		t.Errorf("as int8: %d, %v", v, ok)
	}
}

func TestNamesBeginWithASlash(t *testing.T) {
	rt, msg := one(t)
	for _, name := range []string{"", "n", "/", "/n/", "//n", "/a//b", "n/"} {
		h := flow.NewState[int](name, nil).Open(rt, msg)
		if _, _, err := h.Get(); err == nil || h.Set(1) == nil || h.Clear() == nil {
			t.Errorf("a state named %q was opened", name)
		}
	}
	if s := flow.NewState[int]("/a/b", nil); s.Name() != "/a/b" {
		t.Errorf("the name is %q", s.Name())
	}
}

// The engine undoes the inputs of a failed visit by copies of their cells.
func TestACopyOfACellIsASnapshot(t *testing.T) {
	rt, msg := one(t)
	plain, listed := flow.NewState[int]("/plain", nil), flow.NewState[[]int]("/listed", nil)
	set(t, open(t, plain, rt, msg), 1)
	set(t, open(t, listed, rt, msg), []int{1})
	var cells []*flow.Cell
	var copies []flow.Cell
	for _, name := range []string{"/plain", "/listed"} {
		c, err := rt.Cell(name, msg.Key)
		if err != nil {
			t.Fatal(err)
		}
		cells, copies = append(cells, c), append(copies, *c)
	}
	set(t, open(t, plain, rt, msg), 2)
	open(t, listed, rt, msg).Clear()
	for i, c := range cells {
		*c = copies[i]
	}
	if v, _ := get(t, open(t, plain, rt, msg)); v != 1 {
		t.Errorf("/plain is %d, want 1", v)
	}
	if v, _ := get(t, open(t, listed, rt, msg)); len(v) != 1 || v[0] != 1 {
		t.Errorf("/listed is %v, want [1]", v)
	}
}

func TestACellKeepsBytes(t *testing.T) {
	c := flow.NewCell([]byte("old"))
	if _, changed, err := c.Changed(); changed || err != nil {
		t.Errorf("a new cell: changed %v, error %v", changed, err)
	}
	c.SetBytes([]byte("new"))
	if b, changed, err := c.Changed(); string(b) != "new" || !changed || err != nil {
		t.Errorf("changed to %q, %v, error %v", b, changed, err)
	}
}

// embedded and hidden lose something on their way through a codec.
type (
	embedded struct{ route }
	hidden   struct{ n int }
	tagged   struct {
		N int `cbor:"-"`
	}
	plainest struct {
		A [3]bool
		B struct{ C float64 }
		D time.Duration
		E string
	}
)

func TestWhatIsRememberedWithinAnEpochIsWhatIsStored(t *testing.T) {
	t.Run("hidden", func(t *testing.T) { sameAsStored(t, hidden{7}) })
	t.Run("tagged", func(t *testing.T) { sameAsStored(t, tagged{7}) })
	t.Run("embedded", func(t *testing.T) { sameAsStored(t, embedded{route{Flights: 7}}) })
	t.Run("time", func(t *testing.T) {
		sameAsStored(t, time.Date(2001, 1, 1, 0, 47, 0, 123456789, time.FixedZone("CST", -6*3600)))
	})
	t.Run("plain", func(t *testing.T) {
		sameAsStored(t, plainest{[3]bool{true}, struct{ C float64 }{1.5}, time.Second, "\xff"})
	})
}

// sameAsStored sets v and compares what Get returns before and after the end of
// the epoch.
func sameAsStored[T comparable](t *testing.T, v T) {
	rt, msg := one(t)
	s := flow.NewState[T]("/v", nil)
	set(t, open(t, s, rt, msg), v)
	before, _ := get(t, open(t, s, rt, msg))
	endEpoch(t, rt)
	after, _ := get(t, open(t, s, rt, msg))
	if before != after {
		t.Errorf("within the epoch %v, in the next one %v", before, after)
	}
}

func TestEqualValuesAreEqualBytes(t *testing.T) {
	rt, msg := one(t)
	s := flow.NewState("/m", flow.CBOR[map[string]int]())
	var first []byte
	for range 20 {
		m := map[string]int{}
		for i, name := range strings.Split("z y x aa bb cc dd ee ff gg", " ") {
			m[name] = i
		}
		set(t, open(t, s, rt, msg), m)
		endEpoch(t, rt)
		b := rt.Stored("/m", msg.Key)
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Fatalf("equal maps are %x and %x", first, b)
		}
	}
}
