package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// OrderRun is RunNow of a pipeline that other processes run: it stores the command,
// which they follow. sp is the stored spec.
func OrderRun(ctx context.Context, s store.Catalog, sp *spec.Spec, computation, stream string, period time.Duration) error {
	if err := (visit.Run{Period: period}).Validate(); err != nil {
		return err
	}
	if !sp.Dynamic.Computation(computation).VisitStream(stream).Enabled {
		return fmt.Errorf("visit stream %s is disabled: enable it first (computations.%s.key_visitor_streams.%s.enabled)", stream, computation, stream)
	}
	for {
		stored, err := s.Pipeline(ctx)
		if err != nil {
			return fmt.Errorf("read the stored pipeline: %w", err)
		}
		if err := refuseOrder(ctx, s, sp, stored, computation, stream); err != nil {
			return err
		}
		next := stored.Clone()
		next.Runs = slices.DeleteFunc(next.Runs, func(r store.Run) bool { return r.Computation == computation && r.Stream == stream })
		next.Runs = append(next.Runs, store.Run{Computation: computation, Stream: stream, ID: next.Version + 1, Period: int64(period)})
		if err := s.SavePipeline(ctx, next); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// refuseOrder says why a pass cannot be ordered now.
func refuseOrder(ctx context.Context, s store.Catalog, sp *spec.Spec, stored *store.Pipeline, computation, stream string) error {
	all, err := StoredVisitStreams(ctx, s, sp)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(v StoredVisitStream) bool { return v.Computation == computation && v.Stream == stream })
	if i < 0 {
		return fmt.Errorf("computation %s has no visit stream %s", computation, stream)
	}
	if err := all[i].RefuseRunNow(); err != nil {
		return err
	}
	for _, r := range stored.Runs {
		if r.Computation == computation && r.Stream == stream && r.ID > all[i].Run.ID {
			return fmt.Errorf("visit stream %s has a run-now already that not every partition has begun: wait until it is over", stream)
		}
	}
	return nil
}
