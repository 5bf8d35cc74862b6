package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/connector/datagen"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

// decoded are structs that specs are decoded into.
var decoded = []struct {
	dir   string
	value any
}{
	{"spec", &spec.Stream{}}, {"spec", &spec.Computation{}}, {"spec", &spec.VisitStream{}}, {"spec", &spec.TimerStream{}},
	{"spec", &spec.Source{}}, {"spec", &spec.Sink{}}, {"spec", &spec.Resource{}}, {"spec", &spec.RequiredResource{}},
	{"spec", &spec.ExternalManager{}}, {"spec", &spec.ExternalJoiner{}}, {"spec", &spec.StateJoiner{}},
	{"spec", &spec.DynamicComputation{}}, {"spec", &spec.DynamicVisitStream{}}, {"spec", &spec.DynamicConnector{}},
	{"connector/file", &file.SourceParameters{}}, {"connector/file", &file.SinkParameters{}},
	{"connector/queue", &queue.SourceParameters{}}, {"connector/queue", &queue.SinkParameters{}},
	{"connector/datagen", &datagen.Parameters{}},
	{"external", &external.Parameters{}}, {"external", &external.DynamicParameters{}},
}

// TestDefaultsAreThoseOfTheProgram compares what is read from the syntax with
// what the methods do.
func TestDefaultsAreThoseOfTheProgram(t *testing.T) {
	compared := 0
	for _, d := range decoded {
		if s, ok := d.value.(yson.Defaulter); ok {
			s.SetDefaults()
		}
		s, err := load(root, d.dir)
		if err != nil {
			t.Fatal(err)
		}
		name := reflect.TypeOf(d.value).Elem().Name()
		b := &book{source: s, inPlace: true}
		if err := b.add("", name); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.chapters[0].rows {
			if r.standard == "required" || strings.ContainsAny(r.path, "<[") {
				continue
			}
			compared++
			if got, want := r.standard, printed(find(t, reflect.ValueOf(d.value).Elem(), strings.Split(r.path, "."))); got != want {
				t.Errorf("%s.%s: the reference says %q, the program %q", name, r.path, got, want)
			}
		}
	}
	if compared < 80 {
		t.Errorf("only %d fields were compared", compared)
	}
}

// find goes down the fields with these names in specs.
func find(t *testing.T, v reflect.Value, path []string) reflect.Value {
	t.Helper()
	if len(path) == 0 {
		return v
	}
	if v.Kind() == reflect.Pointer { // unset as a whole: its defaults are those of one that is set
		v = reflect.New(v.Type().Elem())
		if d, ok := v.Interface().(yson.Defaulter); ok {
			d.SetDefaults()
		}
		v = v.Elem()
	}
	for _, f := range reflect.VisibleFields(v.Type()) {
		names, _, _ := strings.Cut(f.Tag.Get("yson"), ",")
		if slices.Contains(strings.Split(names, "|"), path[0]) {
			return find(t, v.FieldByIndex(f.Index), path[1:])
		}
	}
	t.Fatalf("%s has no field %s", v.Type(), path[0])
	return v
}

// printed is how the reference shows a value, empty for nothing.
func printed(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case time.Duration:
		return "`" + yson.FormatDuration(x) + "`"
	case yson.Size:
		return "`" + x.String() + "`"
	case bool:
		return "`" + strconv.FormatBool(x) + "`"
	}
	switch {
	case v.CanInt():
		return "`" + strconv.FormatInt(v.Int(), 10) + "`"
	case v.CanFloat():
		return "`" + strconv.FormatFloat(v.Float(), 'g', -1, 64) + "`"
	case v.Kind() == reflect.String && v.String() != "":
		return "`" + v.String() + "`"
	case v.Kind() != reflect.Struct && !v.IsZero():
		return "something"
	default:
		return ""
	}
}
