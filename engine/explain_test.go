package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// TestInForceTellsWhichDynamicSpecARunGoesBy and that asking changes nothing.
func TestInForceTellsWhichDynamicSpecARunGoesBy(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(t *testing.T, r *rig, s store.Store)
		origin Origin
		period time.Duration
	}{
		{"nothing stored", func(*testing.T, *rig, store.Store) {}, NewFile, 20 * time.Millisecond},
		{"the same file", func(_ *testing.T, r *rig, s store.Store) { r.run(s) }, SameFile, 20 * time.Millisecond},
		{"the file has changed", func(_ *testing.T, r *rig, s store.Store) {
			r.run(s)
			r.period = "30ms"
		}, ChangedFile, 30 * time.Millisecond},
		{"another was set", func(t *testing.T, r *rig, s store.Store) {
			r.run(s)
			setPeriod(t, s)
		}, SetLater, 7 * time.Millisecond},
		{"another was set, then the file changed", func(t *testing.T, r *rig, s store.Store) {
			r.run(s)
			setPeriod(t, s)
			r.period = "30ms"
		}, ChangedFile, 30 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, s := newRig(t, 60, 10), storetest.NewModel()
			c.before(t, r, s)
			before, _ := s.Pipeline(t.Context())
			got, err := r.pipeline().InForce(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			period := got.Spec.Dynamic.Computation("counter").VisitStream("sweep").Period
			if got.Origin != c.origin || period != c.period || before != nil && got.Version != before.Version {
				t.Errorf("got origin %d, period %v, version %d; want %d, %v of %+v", got.Origin, period, got.Version, c.origin, c.period, before)
			}
			if after, _ := s.Pipeline(t.Context()); before != nil && !after.Equal(before) || before == nil && after != nil {
				t.Errorf("the stored pipeline was %+v and is %+v", before, after)
			}
		})
	}
}

// setPeriod changes the stored dynamic spec, as a running pipeline's may be.
func setPeriod(t *testing.T, s store.Store) {
	p, err := s.Pipeline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.Dynamic = strings.Replace(p.Dynamic, "20ms", "7ms", 1)
	if err := s.SavePipeline(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

func TestInForceCountsPartitions(t *testing.T) {
	r := newRig(t, 60, 10)
	check := func(s store.Store) {
		t.Helper()
		got, err := r.pipeline().InForce(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if n := got.Partitions; n["reader"] != 2 || n["counter"] != 3 || n["counter/sinks/out"] != 1 {
			t.Errorf("partitions %v", n)
		}
	}
	check(nil)
	s := storetest.NewModel()
	check(s)
	r.run(s)
	check(s)
}

func TestInForceRefusesWhatRunRefuses(t *testing.T) {
	r, s := newRig(t, 60, 10), storetest.NewModel()
	r.run(s)
	r.edit = func(text string) string { return strings.Replace(text, "{ spec", "{ name = other; spec", 1) }
	if _, err := r.pipeline().InForce(t.Context(), s); err == nil || !strings.Contains(err.Error(), `belongs to pipeline rig`) {
		t.Errorf("another pipeline: %v", err)
	}
}
