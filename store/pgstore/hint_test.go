package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

var _ store.Hinter = (*pgstore.Store)(nil)

// hears waits for hints until one says what is wanted.
func hears(t *testing.T, s *pgstore.Store, wanted func(*store.Hint) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var all store.Hint
	for !wanted(&all) {
		h, err := s.NextHint(ctx)
		if err != nil {
			t.Fatalf("after %+v: %v", all, err)
		}
		all.Add(h)
	}
}

func anything(h *store.Hint) bool { return h.All }

// Workers hear of each other's rows and reports, and not of their own.
func TestWorkersTellEachOtherWhatTheyHaveCommitted(t *testing.T) {
	url := fresh(t, server)
	a, view := workerOf(t, url, "a", time.Minute)
	b, _ := workerOf(t, url, "b", 0)
	for _, s := range []*pgstore.Store{a, b} {
		hears(t, s, anything) // it was not there before
	}
	ps := made(t, a, 2)
	for i, name := range []string{"a", "b"} {
		assign(t, a, view.Lease.Term, ps[i].ID, "", name)
	}
	from, to := raise(t, a, ps[0].ID).Partition, raise(t, b, ps[1].ID).Partition
	commit := func(s *pgstore.Store, p store.Partition, target store.PartitionID, n uint64) {
		t.Helper()
		must(t, s.Commit(t.Context(), &store.Commit{
			Partition: p.ID, Generation: p.Generation, Computation: "c",
			Produced: []store.InboxRow{{
				InboxKey: store.InboxKey{Target: target, Layout: 1, Producer: p.ID, Generation: p.Generation, Number: n}, Count: 1,
			}},
			Report: &store.Report{Partition: p.ID, Generation: p.Generation, Computation: "c", Layout: 1},
		}))
	}
	commit(a, from, to.ID, 1)
	hears(t, b, func(h *store.Hint) bool {
		return slices.Equal(h.Targets, []store.PartitionID{to.ID}) && slices.Equal(h.Reporters, []store.PartitionID{from.ID})
	})
	if got, err := b.ReportsOf(t.Context(), []store.PartitionID{from.ID, to.ID}); err != nil || len(got) != 1 || got[0].Partition != from.ID {
		t.Errorf("reports %+v, %v", got, err)
	}
	commit(b, to, 77, 1)
	heard := store.Hint{}
	hears(t, a, func(h *store.Hint) bool { heard = *h; return slices.Contains(h.Targets, 77) })
	if !slices.Equal(heard.Targets, []store.PartitionID{77}) || !slices.Equal(heard.Reporters, []store.PartitionID{to.ID}) {
		t.Errorf("a worker hears of itself: %+v", heard)
	}
}

// Many epochs are a few messages: what waits for its turn is joined.
func TestHintsAreCoalesced(t *testing.T) {
	url := fresh(t, server)
	a, view := workerOf(t, url, "a", time.Minute)
	b, _ := workerOf(t, url, "b", 0)
	hears(t, b, anything)
	p := made(t, a, 1)[0]
	assign(t, a, view.Lease.Term, p.ID, "", "a")
	p = raise(t, a, p.ID).Partition
	const epochs = 200
	heard := make(chan int, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		n := 0
		for all := (store.Hint{}); !slices.Contains(all.Targets, epochs); n++ {
			h, err := b.NextHint(ctx)
			if err != nil {
				break
			}
			all.Add(h)
		}
		heard <- n
	}()
	began := time.Now()
	for n := range epochs {
		must(t, a.Commit(t.Context(), &store.Commit{
			Partition: p.ID, Generation: p.Generation, Computation: "c",
			Produced: []store.InboxRow{{
				InboxKey: store.InboxKey{Target: store.PartitionID(n + 1), Layout: 1, Producer: p.ID, Generation: p.Generation, Number: uint64(n + 1)}, Count: 1,
			}},
		}))
	}
	n := <-heard
	cancel()
	if most := 3 + int(time.Since(began)/(100*time.Millisecond)); n > most {
		t.Errorf("%d epochs are told in %d messages, want at most %d", epochs, n, most)
	}
}

// A worker whose connection breaks hears that it may have missed anything, holds the
// store as before, and hears what comes then.
func TestAWorkerThatWasCutOffHearsThatItMissedSomething(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	net := network(t, server)
	a := open(t, net.URL(schema), pgstore.Options{Worker: "a"})
	hears(t, a, anything)
	must(t, net.Cut())
	hears(t, a, anything)
	if _, err := pgstore.Open(t.Context(), url, pgstore.Options{}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("nobody holds the store: %v", err)
	}
	other := session(t, schema)
	does(t, other, fmt.Sprintf("SELECT pg_notify('rondo %s', 'b 5 6')", schema))
	hears(t, a, func(h *store.Hint) bool { return slices.Equal(h.Targets, []store.PartitionID{5}) })
	does(t, other, fmt.Sprintf("SELECT pg_notify('rondo %s', 'nonsense')", schema))
	hears(t, a, anything)
	must(t, a.Close())
	if _, err := a.NextHint(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a closed store: %v", err)
	}
}
