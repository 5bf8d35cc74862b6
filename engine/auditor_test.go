package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

// auditor is a computation of visits alone, of two partitions and without an end,
// over ten rows that were written after it had begun.
type auditor struct {
	*Pipeline
	t    *testing.T
	s    store.Store
	got  seen
	done chan error
	sum  *Summary
}

func newAuditor(t *testing.T) *auditor {
	t.Helper()
	a := &auditor{t: t, s: storetest.NewModel(), done: make(chan error, 1)}
	table := newAccounts(t, a.s)
	a.Pipeline = auditing(t, 2, false, visitsOnly(a.got.take))
	go func() {
		var err error
		a.sum, err = a.Run(t.Context(), a.s)
		a.done <- err
	}()
	<-time.After(10 * time.Millisecond)
	for i := range 10 {
		table.put(fmt.Sprintf("k_%03d", i), 1, 1)
	}
	return a
}

// visited waits for so many visits of every key.
func (a *auditor) visited(times int) {
	a.t.Helper()
	for range 600 {
		least, each := times, a.got.each()
		for _, n := range each {
			least = min(least, n)
		}
		if len(each) == 10 && least == times {
			return
		}
		<-time.After(100 * time.Millisecond)
	}
	a.t.Fatalf("after a minute the visits are %v", a.got.each())
}

func TestAuditorsRetireWhenTheyAreFiniteAndNotBefore(t *testing.T) {
	t.Run("FIN-24 visits alone that are not finite never retire", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newAuditor(t)
			a.visited(3)
			parts := a.Status().Partitions
			if len(parts) != 2 {
				t.Errorf("%d partitions", len(parts))
			}
			for _, p := range parts {
				if p.Phase != Working || p.Error != "" {
					t.Errorf("partition %d is %s, error %q", p.ID, p.Phase, p.Error)
				}
			}
			a.Pause()
			if err := <-a.done; err != nil || a.sum.Completed {
				t.Errorf("it ended with %+v, %v", a.sum, err)
			}
		})
	})
	t.Run("FIN-25 made finite while it runs, it completes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newAuditor(t)
			a.visited(1)
			if _, err := a.SetDynamic(t.Context(), "computations.audit.key_visitor_streams.sweep.finite", yson.Boolean(true), 0); err != nil {
				t.Fatal(err)
			}
			if err := <-a.done; err != nil || !a.sum.Completed {
				t.Errorf("it ended with %+v, %v", a.sum, err)
			}
			parts, err := a.s.Partitions(t.Context())
			if err != nil || len(parts) != 2 {
				t.Errorf("%v, %v", parts, err)
			}
			for _, p := range parts {
				if p.State != store.Completed {
					t.Errorf("partition %d is %v", p.ID, p.State)
				}
			}
		})
	})
}
