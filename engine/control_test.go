package engine

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

// running runs the rig's pipeline beside the test, in virtual time; the source
// keeps its last row back, so that it stays until the test ends it.
type running struct {
	*Pipeline
	t    *testing.T
	done chan error
}

func (r *rig) start(s store.Store) *running {
	r.t.Helper()
	if r.gate == nil {
		r.gate = make(chan struct{})
	}
	out := &running{Pipeline: r.pipeline(), t: r.t, done: make(chan error, 1)}
	ctx := r.t.Context()
	go func() {
		_, err := out.Run(ctx, s)
		out.done <- err
	}()
	synctest.Wait()
	return out
}

// pause ends the run at the next epoch bound.
func (r *running) pause() {
	r.t.Helper()
	r.Pause()
	if err := <-r.done; err != nil {
		r.t.Fatal(err)
	}
}

// set changes a parameter of the counter's visit stream.
func (r *running) set(name, value string) error {
	return r.change("key_visitor_streams.sweep."+name, value)
}

// change changes a parameter of the counter, unless it is refused.
func (r *running) change(name, value string) error {
	n, err := yson.Parse([]byte(value), yson.YSON)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = r.SetDynamic(r.t.Context(), "computations.counter."+name, n, 0)
	return err
}

func (r *running) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// visits waits and returns how many visits were handled meanwhile.
func (r *running) visits(d time.Duration) int {
	before := r.Status().Visits
	<-time.After(d)
	synctest.Wait()
	return int(r.Status().Visits - before)
}

// TestNothingIsToldToAPipelineThatDoesNotRun: before Run and after it.
func TestNothingIsToldToAPipelineThatDoesNotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10, 10)
		p := r.pipeline()
		refused := func() {
			t.Helper()
			_, err1 := p.SetDynamic(t.Context(), "computations.counter.max_rows_per_batch", yson.Int64(5), 0)
			_, err2 := p.SpecInForce(t.Context())
			for _, err := range []error{err1, err2, p.RunNow(t.Context(), "counter", "sweep", 0)} {
				if !errors.Is(err, ErrNotRunning) {
					t.Errorf("error %v, want ErrNotRunning", err)
				}
			}
		}
		refused()
		if len(p.VisitStreams()) > 0 || p.States() != nil {
			t.Error("there is something to see before Run")
		}
		if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
			t.Fatal(err)
		}
		refused()
	})
}

// TestBadChangesAreRefusedAndTheOldValueStays: with path and range (KV-50), and
// with both versions.
func TestBadChangesAreRefusedAndTheOldValueStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		s := storetest.NewModel()
		p := r.start(s)
		before, err := p.SpecInForce(t.Context())
		p.must(err)
		for _, c := range []struct {
			path, value string
			version     uint64
			want        string
		}{
			{"computations.counter.key_visitor_streams.sweep.period", `"0s"`, 0, "dynamic_spec.computations.counter.key_visitor_streams.sweep.period: must be > 0"},
			{"computations.counter.key_visitor_streams.sweep.visit_share", "1.5", 0, "sweep.visit_share: must be > 0 and <= 1, got 1.5"},
			{"computations.counter.key_visitor_streams.mop.period", `"1s"`, 0, "has no visit stream mop: there are sweep"},
			{"computations.counter.key_visitor_streams.sweep.periood", `"1s"`, 0, "unknown field: did you mean period?"},
			{"computations.counter.max_rows_per_batch", "0", 0, "max_rows_per_batch: must be > 0"},
			{"streams", "0", 0, "unknown field"},
			{"computations.counter.max_rows_per_batch", "7", before.Version + 3, "it has version 1, not 4"},
		} {
			value, err := yson.Parse([]byte(c.value), yson.YSON)
			p.must(err)
			_, err = p.SetDynamic(t.Context(), c.path, value, c.version)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s=%s: error %v, want %q", c.path, c.value, err, c.want)
			}
			if (c.version != 0) != errors.Is(err, ErrVersion) {
				t.Errorf("%s=%s: the class of %v", c.path, c.value, err)
			}
		}
		after, err := p.SpecInForce(t.Context())
		p.must(err)
		if after.Version != before.Version || string(yson.Encode(after.Dynamic)) != string(yson.Encode(before.Dynamic)) {
			t.Errorf("refused changes left %+v, want %+v", after, before)
		}
		p.pause()
	})
}

