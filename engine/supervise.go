package engine

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/store"
)

// The back-off between jobs of a partition that fails.
const (
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 10 * time.Second
)

// errTableGone ends a job that had found a table which is not there any more.
var errTableGone = errors.New("a table was replaced or dropped")

// supervise runs one job after the other until the partition is completed, the
// pipeline stops, or an error comes that no restart heals.
func (e *environment) supervise(ctx context.Context, n *node, id store.PartitionID) error {
	b := e.board(id)
	backoff := firstBackoff
	for {
		was := b.read(0)
		ended, err := e.runJob(ctx, n, b, id)
		if is := b.read(0); is.progress() > was.progress() {
			backoff = firstBackoff
		}
		switch {
		case err == nil:
			b.update(func(s *PartitionStatus) { s.Phase, s.Error = e.phase(ended), "" })
			e.wishes.look() // final passes may be over (KV-15)
			e.quiesce()
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, store.ErrRowChanged):
			e.conflicted(b, n, err, backoff)
			if !e.sleep(ctx, backoff) {
				return ctx.Err()
			}
			backoff = min(2*backoff, lastBackoff)
			continue
		case e.member != nil && (errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrConflict)):
			// Another worker has it now, or has replaced it or those that it sends to: the
			// round ends once this one hears of that.
			b.update(func(s *PartitionStatus) { s.Phase = Starting })
			e.log.Info("a partition is another worker's, or was replaced", "computation", n.id, "partition", id, "error", err)
			if !e.sleep(ctx, backoff) {
				return ctx.Err()
			}
			backoff = min(2*backoff, lastBackoff)
			continue
		case errors.Is(err, errTableGone):
			// Somebody has put other rows in its place, or has dropped it: then the next job
			// says so.
			b.update(func(s *PartitionStatus) { s.Phase = Starting })
			e.log.Info("a table was replaced, going over to the new one", "computation", n.id, "partition", id)
			continue
		case hopeless(err):
			b.update(func(s *PartitionStatus) { s.Error = err.Error() })
			return fmt.Errorf("computation %s, partition %d: %w", n.id, id, err)
		}
		b.update(func(s *PartitionStatus) { s.Phase, s.Error, s.Restarts = BackedOff, err.Error(), s.Restarts+1 })
		e.failed(b, n, err, backoff)
		if !e.sleep(ctx, backoff) {
			return ctx.Err()
		}
		backoff = min(2*backoff, lastBackoff)
	}
}

// failed logs that a job starts again. While the store does not answer one line says it
// all, until an epoch is good again.
func (e *environment) failed(b *board, n *node, err error, in time.Duration) {
	log := e.log.With("computation", n.id, "partition", b.part.ID)
	switch {
	case !unanswered(err):
		log.Error("job failed, starting it again", "in", in, "error", err)
	case b.setAway(true):
		log.Error("job failed, starting it again and again until the store answers", "error", err)
	}
}

// conflicted counts an epoch that has to run again, since somebody else has changed a
// row that it writes (KV-22). That is nothing that failed, unless it goes on for as long
// as the pauses between jobs grow. Of many it tells the first, and then ever fewer.
func (e *environment) conflicted(b *board, n *node, err error, backoff time.Duration) {
	count := 0
	b.update(func(s *PartitionStatus) {
		s.Phase, s.Conflicts = Starting, s.Conflicts+1
		if count = s.Conflicts; backoff == lastBackoff {
			s.Error = "no epoch gets through, since others change its rows each time: " + err.Error()
		}
	})
	if bits.OnesCount(uint(count)) == 1 {
		e.log.Info("others have changed a row, the epoch runs again", "computation", n.id, "partition", b.part.ID, "conflicts", count, "reason", err)
	}
}

// hopeless tells the errors that a new job would meet again: damaged data, a
// store that has given up, and input that is wrong in itself.
func hopeless(err error) bool {
	return errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrStopped) || errors.Is(err, connector.ErrMalformed)
}

func (e *environment) phase(o outcome) Phase {
	switch {
	case o == completed:
		return Done
	case e.pausing.Load():
		return Paused
	default:
		return Starting // in the next round
	}
}

func (e *environment) runJob(ctx context.Context, n *node, b *board, id store.PartitionID) (outcome, error) {
	if e.halted() {
		return paused, nil
	}
	if err := e.present(n, &b.part); err != nil {
		return 0, err
	}
	j, err := startJob(ctx, e, n, b, id)
	if errors.Is(err, errCompleted) {
		return completed, nil
	}
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	b.busy = &j.busy
	b.status.Phase = Working
	b.mu.Unlock()
	ended, err := j.run(ctx)
	if errors.Is(err, store.ErrNoTable) {
		err = fmt.Errorf("%w: %w", errTableGone, err)
	}
	j.publish(e.clock.now(), true)
	return ended, errors.Join(err, j.close())
}

// sleep waits unless the pipeline stops meanwhile.
func (e *environment) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-e.halt.Load().done:
		return true
	case <-t.C:
		return true
	}
}
