package flow_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/yson"
)

func TestTextOrderOfMessageIDsIsTheirOrder(t *testing.T) {
	draw := func(t *rapid.T) flow.MessageID {
		return flow.MessageID{
			Generation: rapid.Uint64().Draw(t, "generation"), Epoch: rapid.Uint64().Draw(t, "epoch"),
			Stream: rapid.Uint16().Draw(t, "stream"), Index: rapid.Uint32().Draw(t, "index"),
		}
	}
	fields := func(id flow.MessageID) []uint64 {
		return []uint64{id.Generation, id.Epoch, uint64(id.Stream), uint64(id.Index)}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t), draw(t)
		if got, want := strings.Compare(a.String(), b.String()), slices.Compare(fields(a), fields(b)); got != want {
			t.Fatalf("%s and %s compare as %d, want %d", a, b, got, want)
		}
	})
}

func TestTime(t *testing.T) {
	at := flow.Time(978310020_000000001)
	if got, want := at.String(), "2001-01-01T00:47:00.000000001Z"; got != want {
		t.Errorf("printed as %s, want %s", got, want)
	}
	if got := at.Sub(flow.Time(978310019_000000000)); got != time.Second+1 {
		t.Errorf("the difference is %v", got)
	}
}

// TestAccessorsTakeOnlyTheirKind: reading a column as another kind than it has is
// a mistake that must not pass for a zero.
func TestAccessorsTakeOnlyTheirKind(t *testing.T) {
	s := flowtest.Schema(t, "i int64", "u uint32", "d double", "b boolean", "s string", "n int64")
	p := flow.NewPayload(s, flowtest.Row(t, s, -1, 2, 3.5, true, "four", nil))
	accessors := map[string]func(column string) any{
		"i": func(c string) any { return p.Int64(c) }, "u": func(c string) any { return p.Uint64(c) },
		"d": func(c string) any { return p.Float64(c) }, "b": func(c string) any { return p.Bool(c) },
		"s": func(c string) any { return p.String(c) },
	}
	want := map[string]any{"i": int64(-1), "u": uint64(2), "d": 3.5, "b": true, "s": "four"}
	for name, accessor := range accessors {
		for _, c := range s.Columns() {
			got, failed := call(accessor, c.Name)
			switch {
			case name == c.Name && got != want[name], name == "i" && c.Name == "n" && got != int64(0):
				t.Errorf("column %s is %v, %s", c.Name, got, failed)
			case name != c.Name && (name != "i" || c.Name != "n") && !strings.HasPrefix(failed, "column "+c.Name+" is "+c.Type.String()+" and is read as "):
				t.Errorf("the accessor of %s takes %v from column %s: %s", name, got, c.Name, failed)
			}
		}
		if got, failed := call(accessor, "ii"); failed != `the message has no column "ii": did you mean i?` {
			t.Errorf("the accessor of %s takes %v from no column: %s", name, got, failed)
		}
	}
	if !p.Has("i") || p.Has("n") || p.Has("other") || !p.Value("other").IsNull() {
		t.Error("a column that is not there has a value")
	}
}

// call returns what an accessor returns, or panics with.
func call(accessor func(string) any, column string) (value any, failed string) {
	defer func() {
		if r := recover(); r != nil {
			failed = fmt.Sprint(r)
		}
	}()
	return accessor(column), ""
}

func TestAKeyKnowsItsColumns(t *testing.T) {
	s := flowtest.Schema(t, "hash uint64 required", "origin string")
	k := flowtest.Key(t, s, uint64(7), "DFW")
	if row, err := k.Row(); err != nil || row.String() != `[7u, "DFW"]` {
		t.Errorf("row %v, error %v", row, err)
	}
	if got, want := k.String(), `[7u "DFW"]`; got != want {
		t.Errorf("printed as %s, want %s", got, want)
	}
	if got, want := flow.NewKey(s, "\x7f").String(), `"\x7f"`; got != want {
		t.Errorf("a key that cannot be read is printed as %s, want %s", got, want)
	}
	if k.Schema() != s || flow.KeyOf(flow.Visit{Key: k}) != k || flow.KeyOf(flow.Message{Key: k}) != k {
		t.Error("schema or key of an input is another one")
	}
}

