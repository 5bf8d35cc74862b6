package pgstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// workerOf opens the store for a worker, which tells that it lives.
func workerOf(t *testing.T, url, id string, lease time.Duration) (*pgstore.Store, *store.View) {
	t.Helper()
	s := open(t, url, pgstore.Options{Worker: id})
	return s, beat(t, s, id, lease)
}

func beat(t *testing.T, s *pgstore.Store, id string, lease time.Duration) *store.View {
	t.Helper()
	v, err := s.Beat(t.Context(), &store.Beat{Worker: store.Worker{ID: id, Group: "g", Build: "b", Info: []byte(id)}, Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func assign(t *testing.T, s *pgstore.Store, term uint64, id store.PartitionID, from, to string) {
	t.Helper()
	if err := s.Assign(t.Context(), term, []store.Move{{Partition: id, From: from, To: to}}); err != nil {
		t.Fatal(err)
	}
}

// TestTheLeaseHasOneHolderAndTermsGrow: nobody takes it while it holds; once it has
// ended the next one does, with another term, and what the former controller
// decides is refused (D-5).
func TestTheLeaseHasOneHolderAndTermsGrow(t *testing.T) {
	url := fresh(t, server)
	a, first := workerOf(t, url, "a", time.Minute)
	b, second := workerOf(t, url, "b", time.Minute)
	if first.Lease != (store.Lease{Holder: "a", Term: 1}) || second.Lease != first.Lease {
		t.Fatalf("the lease is %+v, then %+v", first.Lease, second.Lease)
	}
	if ws := beat(t, a, "a", time.Minute).Workers; len(ws) != 2 || ws[0].ID != "a" || ws[1].Group != "g" || string(ws[1].Info) != "b" || second.Workers != nil {
		t.Errorf("workers: the controller hears of %+v, the other of %+v", ws, second.Workers)
	}
	p := made(t, a, 1)[0]
	if err := a.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	third := beat(t, b, "b", time.Minute)
	if third.Lease != (store.Lease{Holder: "b", Term: 2}) || third.Worker("a") != nil {
		t.Errorf("after the first has left: %+v, workers %+v", third.Lease, third.Workers)
	}
	if err := a.Assign(t.Context(), 1, []store.Move{{Partition: p.ID, To: "a"}}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a controller of a former term assigns: %v", err)
	}
	if err := a.Bury(t.Context(), 1, []string{"b"}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a controller of a former term declares a worker dead: %v", err)
	}
	// A lease that has ended is nobody's, though its term is still the last one.
	beat(t, b, "b", time.Microsecond)
	if err := b.Assign(t.Context(), 2, []store.Move{{Partition: p.ID, To: "b"}}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a controller whose lease has ended assigns: %v", err)
	}
}

// made makes partitions that nobody owns.
func made(t *testing.T, s store.Store, n int) []store.Partition {
	t.Helper()
	out := make([]store.Partition, n)
	for i := range out {
		out[i] = store.Partition{Computation: "c", Kind: store.RangePartition, Open: true}
	}
	out, err := s.CreatePartitions(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAPartitionThatMovedIsLostToItsFormerOwner: it commits nothing more, and gets
// no generation, but for the new owner.
func TestAPartitionThatMovedIsLostToItsFormerOwner(t *testing.T) {
	url := fresh(t, server)
	a, view := workerOf(t, url, "a", time.Minute)
	b, _ := workerOf(t, url, "b", 0)
	p := made(t, a, 1)[0]
	if _, err := a.RaiseGeneration(t.Context(), p.ID); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a partition that is assigned to nobody starts: %v", err)
	}
	assign(t, a, view.Lease.Term, p.ID, "", "a")
	mine := raise(t, a, p.ID).Partition
	if err := a.Commit(t.Context(), numbered(mine, 1)); err != nil {
		t.Fatal(err)
	}
	before := beat(t, a, "a", time.Minute).Assignment
	assign(t, a, view.Lease.Term, p.ID, "a", "b")
	if after := beat(t, a, "a", time.Minute).Assignment; after == before {
		t.Error("nobody sees that a partition has moved")
	}
	if err := a.Commit(t.Context(), numbered(mine, 2)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the former owner commits: %v", err)
	}
	if _, err := a.RaiseGeneration(t.Context(), p.ID); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the former owner takes the partition back: %v", err)
	}
	if got := raise(t, b, p.ID).Partition; got.Worker != "b" || got.Generation <= mine.Generation {
		t.Errorf("the new owner has %+v after %+v", got, mine)
	}
}

// TestMovesHappenAllOrNone: one of them is based on what is no longer true.
func TestMovesHappenAllOrNone(t *testing.T) {
	url := fresh(t, server)
	a, view := workerOf(t, url, "a", time.Minute)
	ps := made(t, a, 3)
	assign(t, a, view.Lease.Term, ps[2].ID, "", "b")
	for name, last := range map[string]store.Move{
		"another owner":  {Partition: ps[2].ID, From: "", To: "a"},
		"no such one":    {Partition: 999, From: "", To: "a"},
		"a wrong former": {Partition: ps[1].ID, From: "x", To: "a"},
	} {
		err := a.Assign(t.Context(), view.Lease.Term, []store.Move{last, {Partition: ps[0].ID, To: "a"}})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all, err := a.Partitions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(all, func(p store.Partition) bool { return p.Worker == "a" }); i >= 0 {
		t.Errorf("partition %d has moved with others that could not", all[i].ID)
	}
}

// TestABuriedWorkerHoldsNothing: it is frozen in the middle of a transaction that
// holds a partition's row. Its session ends, its partitions are free, and it is
// fenced when it wakes (D-4).
func TestABuriedWorkerHoldsNothing(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	a, view := workerOf(t, url, "a", time.Minute)
	b, _ := workerOf(t, url, "b", 0)
	p := made(t, a, 1)[0]
	assign(t, a, view.Lease.Term, p.ID, "", "b")
	mine := raise(t, b, p.ID).Partition
	frozen := session(t, schema)
	does(t, frozen, "SET application_name TO 'rondo worker b'")
	does(t, frozen, "BEGIN")
	does(t, frozen, fmt.Sprintf("SELECT 1 FROM partitions WHERE id = %d FOR UPDATE", p.ID))
	if err := a.Bury(t.Context(), view.Lease.Term, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := frozen.Exec(t.Context(), `COMMIT`); err == nil {
		t.Error("the session of the dead worker goes on")
	}
	if v := beat(t, a, "a", time.Minute); v.Worker("b") != nil {
		t.Errorf("the dead worker is listed: %+v", v.Workers)
	}
	// Its store connects anew; what it had in hand is refused.
	for {
		err := b.Commit(t.Context(), numbered(mine, 1))
		if errors.Is(err, store.ErrFenced) {
			break
		}
		if err == nil {
			t.Fatal("the dead worker commits")
		}
	}
	assign(t, a, view.Lease.Term, p.ID, "", "a")
	raise(t, a, p.ID)
}

// TestAProcessThatWantsAStoreForItselfIsToldOfItsWorkers.
func TestAProcessThatWantsAStoreForItselfIsToldOfItsWorkers(t *testing.T) {
	url := fresh(t, server)
	workerOf(t, url, "a", time.Minute)
	_, err := pgstore.Open(t.Context(), url, pgstore.Options{})
	if !errors.Is(err, store.ErrLocked) {
		t.Errorf("the store of a cluster is opened by one process: %v", err)
	}
}

// TestAFormerControllerReplacesNoPartitions: its term is over, whatever it believes
// (D-5).
func TestAFormerControllerReplacesNoPartitions(t *testing.T) {
	url := fresh(t, server)
	a, first := workerOf(t, url, "a", time.Minute)
	p := made(t, a, 1)[0]
	replace := func(term uint64) error {
		_, err := a.Relayout(t.Context(), store.Relayout{
			Computation: "c", Term: term, Replaced: []store.PartitionID{p.ID},
			Plan: func(*store.Former) ([]store.Successor, error) {
				return []store.Successor{{Partition: store.Partition{Computation: "c", Kind: store.RangePartition, Open: true}}}, nil
			},
		})
		return err
	}
	if err := a.Leave(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	b, second := workerOf(t, url, "b", time.Minute)
	for _, term := range []uint64{0, first.Lease.Term} {
		if err := replace(term); !errors.Is(err, store.ErrFenced) {
			t.Errorf("with term %d, and the lease has %d: %v", term, second.Lease.Term, err)
		}
	}
	if now, err := b.Partitions(t.Context()); err != nil || len(now) != 1 || now[0].ID != p.ID {
		t.Errorf("the partitions are %+v, %v", now, err)
	}
	if err := replace(second.Lease.Term); err != nil {
		t.Error(err)
	}
}
