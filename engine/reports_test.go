package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/rondo-flow/rondo/store"
)

// slowReports answers with the number of the read, when it is let go.
type slowReports struct {
	store.Store
	reads uint64
	free  chan error
}

func (s *slowReports) Reports(context.Context) ([]store.Report, error) {
	s.reads++
	report := store.Report{Computation: "reader", LastRows: []store.LastRow{{Number: s.reads}}}
	return []store.Report{report, {Computation: "other"}}, <-s.free
}

// TestJobsShareReadsThatBeganAfterTheyAsked: what was committed before a job
// asked must be in what it reads, so it cannot take part in a read under way.
func TestJobsShareReadsThatBeganAfterTheyAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowReports{free: make(chan error)}
		r := newReportReads()
		n := &node{inputs: []inputPlan{{stream: "a", producer: "reader"}, {stream: "b", producer: "reader"}}}
		numbers, failed := make(chan uint64, 10), make(chan error, 10)
		ask := func(ctx context.Context) {
			go func() {
				reports, err := r.of(ctx, s, n)
				if err != nil {
					failed <- err
					return
				}
				if len(reports) != 1 {
					t.Errorf("reports %+v, want those of the producer once", reports)
				}
				numbers <- reports[0].LastRows[0].Number
			}()
			synctest.Wait()
		}
		ask(t.Context())
		ask(t.Context())
		ask(t.Context())
		s.free <- nil
		s.free <- nil
		got := []uint64{<-numbers, <-numbers, <-numbers}
		if slices.Sort(got); !slices.Equal(got, []uint64{1, 2, 2}) {
			t.Errorf("the jobs took the reads %v, want one of its own for the first, and one for the others", got)
		}

		// A read that fails is everybody's who shares it; the next is another.
		broken := errors.New("broken")
		ask(t.Context())
		s.free <- broken
		if err := <-failed; !errors.Is(err, broken) {
			t.Errorf("error %v", err)
		}
		ask(t.Context())
		stopped, stop := context.WithCancel(t.Context())
		ask(stopped) // has to do the next read, and does not
		ask(stopped)
		stop()
		if err := errors.Join(<-failed, <-failed); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		s.free <- nil
		if got := <-numbers; got != 4 {
			t.Errorf("read %d, want 4", got)
		}
		if reports, err := r.of(t.Context(), s, &node{}); reports != nil || err != nil || s.reads != 4 {
			t.Errorf("a job without inputs reads %v, %v", reports, err)
		}
	})
}
