package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// owned makes partitions of "c" that have a generation.
func owned(t *testing.T, s store.Store, n int) []store.Partition {
	t.Helper()
	made := make([]store.Partition, n)
	for i := range made {
		made[i] = store.Partition{Computation: "c", Kind: store.RangePartition, Open: true}
	}
	made, err := s.CreatePartitions(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	for i := range made {
		made[i] = raise(t, s, made[i].ID).Partition
	}
	return made
}

func raise(t *testing.T, s store.Store, id store.PartitionID) *store.Job {
	t.Helper()
	job, err := s.RaiseGeneration(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// ownServer is a server of the test's own.
func ownServer(t *testing.T, flags ...string) *pgtest.Server {
	t.Helper()
	s, err := pgtest.Start(flags...)
	must(t, err)
	closes(t, s)
	return s
}

func closes(t *testing.T, s *pgtest.Server) {
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// numbered is the n-th commit of a partition: two states, an inbox row and an
// offset, so that half of it would show.
func numbered(p store.Partition, n int) *store.Commit {
	key := fmt.Sprintf("%d-%06d", p.ID, n)
	return &store.Commit{
		Partition: p.ID, Generation: p.Generation, Computation: p.Computation, Offset: []byte(fmt.Sprint(n)),
		States: []store.StateWrite{{Key: key, Name: "/x", Value: []byte("1")}, {Key: key, Name: "/y", Value: []byte("2")}},
		Produced: []store.InboxRow{{
			InboxKey: store.InboxKey{Target: p.ID, Layout: 1, Producer: p.ID, Generation: p.Generation, Number: uint64(n)}, Count: 1,
		}},
	}
}

// whole wants the commits of a partition from the first to some last one, at least
// the one given, each whole, and returns the last.
func whole(t *testing.T, s store.Store, p store.Partition, least int) int {
	t.Helper()
	rows := map[string]int{}
	a, err := s.ListStates(t.Context(), store.ListRequest{Computation: "c", Lower: fmt.Sprintf("%d-", p.ID), Upper: fmt.Sprintf("%d.", p.ID)})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range a.Keys {
		rows[k.Key] = len(k.Rows)
	}
	last := 0
	for rows[fmt.Sprintf("%d-%06d", p.ID, last+1)] == 2 {
		last++
	}
	inbox, err := s.ReadInbox(t.Context(), store.InboxRequest{Target: p.ID})
	if err != nil {
		t.Fatal(err)
	}
	offset, stored := string(raise(t, s, p.ID).Offset), ""
	if last > 0 {
		stored = fmt.Sprint(last)
	}
	if len(rows) != last || len(inbox.Rows) != last || offset != stored || last < least {
		t.Fatalf("partition %d has %d keys, %d inbox rows, offset %s, and %d whole commits; %d were acknowledged", p.ID, len(rows), len(inbox.Rows), offset, last, least)
	}
	return last
}

func TestCommitsAreWholeOrAbsentAfterTheServerCrashed(t *testing.T) {
	s := ownServer(t)
	url := fresh(t, s)
	for round := range 3 {
		kept := open(t, url, pgstore.Options{})
		parts := owned(t, kept, 3)
		var acked [3]int
		var workers sync.WaitGroup
		begun := make(chan struct{}, len(parts))
		for i, p := range parts {
			workers.Go(func() {
				for n := 1; ; n++ {
					if err := kept.Commit(context.Background(), numbered(p, n)); err != nil {
						if !errors.Is(err, store.ErrUnknownOutcome) && !errors.Is(err, store.ErrUnavailable) {
							t.Errorf("round %d, commit %d: %v", round, n, err)
						}
						return
					}
					if acked[i] = n; n == 20 {
						begun <- struct{}{}
					}
				}
			})
		}
		for range parts {
			<-begun
		}
		if err := s.Crash(); err != nil {
			t.Fatal(err)
		}
		workers.Wait()
		_ = kept.Close()
		if err := s.Begin(); err != nil {
			t.Fatal(err)
		}
		kept = open(t, url, pgstore.Options{})
		for i, p := range parts {
			whole(t, kept, p, acked[i])
		}
		_ = kept.Close()
	}
}

// A store whose server was away works on by itself once it is back.
func TestTheStoreGoesOnWhenItsServerIsBack(t *testing.T) {
	s := ownServer(t)
	kept := open(t, fresh(t, s), pgstore.Options{})
	p := owned(t, kept, 1)[0]
	if err := errors.Join(kept.Commit(t.Context(), numbered(p, 1)), s.Stop()); err != nil {
		t.Fatal(err)
	}
	if _, err := kept.Partitions(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("a read without a server: %v", err)
	}
	if err := kept.Commit(t.Context(), numbered(p, 2)); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("a commit without a server: %v", err)
	}
	if err := s.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := kept.Commit(t.Context(), numbered(p, 2)); err != nil {
		t.Fatalf("a commit when the server is back: %v", err)
	}
	whole(t, kept, p, 2)
}

// heldRow locks a partition's row, as a frozen owner does.
func heldRow(t *testing.T, schema string, id store.PartitionID) (release func()) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, fmt.Sprintf("BEGIN; SELECT FROM %s.partitions WHERE id = %d FOR UPDATE", schema, id)); err != nil {
		t.Fatal(err)
	}
	return func() { letGo(t, conn) }
}

// letGo ends a session's transaction. A connection that is closed instead keeps its
// locks until the server finds that out.
func letGo(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	_, err := conn.Exec(context.Background(), "ROLLBACK")
	must(t, err, conn.Close(context.Background()))
}

// D-1, D-12: who holds a partition's row is waited for, for a while, and disturbs
// no other partition.
func TestALockedPartitionIsWaitedForAndDisturbsNoOther(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	s := open(t, url, pgstore.Options{LockTimeout: 200 * time.Millisecond})
	p := owned(t, s, 2)
	release := heldRow(t, schema, p[0].ID)
	if err := s.Commit(t.Context(), numbered(p[0], 1)); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("a commit under the lock: %v", err)
	}
	if _, err := s.RaiseGeneration(t.Context(), p[0].ID); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("a new generation under the lock: %v", err)
	}
	if err := s.Commit(t.Context(), numbered(p[1], 1)); err != nil {
		t.Fatalf("a commit of the other partition: %v", err)
	}
	release()
	if err := s.Commit(t.Context(), numbered(p[0], 1)); err != nil {
		t.Fatal(err)
	}
	whole(t, s, p[0], 1)
}

// A row of a table that somebody holds is waited for, for 5 seconds unless the URL
// says otherwise, and is unavailable then.
func TestALockedRowOfATableIsUnavailable(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	s := open(t, url+"&rondo_lock_timeout=200ms", pgstore.Options{})
	id, err := s.CreateTable(t.Context(), "//t", "schema")
	must(t, err)
	row := []store.TableWrite{{Table: id, Key: "k", Value: []byte("1")}}
	must(t, s.WriteRows(t.Context(), row))
	other := session(t, schema)
	does(t, other, "BEGIN; UPDATE table_rows SET value = 'theirs'")
	row[0].Value, row[0].Checked, row[0].Was = []byte("2"), true, []byte("1")
	if err := s.WriteRows(t.Context(), row); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("under the lock: %v", err)
	}
	does(t, other, "COMMIT")
	if err := s.WriteRows(t.Context(), row); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("after somebody else has written the row: %v", err)
	}
}
