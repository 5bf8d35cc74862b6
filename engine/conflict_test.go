package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/schema"
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
		return fmt.Errorf("row 1: %w", store.ErrRowChanged)
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

// meddler is an outside writer who comes between the read of a row and the commit of
// an epoch that writes it, as often as left says.
type meddler struct {
	store.Store
	table *accounts
	mu    sync.Mutex
	left  int
	value int64
}

func (m *meddler) Commit(ctx context.Context, c *store.Commit) error {
	if len(c.Rows) > 0 {
		m.meddle(ctx, c.Rows[0].Key)
	}
	return m.Store.Commit(ctx, c)
}

func (m *meddler) meddle(ctx context.Context, encoded string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left == 0 {
		return
	}
	m.left--
	m.value++
	key, err := schema.DecodeKey(encoded)
	if err != nil {
		panic(err) // the engine wrote it
	}
	_, value, err := m.table.form.Encode(schema.Row{{}, key[1], schema.Int64(0), schema.Int64(m.value)})
	if err == nil {
		err = m.Store.WriteRows(ctx, []store.TableWrite{{Table: m.table.id, Key: encoded, Value: value}})
	}
	if err != nil {
		panic(err) // of a model store, which has no faults
	}
}

// What others change makes an epoch run again, which is counted as a conflict and is
// no failure (KV-22), until nothing gets through any more: then it is told.
func TestWhatOthersChangeIsAConflictAndNoFailure(t *testing.T) {
	for _, c := range []struct {
		name  string
		left  int
		stuck bool
	}{{"a few times", 3, false}, {"for ever", 1 << 30, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 20, 1).external()
				r.partitions = 1
				model := storetest.NewModel()
				m := &meddler{Store: model, table: newAccounts(t, model), left: c.left}
				p := r.start(m)
				<-time.After(time.Minute)
				conflicts, failed := 0, ""
				for _, part := range p.Status().Partitions {
					if part.Restarts > 0 {
						t.Errorf("%s failed %d times", part.Computation, part.Restarts)
					}
					conflicts += part.Conflicts
					failed += part.Error
				}
				if stuck := strings.Contains(failed, "others change its rows each time"); stuck != c.stuck {
					t.Errorf("the error is %q", failed)
				}
				if conflicts < 3 || !c.stuck && conflicts > 3 {
					t.Errorf("%d conflicts", conflicts)
				}
				m.mu.Lock()
				m.left = 0
				m.mu.Unlock()
				close(r.gate)
				p.must(<-p.done)
				if bad := p.Problems(); len(bad) > 0 {
					t.Errorf("in the end: %v", bad)
				}
			})
		})
	}
}