func TestABuilderMakesMessages(t *testing.T) {
	s := flowtest.Schema(t, "n int64", "s string", "empty double")
	m, err := flow.NewMessageBuilder("out", s).Set("s", []byte("x")).SetValue("n", schema.Int64(7)).SetEventTimestamp(3).Finish()
	if err != nil || m.StreamID != "out" || m.EventTimestamp != 3 || m.Payload.Row().String() != `[7, "x", null]` {
		t.Errorf("%+v, error %v", m, err)
	}
	if m, err = flow.NewMessageBuilder("out", s).Finish(); err != nil || m.EventTimestamp != flow.NoTimestamp {
		t.Errorf("an empty message: %+v, error %v", m, err)
	}
}

func TestABuilderKeepsTheFirstError(t *testing.T) {
	s := flowtest.Schema(t, "n int64", "r string required")
	for want, b := range map[string]*flow.MessageBuilder{
		`stream out has no column "m"`: flow.NewMessageBuilder("out", s).Set("m", 1).Set("n", "x"),
		`stream out has no column "k"`: flow.NewMessageBuilder("out", s).SetValue("k", schema.Int64(1)),
		`stream out, column n: `:       flow.NewMessageBuilder("out", s).Set("n", 1.5),
		`stream out: column r: `:       flow.NewMessageBuilder("out", s).Set("n", 1),
		`stream out: column n: `:       flow.NewMessageBuilder("out", s).SetValue("n", schema.String("x")).Set("r", ""),
	} {
		if _, err := b.Finish(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want it to begin with %s", err, want)
		}
	}
}

func TestARegistryHasEachNameOnce(t *testing.T) {
	var r flow.Registry
	made := errors.New("made by this factory")
	factory := func(flow.Setup) (flow.Function, error) { return nil, made }
	for _, name := range []string{"b", "NYT::NFlow::NMyProject::TMyFunction", "a"} {
		if err := r.Register(name, factory); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range map[string]flow.Factory{"a": factory, "": factory, "c": nil} {
		if err := r.Register(name, f); err == nil {
			t.Errorf("registered %q", name)
		}
	}
	if got, want := r.Names(), []string{"NYT::NFlow::NMyProject::TMyFunction", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	f, ok := r.Lookup("a")
	if !ok {
		t.Fatal("a is not there")
	}
	if _, err := f(flow.Setup{}); err != made {
		t.Errorf("another factory is there: %v", err)
	}
	if _, ok := r.Lookup("c"); ok {
		t.Error("c is there")
	}
}

func TestParametersAreStrict(t *testing.T) {
	type parameters struct {
		Path  string        `yson:"path,required"`
		Every time.Duration `yson:"every"`
	}
	parse := func(text string) flow.Parameters {
		n, err := yson.Parse([]byte(text), yson.YSON)
		if err != nil {
			t.Fatal(err)
		}
		return flow.NewParameters(n, "spec.x")
	}
	p := parameters{Every: time.Second}
	if err := parse(`{path=x}`).Decode(&p); err != nil || p.Path != "x" || p.Every != time.Second {
		t.Errorf("%+v, error %v", p, err)
	}
	err := parse(`{every=soon; pth=x}`).Decode(&p)
	for _, want := range []string{"spec.x.every", "spec.x.pth", "path is missing"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to name %s too", err, want)
		}
	}
	none := flow.NewParameters(nil, "spec.y")
	if err := none.Decode(&p); err == nil || !strings.Contains(err.Error(), "path is missing") || none.Node() != nil || none.Path() != "spec.y" {
		t.Errorf("no parameters: error %v", err)
	}
}

// TestTimesAreColumnValues: an instant of a message goes into a timestamp with its
// microseconds, and into coarser types if nothing is lost.
func TestTimesAreColumnValues(t *testing.T) {
	s := flowtest.Schema(t, "at timestamp", "second datetime", "day date")
	day := flow.Time(0).Add(24 * time.Hour)
	m, err := flow.NewMessageBuilder("out", s).Set("at", day.Add(1500*time.Nanosecond)).Set("second", day.Add(time.Second)).Set("day", day).Finish()
	if err != nil || m.Payload.Uint64("at") != 86400_000_001 || m.Payload.Uint64("second") != 86401 || m.Payload.Uint64("day") != 1 {
		t.Errorf("%v, error %v", m.Payload, err)
	}
	for _, column := range []string{"second", "day"} {
		if _, err := flow.NewMessageBuilder("out", s).Set(column, day.Add(time.Millisecond)).Finish(); err == nil || !strings.Contains(err.Error(), "is not exact as a date") {
			t.Errorf("%s: error %v", column, err)
		}
	}
}