// refusedValues are bad values of each parameter of a visit stream: out of range,
// where there is one, and of a wrong type.
var refusedValues = map[string][]string{
	"period":                      {`"0s"`, `0`, `"-1s"`, `-1`, `"36501d"`, `"soon"`, `%true`, `1.5`, `[]`},
	"final_pass_period":           {`"-1s"`, `-1`, `"36501d"`, `"soon"`, `%true`},
	"max_visits_per_second":       {`0`, `-1`, `%inf`, `%nan`, `"many"`, `{}`},
	"max_scan_rows_per_iteration": {`0`, `-1`, `"0K"`, `"many"`, `1.5`},
	"buffer_row_limit":            {`0`, `-1`, `"many"`, `%true`},
	"buffer_byte_limit":           {`0`, `-1`, `"16MB"`, `%true`},
	"background_fill_period":      {`"0s"`, `"-1s"`, `"36501d"`, `"soon"`, `%true`},
	"finite":                      {`1`, `"maybe"`},
	"full_final_pass":             {`1`, `"maybe"`},
	"catchup_lag_threshold":       {`"-1s"`, `-1`, `"36501d"`, `"soon"`, `%true`},
	"catchup_speedup_multiplier":  {`1`, `0.5`, `%inf`, `"fast"`},
	"visit_share":                 {`0`, `-0.1`, `1.1`, `%nan`, `"half"`},
	"on_visit_error":              {`maybe`, `1`, `[fail]`},
	"enabled":                     {`0`, `"maybe"`},
}

// TestEveryParameterOfAVisitStreamIsCheckedBeforeItIsTaken: with path and range, the
// old value stays, and nothing of the pipeline moves (KV-50).
func TestEveryParameterOfAVisitStreamIsCheckedBeforeItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		r.gate = make(chan struct{})
		p := r.start(storetest.NewModel())
		<-time.After(time.Second)
		before, err := p.SpecInForce(t.Context())
		p.must(err)
		const stream = "computations.counter.key_visitor_streams.sweep."
		fields := reflect.TypeFor[spec.DynamicVisitStream]()
		for i := range fields.NumField() {
			name, _, _ := strings.Cut(fields.Field(i).Tag.Get("yson"), ",")
			if !fields.Field(i).IsExported() {
				continue
			}
			if len(refusedValues[name]) == 0 {
				t.Errorf("no bad value of %s is tried", name)
			}
			allowed := fields.Field(i).Tag.Get("range") + fields.Field(i).Tag.Get("enum")
			for _, text := range refusedValues[name] {
				value, err := yson.Parse([]byte(text), yson.YSON)
				p.must(err)
				_, err = p.SetDynamic(t.Context(), stream+name, value, 0)
				var bad yson.Problems
				if !errors.As(err, &bad) || bad[0].Path != "dynamic_spec."+stream+name || (bad[0].Allowed == "") != (allowed == "") || !strings.Contains(err.Error(), bad[0].Allowed) {
					t.Errorf("%s=%s is answered with %v", name, text, err)
				}
			}
		}
		after, err := p.SpecInForce(t.Context())
		p.must(err)
		if after.Version != before.Version || string(yson.Encode(after.Dynamic)) != string(yson.Encode(before.Dynamic)) {
			t.Errorf("refused changes left %+v, want %+v", after, before)
		}
		if all := p.Problems(); len(all) > 0 {
			t.Errorf("the pipeline has %v", all)
		}
		close(r.gate)
		p.must(<-p.done)
		r.check()
	})
}

