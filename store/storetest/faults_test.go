package storetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// faulty is a model store with one owned partition, seen through faults that a
// test decides on.
type faulty struct {
	*storetest.Faults
	model *storetest.Model
	part  store.Partition
	// next is what happens to the call of an operation; used once.
	next map[storetest.Op]storetest.Fault
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	f := &faulty{model: storetest.NewModel(), next: map[storetest.Op]storetest.Fault{}}
	f.Faults = storetest.NewFaults(f.model, func(c storetest.Call) storetest.Fault {
		fault := f.next[c.Op]
		delete(f.next, c.Op)
		return fault
	})
	made, err := f.CreatePartitions(t.Context(), []store.Partition{{Computation: "c", Kind: store.RangePartition, Open: true}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := f.RaiseGeneration(t.Context(), made[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	f.part = job.Partition
	return f
}

func (f *faulty) set(ctx context.Context, key string) error {
	return f.Commit(ctx, &store.Commit{
		Partition: f.part.ID, Generation: f.part.Generation, Computation: "c",
		States: []store.StateWrite{{Key: key, Name: "/x", Value: []byte("1")}},
	})
}

// stored lists the keys that really are in the store.
func (f *faulty) stored(t *testing.T) (keys string) {
	t.Helper()
	a, err := f.model.ListStates(t.Context(), store.ListRequest{Computation: "c"})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range a.Keys {
		keys += k.Key
	}
	return keys
}

func TestAFaultDecidesWhatACommitDoesAndSays(t *testing.T) {
	cases := []struct {
		name   string
		fault  storetest.Fault
		class  error
		stored string
	}{
		{"no fault", storetest.Fault{}, nil, "ab"},
		{"unavailable", storetest.Unavailable(), store.ErrUnavailable, "b"},
		{"disk full", storetest.DiskFull(), store.ErrUnavailable, "b"},
		{"fenced", storetest.Fails(store.ErrFenced), store.ErrFenced, "b"},
		{"lost and applied", storetest.Lost(true), store.ErrUnknownOutcome, "ab"},
		{"lost and not applied", storetest.Lost(false), store.ErrUnknownOutcome, "b"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			f := newFaulty(t)
			f.next[storetest.OpCommit] = tc.fault
			if err := f.set(t.Context(), "a"); !errors.Is(err, tc.class) {
				t.Fatalf("commit: %v, want %v", err, tc.class)
			}
			if err := f.set(t.Context(), "b"); err != nil {
				t.Fatalf("the commit after it: %v", err)
			}
			if got := f.stored(t); got != tc.stored {
				t.Fatalf("stored %q, want %q", got, tc.stored)
			}
		})
	}
}

func TestDecideIsToldTheCallAndItsNumber(t *testing.T) {
	var calls []storetest.Call
	f := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
		calls = append(calls, c)
		return storetest.Fault{}
	})
	c := &store.Commit{Partition: 7, Computation: "c"}
	_ = f.Commit(t.Context(), c)
	_, _ = f.ListStates(t.Context(), store.ListRequest{Computation: "c", Lower: "k"})
	_ = f.Commit(t.Context(), c)
	if len(calls) != 3 || calls[0].Commit != c || calls[0].Partition != 7 || calls[1].List.Lower != "k" || calls[1].Number != 1 || calls[2].Number != 2 {
		t.Fatalf("told of %+v", calls)
	}
}

func TestAHeldCallIsMadeWhenReleasedAndALateAnswerIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(t)
		held, late := make(chan struct{}), make(chan struct{})
		list := func(fault storetest.Fault, keys *int) {
			f.next[storetest.OpListStates] = fault
			go func() {
				a, err := f.ListStates(t.Context(), store.ListRequest{Computation: "c"})
				if err != nil {
					t.Error(err)
					return
				}
				*keys = len(a.Keys)
			}()
			synctest.Wait()
		}
		before, after := -1, -1
		list(storetest.Late(late), &before)
		list(storetest.Held(held), &after)
		if err := f.set(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if before != -1 || after != -1 {
			t.Fatalf("answered before the release: %d, %d", before, after)
		}
		close(late)
		close(held)
		synctest.Wait()
		if before != 0 || after != 1 {
			t.Fatalf("the late answer has %d keys, the held call %d", before, after)
		}
	})
}

func TestAWaitThatEndsWithItsContextSaysWhetherTheCommitWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(t)
		never := make(chan struct{})
		commit := func(key string, fault storetest.Fault) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			f.next[storetest.OpCommit] = fault
			return f.set(ctx, key)
		}
		held, late := commit("a", storetest.Held(never)), commit("b", storetest.Late(never))
		if !errors.Is(held, store.ErrUnavailable) || !errors.Is(late, store.ErrUnknownOutcome) || f.stored(t) != "b" {
			t.Fatalf("held %v, late %v, stored %q", held, late, f.stored(t))
		}
	})
}

func TestAKilledUserChangesNothingAndTheStoreLivesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaulty(t)
		f.next[storetest.OpCommit] = storetest.Held(make(chan struct{}))
		var held error
		go func() { held = f.set(t.Context(), "a") }()
		synctest.Wait()
		f.Kill()
		f.Kill()
		synctest.Wait()
		later := f.set(t.Context(), "b")
		if !errors.Is(held, store.ErrUnavailable) || !errors.Is(later, store.ErrUnavailable) {
			t.Fatalf("held commit: %v, later commit: %v", held, later)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		next := storetest.NewFaults(f.model, nil)
		if _, err := next.RaiseGeneration(t.Context(), f.part.ID); err != nil {
			t.Fatalf("the next incarnation: %v", err)
		}
		if got := f.stored(t); got != "" {
			t.Fatalf("stored %q", got)
		}
	})
}
