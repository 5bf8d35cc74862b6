package pebblestore

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
)

// KV-19: what the iterator passes is bounded, not only what is returned.
func TestAListStopsPassingDeletedRowsWhenItsWorkIsDone(t *testing.T) {
	s := reopen(t, vfs.NewMem())
	p := ownedPartition(t, s)
	for _, value := range []string{"1", ""} {
		c := &store.Commit{Partition: p.ID, Generation: p.Generation, Computation: "c"}
		for i := range 5000 {
			c.States = append(c.States, store.StateWrite{Key: fmt.Sprintf("%06d", i), Name: "/x", Value: []byte(value)})
		}
		if err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	prefix, _ := s.computation(kindState, "c")
	l := &lister{request: store.ListRequest{Computation: "c", MaxWork: 100}, prefix: prefix}
	if err := l.list(s.db); err != nil {
		t.Fatal(err)
	}
	if a := l.answer(); l.work != 101 || a.CompleteTo != "000100" || len(a.Keys) != 0 {
		t.Fatalf("passed %d rows, answer %+v", l.work, a)
	}
}

// Rows that are written and removed soon annihilate each other on their way to
// a file, also where older rows lie beside them: no tombstone is left that
// would have to be read over.
func TestConsumedInboxRowsReachNoFile(t *testing.T) {
	fs := vfs.NewMem()
	s := reopen(t, fs)
	p := ownedPartition(t, s)
	row := func(layout, number uint64) store.InboxRow {
		key := store.InboxKey{Target: p.ID, Layout: layout, Producer: p.ID, Generation: p.Generation, Number: number}
		return store.InboxRow{InboxKey: key, Count: 1, Payload: []byte("p")}
	}
	commit := func(c store.Commit) {
		t.Helper()
		c.Partition, c.Generation, c.Computation = p.ID, p.Generation, "c"
		if err := s.Commit(t.Context(), &c); err != nil {
			t.Fatal(err)
		}
	}
	commit(store.Commit{Produced: []store.InboxRow{row(1, 1), row(3, 2)}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, fs) // the two are in a file, one before and one after the others
	for n := uint64(3); n < 1000; n++ {
		r := row(2, n)
		commit(store.Commit{Produced: []store.InboxRow{r}})
		commit(store.Commit{Taken: []store.InboxTake{{Key: r.InboxKey, To: 1, Remove: true}}})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = reopen(t, fs)
	a, err := s.ReadInbox(t.Context(), store.InboxRequest{Target: p.ID})
	if err != nil || len(a.Rows) != 2 {
		t.Fatalf("inbox %+v, %v", a, err)
	}
	if n := s.db.Metrics().Levels[0].TablesFlushed; n != 0 {
		t.Fatalf("opening wrote %d tables of rows that are no more", n)
	}
}

func reopen(t *testing.T, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open("data", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ownedPartition creates a partition of computation "c" and gives it a
// generation.
func ownedPartition(t *testing.T, s *Store) store.Partition {
	t.Helper()
	made, err := s.CreatePartitions(t.Context(), []store.Partition{{Computation: "c", Kind: store.RangePartition, Open: true}})
	if err != nil {
		t.Fatal(err)
	}
	job, err := s.RaiseGeneration(t.Context(), made[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return job.Partition
}
