package spec

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/rondo-flow/rondo/yson"
)

// TestEffectiveSpecs runs the scripts in testdata/effective: the command is the
// notation, the input a specification file; out comes what it means in full.
func TestEffectiveSpecs(t *testing.T) {
	datadriven.Walk(t, "testdata/effective", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, err := parse(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return string(yson.EncodePretty(s.Effective()))
		})
	})
}

// TestAnEffectiveSpecMeansTheSame parses the effective form of every valid
// specification that the tests and examples have.
func TestAnEffectiveSpecMeansTheSame(t *testing.T) {
	tried := 0
	try := func(t *testing.T, s *Spec) {
		tried++
		c := newChecker(s.Path, s.Effective())
		c.check()
		again, err := c.result()
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, yson.EncodePretty(s.Effective()))
		}
		if got, want := yson.EncodePretty(again.Effective()), yson.EncodePretty(s.Effective()); string(got) != string(want) {
			t.Errorf("the effective form changes to\n%sfrom\n%s", got, want)
		}
		if got, want := describe(plain(again)), describe(plain(s)); got != want {
			t.Errorf("it becomes\n%swant\n%s", got, want)
		}
		for _, id := range s.Pipeline.ComputationIDs() {
			if got, want := dynamicOf(again, id), dynamicOf(s, id); !reflect.DeepEqual(got, want) {
				t.Errorf("the dynamic parameters of %s become %+v, want %+v", id, got, want)
			}
			if got, want := staticOf(again, id), staticOf(s, id); !reflect.DeepEqual(got, want) {
				t.Errorf("%s becomes %+v, want %+v", id, got, want)
			}
		}
	}
	for _, folder := range []string{"testdata/specs", "testdata/effective"} {
		datadriven.Walk(t, folder, func(t *testing.T, path string) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				if s, err := parse(d); err == nil {
					try(t, s)
				}
				return d.Expected
			})
		})
	}
	examples, err := filepath.Glob("../examples/*/pipeline.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range examples {
		try(t, load(t, path))
	}
	if tried < 15 {
		t.Errorf("only %d specifications were tried", tried)
	}
}

// plain is the specification without notes about how the file is written.
func plain(s *Spec) *Spec {
	return &Spec{Pipeline: s.Pipeline}
}

// dynamicOf are the parameters of a computation without the nodes they came
// from.
func dynamicOf(s *Spec, id string) DynamicComputation {
	all := s.filled()
	d := *all.Computations[id]
	d.Node, d.Parameters = nil, nil
	dropEmptyMaps(&d)
	return d
}

func staticOf(s *Spec, id string) Computation {
	c := *s.Pipeline.Computations[id]
	c.Node, c.Parameters = nil, nil
	dropEmptyMaps(&c)
	return c
}

// dropEmptyMaps makes nil of maps without entries, which mean the same.
func dropEmptyMaps(to any) {
	v := reflect.ValueOf(to).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Map && f.Len() == 0 && f.CanSet() {
			f.SetZero()
		}
	}
}
