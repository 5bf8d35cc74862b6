package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/yson"
)

// manned is a pipeline that the workers of a cluster run. All that they have done
// is in the store, and they follow what is stored of the spec.
type manned struct {
	resting
	shared *pgstore.Store
	view   *store.View
}

var _ subject = (*manned)(nil)

// silence is after how long without a beat a worker counts as gone for commands.
const silence = 3 * cluster.DefaultLease

// reachWorkers finds the pipeline if workers run it from the store of the URL, or if it
// is named by that alone; nil if there is none.
func (at where) reachWorkers(ctx context.Context, name string) (*reached, error) {
	if at.url == "" {
		return nil, nil
	}
	if at.dataDir != "" {
		if served, err := console.NewClient(at.dataDir).Served(ctx); served || err != nil {
			return nil, err
		}
	}
	s, err := pgstore.Open(ctx, at.url, pgstore.Options{Worker: cluster.NewID()})
	if errors.Is(err, store.ErrLocked) { // one process has it
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t, err := newManned(ctx, s, at, name)
	if t == nil || err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &reached{t, at.dataDir, s.Close}, nil
}

var errUnmanned = errors.New("no worker runs the pipeline now: start one with rondo worker, or change the spec with rondo spec set-dynamic")

// withWorkers does something with a pipeline that workers run; false if there are
// none.
func (f *placeFlags) withWorkers(ctx context.Context, do func(t *manned) error) (bool, error) {
	t, closed, err := f.ofWorkers(ctx)
	if t == nil {
		return false, err
	}
	if len(t.view.Workers) == 0 {
		return false, errors.Join(errUnmanned, closed())
	}
	return true, errors.Join(do(t), closed())
}

// ofWorkers finds the pipeline that the flags name if it is one of workers; nil if not.
func (f *placeFlags) ofWorkers(ctx context.Context) (*manned, func() error, error) {
	at, name, err := f.wanted()
	if err != nil {
		return nil, nil, err
	}
	r, err := at.reachWorkers(ctx, name)
	if r == nil {
		return nil, nil, err
	}
	return r.subject.(*manned), r.close, nil
}

func newManned(ctx context.Context, s *pgstore.Store, at where, name string) (*manned, error) {
	t := &manned{resting: resting{store: s, dataDir: at.dataDir}, shared: s}
	switch err := t.refresh(ctx); {
	case err != nil:
		return nil, err
	case len(t.view.Workers) == 0 && (t.pipeline == nil || at.dataDir != "" && t.pipeline.Target == store.ToWork):
		return nil, nil
	case t.pipeline == nil:
		return nil, fmt.Errorf("the workers wait for a pipeline: %w in %s: submit one with rondo submit", errNoRun, at)
	}
	return t, sameName(t.pipeline.Name, at, name)
}

// refresh reads who is there, and what is stored of the pipeline.
func (t *manned) refresh(ctx context.Context) (err error) {
	if t.view, err = t.shared.View(ctx); err != nil {
		return err
	}
	t.view.Workers = slices.DeleteFunc(t.view.Workers, func(w store.Worker) bool { return w.Unseen > silence })
	t.pipeline, err = t.shared.Pipeline(ctx)
	return err
}

// Status tells what is committed, and which workers there are.
func (t *manned) Status(ctx context.Context) (*console.Status, error) {
	if err := t.refresh(ctx); err != nil {
		return nil, err
	}
	out, err := t.resting.Status(ctx)
	if err != nil || out.Completed {
		return out, err
	}
	if len(t.view.Workers) == 0 {
		if t.pipeline.Target != store.ToWork {
			out.State = string(t.state())
		}
		return out, nil
	}
	parts, err := t.shared.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	is := t.state()
	out.Running, out.State = is != engine.StatePaused && is != engine.StateStopped, string(is)
	for i := range t.view.Workers {
		out.Workers = append(out.Workers, t.worker(&t.view.Workers[i], parts))
	}
	for i := range out.Partitions {
		t.place(&out.Partitions[i], parts, out.Running)
	}
	stranded, err := t.stranded(parts)
	out.Problems = append(stranded, clusterProblems(out)...)
	return out, err
}

// stranded are the computations that no worker can run.
func (t *manned) stranded(parts []store.Partition) ([]console.Problem, error) {
	s, err := t.parsed()
	if err != nil {
		return nil, err
	}
	groupOf := func(computation string) string {
		owner, _, _ := strings.Cut(computation, "/sinks/")
		if c := s.Pipeline.Computations[owner]; c != nil {
			return c.WorkerGroup
		}
		return ""
	}
	out := []console.Problem{}
	why := cluster.StrandedIn(t.view, parts, silence, groupOf)
	for _, c := range slices.Sorted(maps.Keys(why)) {
		out = append(out, console.Problem{Path: "/computations/" + c + "/assignment", Message: why[c]})
	}
	return out, nil
}

// worker describes a worker by what it told at its last beat.
func (t *manned) worker(w *store.Worker, parts []store.Partition) console.Worker {
	info, _ := cluster.InfoOf(w) // one of another version may tell other things
	out := console.Worker{
		ID: w.ID, Group: w.Group, Host: info.Host, PID: info.PID, Controller: t.view.Lease.Holder == w.ID,
		Unseen: w.Unseen.Seconds(), Silent: w.Unseen > cmp.Or(info.Lease, cluster.DefaultLease),
	}
	if info.Wall != 0 {
		out.ClockOff = time.Duration(info.Wall - (t.view.Now - int64(w.Unseen))).Seconds()
	}
	for _, p := range parts {
		if p.Worker == w.ID && p.State != store.Completed {
			out.Partitions++
		}
	}
	return out
}

// place tells who runs a partition.
func (t *manned) place(p *console.Partition, parts []store.Partition, running bool) {
	i := slices.IndexFunc(parts, func(o store.Partition) bool { return uint64(o.ID) == p.ID })
	if i < 0 || parts[i].State == store.Completed {
		return
	}
	if p.Worker = parts[i].Worker; p.Worker == "" {
		return
	}
	if p.Phase = string(engine.Working); !running {
		p.Phase = string(engine.Paused)
	}
}

// clusterProblems are what is wrong with workers, and what nobody runs.
func clusterProblems(s *console.Status) []console.Problem {
	out := []console.Problem{}
	add := func(path, format string, args ...any) {
		out = append(out, console.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	for _, p := range s.Partitions {
		if p.Worker == "" && p.Phase != string(engine.Done) {
			add(fmt.Sprintf("/computations/%s/partitions/%d", p.Computation, p.ID), "no worker has it now")
		}
	}
	for _, w := range s.Workers {
		if off := time.Duration(w.ClockOff * float64(time.Second)); off.Abs() > time.Minute {
			add("/workers/"+w.ID, "the clock of host %s is off by %s; the database's is used", w.Host, off.Round(time.Second))
		}
		if w.Silent {
			add("/workers/"+w.ID, "it has been silent for %.0f s", w.Unseen)
		}
	}
	slices.SortStableFunc(out, func(a, b console.Problem) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// Visits tells how far the passes are, by what is committed. Rates are known to the
// workers alone.
func (t *manned) Visits(ctx context.Context) (*console.Visits, error) {
	if err := t.refresh(ctx); err != nil {
		return nil, err
	}
	streams, err := t.streams(ctx)
	if err != nil {
		return nil, err
	}
	var all []engine.VisitStream
	for _, v := range streams {
		all = append(all, v.VisitStream)
	}
	works := len(t.view.Workers) > 0 && t.view.Unfinished > 0 && t.pipeline.Target == store.ToWork
	out := console.VisitsOf(t.pipeline.Name, works, all, time.Unix(0, t.view.Now))
	for i := range out.Streams { // what is read ahead is in no store
		out.Streams[i].Ready, out.Streams[i].ReadyBytes = nil, nil
	}
	return out, nil
}

// SetDynamic stores another dynamic spec, which all workers follow. It is decided
// again if somebody else was faster, unless a version was asked for.
func (t *manned) SetDynamic(ctx context.Context, q console.SetRequest) (*console.SetAnswer, error) {
	for {
		version, err := t.set(ctx, q)
		switch {
		case err == nil:
			return &console.SetAnswer{Version: version}, nil
		case q.Version != 0 || !errors.Is(err, store.ErrConflict):
			return nil, console.ErrorOf(err)
		}
		if t.pipeline, err = t.shared.Pipeline(ctx); err != nil {
			return nil, err
		}
	}
}

// RunNow begins a pass.
func (t *manned) RunNow(ctx context.Context, computation, stream string, r console.RunNowRequest) error {
	period, err := spec.PassPeriod("period", cmp.Or(r.Period, "0s"))
	if err != nil {
		return err
	}
	if err := t.refuseResting("a pass is begun"); err != nil {
		return err
	}
	s, err := t.parsed()
	if err != nil {
		return err
	}
	return engine.OrderRun(ctx, t.shared, s, computation, stream, period)
}

// repartitionPoll is how often it is looked whether partitions were replaced.
const repartitionPoll = 100 * time.Millisecond

// Repartition asks for another number of partitions, and waits for them.
func (t *manned) Repartition(ctx context.Context, computation string, n int) error {
	if err := t.refuseResting("partitions are replaced"); err != nil {
		return err
	}
	have, err := t.ranges(ctx, computation)
	if err != nil {
		return err
	}
	if n == 0 {
		s, err := t.parsed()
		if err != nil {
			return err
		}
		desired := s.Dynamic.Computation(computation).DesiredPartitionCount
		if desired == nil {
			return fmt.Errorf("the dynamic spec does not say how many partitions computation %s is to have: give a number", computation)
		}
		n = *desired
	} else {
		value := fmt.Sprint(n)
		if _, err := t.SetDynamic(ctx, console.SetRequest{Path: yson.Join("computations", computation, "desired_partition_count"), Value: &value}); err != nil {
			return err
		}
	}
	for ; len(have) != n; have, err = t.ranges(ctx, computation) {
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(repartitionPoll):
		}
	}
	return nil
}

// ranges are the partitions of a computation that can be replaced.
func (t *manned) ranges(ctx context.Context, computation string) ([]store.Partition, error) {
	parts, err := t.shared.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, p := range parts {
		if p.Kind == store.RangePartition && !slices.Contains(known, p.Computation) {
			known = append(known, p.Computation)
		}
	}
	parts = slices.DeleteFunc(parts, func(p store.Partition) bool { return p.Computation != computation || p.Kind != store.RangePartition })
	switch {
	case len(parts) == 0:
		return nil, fmt.Errorf("there is no computation %s whose partitions can be replaced: %s", computation, yson.DidYouMean(computation, known))
	case !slices.ContainsFunc(parts, func(p store.Partition) bool { return p.State != store.Completed }):
		return nil, fmt.Errorf("computation %s has completed: its %d partitions stay", computation, len(parts))
	}
	return parts, nil
}
