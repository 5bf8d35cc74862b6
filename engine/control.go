package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
	"github.com/rondo-flow/rondo/yson"
)

// Why a running pipeline cannot be told something.
var (
	// ErrNotRunning: Run has not begun, or has ended.
	ErrNotRunning = errors.New("the pipeline does not run")
	// ErrVersion: the stored spec has another version than the one given.
	ErrVersion = errors.New("the spec has changed since it was read")
	// errEnded: it was asked for, and the pipeline ended before.
	errEnded = errors.New("the pipeline stopped before that: the next start does it, if the dynamic spec asks for it")
)

// SpecInForce is the spec that a running pipeline goes by, as stored.
type SpecInForce struct {
	Name string
	// Static and Dynamic are the trees as given, without defaults.
	Static, Dynamic *yson.Node
	// Version counts the changes of what is stored.
	Version uint64
}

// SpecInForce returns the spec that is in force: as stored, or as jobs go by it while
// the store does not answer, which is when one looks. Errors: ErrNotRunning, and those
// of the store.
func (p *Pipeline) SpecInForce(ctx context.Context) (*SpecInForce, error) {
	env, err := p.running()
	if err != nil {
		return nil, err
	}
	_, o, err := p.read(ctx, env)
	if errors.Is(err, store.ErrUnavailable) {
		o, err = env.orders.Load(), nil
	}
	if err != nil {
		return nil, err
	}
	static, err := yson.Parse([]byte(o.spec.StaticText), yson.YSON)
	if err != nil {
		return nil, fmt.Errorf("the stored static spec: %w", err)
	}
	dynamic, err := yson.Parse([]byte(o.spec.DynamicText), yson.YSON)
	if err != nil {
		return nil, fmt.Errorf("the stored dynamic spec: %w", err)
	}
	return &SpecInForce{Name: p.opts.Spec.Name, Static: static, Dynamic: dynamic, Version: o.version}, nil
}

// SetDynamic changes one parameter of a running pipeline's dynamic spec, such as
// computations.routes.key_visitor_streams.sweep.period (see spec.Set for the
// notation); a nil value takes the setting away, so that the default holds. It
// returns the new version when the change is stored. Partitions follow at their
// next epoch bound, waiting ones at once, and it holds over restarts until the
// file's dynamic spec changes.
//
// Errors, after which the old value stays: a yson.Problems with path and range
// (KV-50); ErrVersion if version is neither 0 nor the stored one; ErrNotRunning;
// those of the store.
func (p *Pipeline) SetDynamic(ctx context.Context, path string, value *yson.Node, version uint64) (uint64, error) {
	return p.amend(ctx, version, func(next *store.Pipeline, now *orders) error {
		changed, err := now.spec.With(path, value)
		if err != nil {
			return err
		}
		if err := (&orders{spec: changed}).check(p.plan, now); err != nil {
			return err
		}
		for _, note := range changed.Notes {
			if !slices.Contains(now.spec.Notes, note) {
				p.log.Warn(note)
			}
		}
		next.Dynamic = changed.DynamicText
		return nil
	})
}

// RunNow makes all partitions run one pass of a visit stream at once, of the given
// length or, for 0, as fast as visit_share allows; the coverage of the running
// pass is dropped (KV-49). The command is stored when it returns, and is carried
// out whatever restarts in between. It is refused during such a pass and during a
// final one, for a stream that is disabled or unknown, and while the pipeline pauses
// or stops. Errors: those, ErrNotRunning,
// and those of the store.
func (p *Pipeline) RunNow(ctx context.Context, computation, stream string, period time.Duration) error {
	if err := (visit.Run{Period: period}).Validate(); err != nil {
		return err
	}
	n, i, err := p.plan.visitStream(computation, stream)
	if err != nil {
		return err
	}
	_, err = p.amend(ctx, 0, func(next *store.Pipeline, now *orders) error {
		if err := p.env.refuseRunNow(n, i, now); err != nil {
			return err
		}
		next.Runs = slices.DeleteFunc(next.Runs, func(r store.Run) bool { return r.Computation == computation && r.Stream == stream })
		next.Runs = append(next.Runs, store.Run{Computation: computation, Stream: stream, ID: next.Version + 1, Period: int64(period)})
		return nil
	})
	return err
}

