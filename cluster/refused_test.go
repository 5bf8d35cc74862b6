package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// meeting is a store whose users have all read what is there before one of them writes.
type meeting struct {
	*pgstore.Store
	all *sync.WaitGroup
}

func (m *meeting) Reports(ctx context.Context) ([]store.Report, error) {
	out, err := m.Store.Reports(ctx)
	m.all.Done()
	m.all.Wait()
	return out, err
}

// TestOfTwoSpecsThatAreSubmittedAtOnceOneIsRefused: the first time, and again when the
// pipeline is there; its partitions are made once.
func TestOfTwoSpecsThatAreSubmittedAtOnceOneIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := &program{functions: []string{"shout"}}
	for _, groups := range [][]string{{`worker_group = x;`, `worker_group = y;`}, {`worker_group = v;`, `worker_group = w;`}} {
		var all sync.WaitGroup
		all.Add(len(groups))
		errs := make(chan error, len(groups))
		for _, g := range groups {
			go func() { errs <- r.submitAt(p, ownJob(g), &all) }()
		}
		var failed []error
		for range groups {
			if err := <-errs; err != nil {
				failed = append(failed, err)
			}
		}
		if len(failed) != 1 || !errors.Is(failed[0], store.ErrConflict) || !strings.Contains(failed[0].Error(), "submit again") {
			t.Fatalf("of two, these fail: %v", failed)
		}
		parts, err := r.look.Partitions(t.Context())
		r.must(err)
		if len(parts) != 5 {
			t.Fatalf("there are %d partitions, not 5", len(parts))
		}
	}
}

func (r *rig) submitAt(p *program, text string, all *sync.WaitGroup) error {
	s, err := spec.Parse("job.yson", []byte(text))
	if err != nil {
		return err
	}
	o, err := p.options(s, r.t.TempDir())
	if err != nil {
		return err
	}
	made, err := engine.Prepare(context.Background(), o)
	if err != nil {
		return err
	}
	shared, err := pgstore.Open(context.Background(), r.url, pgstore.Options{Worker: cluster.NewID(), Logger: o.Log})
	if err != nil {
		return err
	}
	return errors.Join(made.Submit(context.Background(), &meeting{shared, all}), shared.Close())
}

// TestWhatDoesNotFitIsRefusedAndChangesNothing.
func TestWhatDoesNotFitIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := &program{functions: []string{"shout"}}
	r.must(r.submit(p, ownJob(`worker_group = fast;`)))
	before, err := r.look.Pipeline(t.Context())
	r.must(err)
	other := strings.ReplaceAll(ownJob(""), "shouter", "crier")
	for name, c := range map[string]struct {
		try  func() error
		want string
	}{
		"another pipeline of the same name": {func() error { return r.submit(p, other) }, "spec.computations.crier is new"},
		"another name": {func() error { return r.submit(p, strings.Replace(other, "name = own", "name = other", 1)) },
			"the store belongs to pipeline own, not other"},
		"a group that the spec does not have": {func() error { return r.ended(r.hire(&program{group: "gpu"})) },
			`no computation of the pipeline has the worker_group "gpu", so this worker would get nothing: give --group one of none (leave --group out), fast`},
		"a worker of another version": {func() error {
			_, err := r.look.Beat(t.Context(), &store.Beat{Worker: store.Worker{ID: "old", Build: "rondo cluster 0", Info: []byte(`{"lease":60000000000}`)}})
			r.must(err)
			defer func() { r.must(r.look.Leave(t.Context(), "old")) }()
			err = r.ended(r.hire(p))
			if !errors.Is(err, cluster.ErrBuild) {
				t.Errorf("%v is not ErrBuild", err)
			}
			return err
		}, `worker old is "rondo cluster 0"`},
		"a worker with another lease": {func() error {
			_, err := r.look.Beat(t.Context(), &store.Beat{Worker: store.Worker{ID: "slow", Build: cluster.Build, Info: []byte(`{"host":"there","lease":60000000000}`)}})
			r.must(err)
			defer func() { r.must(r.look.Leave(t.Context(), "slow")) }()
			err = r.ended(r.hire(p))
			if !errors.Is(err, cluster.ErrLease) {
				t.Errorf("%v is not ErrLease", err)
			}
			return err
		}, `that of worker slow on host there is 1m0s`},
	} {
		if err := c.try(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		after, err := r.look.Pipeline(t.Context())
		r.must(err)
		view, err := r.look.View(t.Context())
		r.must(err)
		parts, err := r.look.Partitions(t.Context())
		r.must(err)
		if !after.Equal(before) || len(view.Workers) != 0 || len(parts) != 5 {
			t.Errorf("%s: the pipeline is %+v, the workers %+v, %d partitions", name, after, view.Workers, len(parts))
		}
	}
}
