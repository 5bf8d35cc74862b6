package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// tuned counts with a factor that may change while it runs.
type tuned struct {
	*countFunction
	factor  int64
	visited *atomic.Int64 // the factor that the last visit went by
}

func (f *tuned) Reconfigure(p flow.Parameters) error {
	d := struct {
		Factor int64 `yson:"factor" range:">0"`
	}{1}
	if err := p.Decode(&d); err != nil {
		return err
	}
	if d.Factor == 13 {
		return errors.New("13 is no factor: take another one")
	}
	f.factor = d.Factor
	return nil
}

func (f *tuned) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	f.visited.Store(f.factor)
	return f.countFunction.OnVisit(ctx, rt, v, out)
}

// TestParametersOfFunctionsChangeWhileTheyRun: at the next epoch, over restarts, and
// never to what the function refuses.
func TestParametersOfFunctionsChangeWhileTheyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		var visited atomic.Int64
		r.dynamic = "processing_function_parameters = {factor = 2};"
		r.function = func() flow.Function { return &tuned{countFunction: newCountFunction(r), visited: &visited} }
		s := storetest.NewModel()
		p := r.start(s)
		expect := func(want int64) {
			t.Helper()
			<-time.After(time.Second)
			if got := visited.Load(); got != want {
				t.Errorf("visits go by the factor %d, want %d", got, want)
			}
		}
		expect(2)
		p.must(p.change("processing_function_parameters.factor", "5"))
		expect(5)
		for value, want := range map[string]string{
			"{factor = 0}":  "dynamic_spec.computations.counter.processing_function_parameters.factor",
			"{factor = 13}": "dynamic_spec.computations.counter.processing_function_parameters: 13 is no factor",
			"{faktor = 2}":  "factor",
		} {
			if err := p.change("processing_function_parameters", value); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", value, err, want)
			}
		}
		expect(5)
		p.pause()
		p = r.start(s)
		expect(5)
		p.must(p.change("processing_function_parameters", "#"))
		expect(1)
		p.pause()
	})
}

// TestParametersAreRefusedWhereNobodyTakesThem, and where the function says no.
func TestParametersAreRefusedWhereNobodyTakesThem(t *testing.T) {
	for _, c := range []struct{ dynamic, want string }{
		{"processing_function_parameters = {factor = 2};", "takes no parameters while it runs, as one with a method Reconfigure does"},
		{"", ""},
	} {
		r := newRig(t, 1, 1)
		_, err := r.prepare(fmt.Sprintf(rigSpec, 1, c.dynamic, "1s"))
		if fmt.Sprint(err) != "<nil>" && c.want == "" || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%q: error %v, want %q", c.dynamic, err, c.want)
		}
	}
	r := newRig(t, 1, 1)
	r.function = func() flow.Function { return &tuned{countFunction: newCountFunction(r), visited: &atomic.Int64{}} }
	if _, err := r.prepare(fmt.Sprintf(rigSpec, 1, "processing_function_parameters = {factor = 13};", "1s")); err == nil || !strings.Contains(err.Error(), "13 is no factor") {
		t.Errorf("error %v", err)
	}
}

// counted counts how often it is made and given parameters.
type counted struct {
	*tuned
	asked *atomic.Int64
}

func (f *counted) Reconfigure(p flow.Parameters) error {
	f.asked.Add(1)
	return f.tuned.Reconfigure(p)
}

// TestFunctionsHearOfTheirOwnParametersAlone: a change of anything else makes none and
// asks none.
func TestFunctionsHearOfTheirOwnParametersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		var visited, asked, made atomic.Int64
		r.function = func() flow.Function {
			made.Add(1)
			return &counted{&tuned{countFunction: newCountFunction(r), visited: &visited}, &asked}
		}
		p := r.start(storetest.NewModel())
		<-time.After(time.Second)
		madeBefore, askedBefore := made.Load(), asked.Load()
		p.must(p.change("max_rows_per_batch", "7"))
		<-time.After(time.Second)
		if made.Load() != madeBefore || asked.Load() != askedBefore {
			t.Errorf("%d functions are made and %d asked for a change that concerns none", made.Load()-madeBefore, asked.Load()-askedBefore)
		}
		p.must(p.change("processing_function_parameters.factor", "3"))
		<-time.After(time.Second)
		if asked.Load() == askedBefore || visited.Load() != 3 {
			t.Errorf("a change of its parameters is not told: visits go by the factor %d", visited.Load())
		}
		p.pause()
	})
}
