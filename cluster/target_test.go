package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
)

// TestAStateIsReachedWhenAllWorkersAreThere: words of a time before the target do not
// count, and those of before a later change of the spec do.
func TestAStateIsReachedWhenAllWorkersAreThere(t *testing.T) {
	idle := func(version uint64) *cluster.Info { return &cluster.Info{Said: engine.Fresh(version)} }
	for _, c := range []struct {
		target     store.Target
		workers    []*cluster.Info
		unfinished int
		want       engine.State
	}{
		{store.ToWork, []*cluster.Info{idle(9)}, 1, engine.Running},
		{store.ToPause, []*cluster.Info{idle(5), idle(9)}, 1, engine.StatePaused},
		{store.ToPause, []*cluster.Info{idle(5), idle(4)}, 1, engine.Pausing},
		{store.ToPause, []*cluster.Info{idle(5), {}}, 1, engine.Pausing},
		{store.ToPause, nil, 1, engine.StatePaused},
		{store.ToDrain, []*cluster.Info{idle(5)}, 1, engine.Draining},
		{store.ToDrain, nil, 1, engine.Draining},
		{store.ToRest, []*cluster.Info{idle(5)}, 1, engine.StateStopped},
		{store.ToRest, []*cluster.Info{idle(5), {}}, 1, engine.Draining},
		{store.ToDrain, nil, 0, engine.StateCompleted},
	} {
		v := &store.View{Layout: 1, Unfinished: c.unfinished}
		for i, info := range c.workers {
			text, err := json.Marshal(info)
			if err != nil {
				t.Fatal(err)
			}
			v.Workers = append(v.Workers, store.Worker{ID: fmt.Sprint(i), Info: text})
		}
		if got := cluster.StateOf(&store.Pipeline{Target: c.target, Version: 9, Aimed: 5}, v); got != c.want {
			t.Errorf("target %d, %d workers: %s, want %s", c.target, len(c.workers), got, c.want)
		}
	}
}

// TestWhichTargetIsRefused by which it has.
func TestWhichTargetIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if err := cluster.Retarget(t.Context(), r.look, store.ToPause); err == nil {
		t.Error("what is not there was paused")
	}
	r.must(r.submit(&program{functions: []string{"shout"}}, ownJob("")))
	for _, c := range []struct {
		has     store.Target
		refused []store.Target
	}{
		{store.ToWork, []store.Target{store.ToWork}},
		{store.ToPause, nil},
		{store.ToDrain, []store.Target{store.ToWork}},
		{store.ToRest, []store.Target{store.ToPause, store.ToDrain}},
	} {
		for _, to := range []store.Target{store.ToWork, store.ToPause, store.ToDrain} {
			p, err := r.look.Pipeline(t.Context())
			r.must(err)
			p.Aim(c.has)
			r.must(r.look.SavePipeline(t.Context(), p))
			want := c.has
			refused := false
			for _, no := range c.refused {
				refused = refused || no == to
			}
			if !refused {
				want = to
			}
			if err := cluster.Retarget(t.Context(), r.look, to); errors.Is(err, cluster.ErrRefused) != refused {
				t.Errorf("from %d to %d: %v", c.has, to, err)
			}
			after, err := r.look.Pipeline(t.Context())
			r.must(err)
			if after.Target != want {
				t.Errorf("from %d to %d: it is %d", c.has, to, after.Target)
			}
		}
	}
}