// TestChangesHoldAtOnceAndOverRestarts: an idle partition follows a new period
// at once, and goes on so after a restart.
func TestChangesHoldAtOnceAndOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 200, 50)
		r.period = "10d"
		s := storetest.NewModel()
		p := r.start(s)
		if n := p.visits(10 * time.Minute); n > 2 {
			t.Fatalf("%d visits in 10 min of a pass of ten days", n)
		}
		p.must(p.set("period", `"1s"`))
		if n := p.visits(10 * time.Second); n < 8*50 || n > 11*50 {
			t.Errorf("%d visits in 10 s of period 1s on 50 keys", n)
		}
		p.pause()
		p = r.start(s)
		if n := p.visits(10 * time.Second); n < 8*50 || n > 11*50 {
			t.Errorf("%d visits in 10 s of period 1s on 50 keys, after a restart", n)
		}
		_, err := p.SetDynamic(t.Context(), "computations.counter.key_visitor_streams.sweep.period", nil, 0)
		p.must(err)
		if n := p.visits(time.Minute); n > 10 {
			t.Errorf("%d visits in a minute of the default period", n)
		}
		p.pause()
	})
}

// TestADisabledStreamIsSilentAtOnce: no visit is handed out 100 ms after enabled
// became false, though epochs may be much longer, and true goes on there.
func TestADisabledStreamIsSilentAtOnce(t *testing.T) {
	for _, batch := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 400, 200)
			r.dynamic = `max_epoch_duration = "1h";`
			r.partitions, r.period = 1, "1s"
			var last time.Time
			r.function = func() flow.Function {
				f := slowVisits{newCountFunction(r), 7 * time.Millisecond, &last}
				if batch {
					return batchCount{f}
				}
				return f
			}
			p := r.start(storetest.NewModel())
			if n := p.visits(10 * time.Second); n == 0 {
				t.Fatal("no visits")
			}
			off := time.Now()
			p.must(p.set("enabled", "%false"))
			<-time.After(time.Minute)
			if late := last.Sub(off); !batch && late > 100*time.Millisecond {
				t.Errorf("a visit %s after the stream was disabled", late)
			}
			v := p.VisitStreams()[0]
			if v.Enabled || len(v.Problems) != 1 || v.Problems[0].Path != "/key_visitor/sweep/disabled" {
				t.Errorf("the status of a disabled stream: enabled %v, problems %v", v.Enabled, v.Problems)
			}
			pass, done := v.Pass, v.Progress
			p.must(p.set("enabled", "%true"))
			synctest.Wait()
			if v := p.VisitStreams()[0]; v.Pass != pass || v.Progress < done {
				t.Errorf("pass %d at %.2f goes on as pass %d at %.2f", pass, done, v.Pass, v.Progress)
			}
			if n := p.visits(10 * time.Second); n == 0 {
				t.Error("no visits after it was enabled")
			}
			p.pause()
		})
	}
}

// slowVisits takes time for each visit.
type slowVisits struct {
	*countFunction
	cost time.Duration
	last *time.Time // of one partition, or nil
}

func (f slowVisits) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	<-time.After(f.cost)
	if f.last != nil {
		*f.last = time.Now()
	}
	return f.countFunction.OnVisit(ctx, rt, v, out)
}

// away is a store that does not answer what is asked beside the work once it is gone.
type away struct {
	store.Store
	gone atomic.Bool
}

func (a *away) Pipeline(ctx context.Context) (*store.Pipeline, error) {
	if a.gone.Load() {
		return nil, store.ErrUnavailable
	}
	return a.Store.Pipeline(ctx)
}

// TestTheSpecInForceIsToldWhileTheStoreIsAway: it is then that one looks.
func TestTheSpecInForceIsToldWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &away{Store: storetest.NewModel()}
		p := newRig(t, 100, 10).start(s)
		want, err := p.SpecInForce(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.gone.Store(true)
		got, err := p.SpecInForce(t.Context())
		if err != nil || got.Version != want.Version || got.Name != want.Name || got.Dynamic == nil {
			t.Errorf("%+v, %v", got, err)
		}
		if err := p.set("period", `"1s"`); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("the spec was changed: %v", err)
		}
		p.pause()
	})
}
