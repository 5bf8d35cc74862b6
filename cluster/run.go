package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// submittedEvery is how often a worker looks for a pipeline, or for a store that does
// not answer.
const submittedEvery = time.Second

// Run is a worker's life: it waits for a pipeline that is submitted to the store, and
// has work take part in it, which prepares it and calls Member.Work. It does so again
// with a spec that was submitted meanwhile, and after outages of the store. It ends
// with the pipeline, with an error that trying again does not heal, or once told is
// done; then the summary may be nil.
func Run(told context.Context, s Store, o Options, work func(context.Context, *spec.Spec, *Member) (*engine.Summary, error)) (*engine.Summary, error) {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	away := false // and the log has it
	for {
		sum, err := turn(told, s, o, func(ctx context.Context, p *spec.Spec, m *Member) (*engine.Summary, error) {
			if away {
				o.Log.Info("the store answers again")
			}
			away = false
			return work(ctx, p, m)
		})
		switch {
		case errors.Is(err, engine.ErrSpecChanged):
			o.Log.Info("another spec was submitted, starting again with it")
		case outlives(err) && told.Err() == nil:
			if !away {
				o.Log.Warn("the store does not answer, trying again and again", "every", submittedEvery, "error", err)
			}
			away = true
			pause(told)
		default:
			return sum, err
		}
	}
}

func turn(told context.Context, s Store, o Options, work func(context.Context, *spec.Spec, *Member) (*engine.Summary, error)) (*engine.Summary, error) {
	pipeline, err := submitted(told, s, o.Log)
	if pipeline == nil {
		return nil, err
	}
	m, err := New(told, s, o)
	if err != nil {
		return nil, err
	}
	return work(told, pipeline, m)
}

// outlives tells errors of a store that may answer again: a worker outlives them.
func outlives(err error) bool {
	return errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrStopped)
}

func pause(told context.Context) {
	select {
	case <-told.Done():
	case <-time.After(submittedEvery):
	}
}

// submitted waits for the pipeline of the store; nil once told is done.
func submitted(told context.Context, s Store, log *slog.Logger) (*spec.Spec, error) {
	for said := false; ; said = true {
		stored, err := s.Pipeline(told)
		switch {
		case told.Err() != nil:
			return nil, nil
		case err != nil:
			return nil, err
		case stored != nil:
			return spec.Stored(stored.Name, "the submitted spec", stored.Static, stored.Dynamic)
		case !said:
			log.Info("no pipeline is submitted to the store, waiting for one: rondo submit FILE")
		}
		pause(told)
	}
}

// Work takes part in a pipeline that was prepared with this member: it joins the
// others, runs what it gets, and leaves at the end, or at the next epoch bound once
// told is done.
func (m *Member) Work(told context.Context, p *engine.Pipeline) (*engine.Summary, error) {
	if groups := p.WorkerGroups(); !slices.Contains(groups, m.o.Group) {
		return nil, fmt.Errorf("no computation of the pipeline has the worker_group %q, so this worker would get nothing: give --group one of %s", m.o.Group, named(groups))
	}
	lacks, err := p.Lacking(told, m.store)
	if err != nil {
		return nil, err
	}
	if err := m.Join(told, lacks); err != nil {
		return nil, err
	}
	defer context.AfterFunc(told, p.Pause)()
	living, die := context.WithCancel(context.WithoutCancel(told))
	var beating sync.WaitGroup
	var left error
	beating.Go(func() { left = m.Live(living, p.WorkerGroup) })
	m.o.Log.Info("joined", "group", m.o.Group)
	sum, err := p.Run(context.WithoutCancel(told), m.store)
	die()
	beating.Wait()
	if left != nil {
		m.o.Log.Warn("left without a word", "error", left)
	}
	return sum, err
}

func named(groups []string) string {
	var out []string
	for _, g := range groups {
		if g == "" {
			out = append(out, "none (leave --group out)")
		} else {
			out = append(out, g)
		}
	}
	return strings.Join(out, ", ")
}
