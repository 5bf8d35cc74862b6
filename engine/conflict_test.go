package engine

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// contested is a store in which every fourth commit of a computation meets a row that
// others have written since (KV-22).
type contested struct {
	store.Store
	computation string

	mu      sync.Mutex
	commits int
}

func (s *contested) Commit(ctx context.Context, c *store.Commit) error {
	if s.lost(c) {
		return fmt.Errorf("row 1 has changed since it was read: %w", store.ErrConflict)
	}
	return s.Store.Commit(ctx, c)
}

func (s *contested) lost(c *store.Commit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Computation != s.computation || len(c.States) == 0 {
		return false
	}
	s.commits++
	return s.commits%4 == 0
}

// TestConflictsNowAndThenCostAWorkerLittle: an epoch whose rows others have written runs
// again, however often that was so before, as long as others go well between.
func TestConflictsNowAndThenCostAWorkerLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 300, 20)
		r.partitions, r.shared, r.dynamic = 1, true, "max_rows_per_batch = 4;"
		c := &crew{Store: &contested{Store: storetest.NewModel(), computation: "counter"}, owner: func(*store.Partition) string { return "a" }}
		began := time.Now()
		a, _ := c.run(t, r.pipeline, nil)
		if took := time.Since(began); a == nil || !a.Completed || took > 30*time.Second {
			t.Errorf("%+v after %s", a, took)
		}
		if n := c.Store.(*contested).commits; n < 80 {
			t.Errorf("only %d commits, a quarter of them in vain", n)
		}
		r.check()
	})
}