// refuseRunNow says why a run-now command cannot be given now.
func (e *environment) refuseRunNow(n *node, i int, now *orders) error {
	if err := e.working("a pass is begun"); err != nil {
		return err
	}
	stream := n.visitors[i].stream
	if !now.of(n).VisitStream(stream).Enabled {
		return fmt.Errorf("visit stream %s is disabled: enable it first (computations.%s.key_visitor_streams.%s.enabled)", stream, n.id, stream)
	}
	v, _ := e.visitStream(n, i)
	if len(v.Parts) == 0 {
		return fmt.Errorf("visit stream %s: its partitions are starting, try again in a moment", stream)
	}
	if err := v.RefuseRunNow(); err != nil {
		return err
	}
	if r := now.run(n, stream); r.ID > v.Run.ID {
		return fmt.Errorf("visit stream %s has a run-now already that not every partition has begun: wait until it is over", stream)
	}
	return nil
}

// visitStream finds a visit stream by its names.
func (p *plan) visitStream(computation, stream string) (n *node, index int, err error) {
	var known []string
	for _, n := range p.nodes {
		for i, v := range n.visitors {
			if n.id == computation && v.stream == stream {
				return n, i, nil
			}
			known = append(known, n.id+" "+v.stream)
		}
	}
	if len(known) == 0 {
		return nil, 0, errors.New("the pipeline has no visit streams")
	}
	return nil, 0, fmt.Errorf("computation %s has no visit stream %s: there are %s", computation, stream, strings.Join(known, ", "))
}

func (p *Pipeline) running() (*environment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.env == nil || p.env.over.Load() {
		return nil, ErrNotRunning
	}
	return p.env, nil
}

// read reads what is stored, and puts it in force if a former call could not.
func (p *Pipeline) read(ctx context.Context, env *environment) (*store.Pipeline, *orders, error) {
	stored, err := env.store.Pipeline(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the stored pipeline: %w", err)
	}
	o, err := p.follow(env, stored)
	return stored, o, err
}

// follow puts what is stored in force.
func (p *Pipeline) follow(env *environment, stored *store.Pipeline) (*orders, error) {
	o, err := newOrders(stored, p.opts.Spec.Path)
	if err != nil {
		return nil, err
	}
	env.obey(o, p.plan)
	return o, nil
}

// amend changes what is stored of the pipeline and puts it in force. If somebody
// else was faster, it is decided again on what is stored then, unless a version
// was asked for.
func (p *Pipeline) amend(ctx context.Context, version uint64, change func(next *store.Pipeline, now *orders) error) (uint64, error) {
	env, err := p.running()
	if err != nil {
		return 0, err
	}
	for {
		stored, now, err := p.read(ctx, env)
		if err != nil {
			return 0, err
		}
		if version != 0 && version != stored.Version {
			return 0, fmt.Errorf("%w: it has version %d, not %d; read it again", ErrVersion, stored.Version, version)
		}
		next := stored.Clone()
		if err := change(next, now); err != nil {
			return 0, err
		}
		if next.Equal(stored) {
			return stored.Version, nil
		}
		next.Runs = slices.DeleteFunc(next.Runs, func(r store.Run) bool { return r.ID <= stored.Version && env.carriedOut(p.plan, r) })
		switch err := env.save(ctx, next); {
		case errors.Is(err, store.ErrConflict):
		case err != nil:
			return 0, err
		default:
			_, err := p.follow(env, next)
			return next.Version, err
		}
	}
}

// carriedOut tells that a run-now command is over in every partition. It is
// forgotten then, lest partitions that are made later begin with it.
func (e *environment) carriedOut(p *plan, r store.Run) bool {
	n, i, err := p.visitStream(r.Computation, r.Stream)
	if err != nil {
		return true
	}
	v, all := e.visitStream(n, i)
	return all && (v.Empty || v.Run.ID >= r.ID && !v.Running)
}

// save stores the pipeline. If the outcome is lost it finds out: a conflict then
// says that it has to be decided again.
func (e *environment) save(ctx context.Context, next *store.Pipeline) error {
	want := next.Clone()
	want.Version++
	err := e.store.SavePipeline(ctx, next)
	for errors.Is(err, store.ErrUnknownOutcome) {
		stored, readErr := e.store.Pipeline(ctx)
		switch {
		case readErr == nil && stored.Equal(want):
			next.Version = stored.Version
			return nil
		case readErr == nil:
			return store.ErrConflict
		case !e.sleep(ctx, firstBackoff) || e.pausing.Load():
			return fmt.Errorf("it is not known whether the change was stored: read what is in force: %w", err)
		}
	}
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("store the change: %w", err)
	}
	return err
}
