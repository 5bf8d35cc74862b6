package pgstore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// A synchronous replica has every commit that was answered. The store finds it by
// itself when it takes over, through a URL that names both.
func TestNothingIsLostWhenASynchronousReplicaTakesOver(t *testing.T) {
	first := ownServer(t)
	second, err := pgtest.Follow(first)
	must(t, err)
	closes(t, second)
	url := pgtest.Both(first, second, "test")
	migrateUp(t, url)
	s := open(t, url, pgstore.Options{})
	p := owned(t, s, 1)[0]
	acked, begun, end := 0, make(chan struct{}), make(chan error, 1)
	go func() {
		for n := 1; ; n++ {
			if err := s.Commit(context.Background(), numbered(p, n)); err != nil {
				end <- err
				return
			}
			if acked = n; n == 30 {
				close(begun)
			}
		}
	}()
	<-begun
	must(t, first.Crash())
	if err := <-end; !errors.Is(err, store.ErrUnknownOutcome) && !errors.Is(err, store.ErrUnavailable) {
		t.Fatal(err)
	}
	if _, err := s.RaiseGeneration(t.Context(), p.ID); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("with a server that only follows: %v, want %v", err, store.ErrUnavailable)
	}
	must(t, second.Promote())
	last := whole(t, s, p, acked)
	p = raise(t, s, p.ID).Partition
	must(t, s.Commit(t.Context(), &store.Commit{Partition: p.ID, Generation: p.Generation, Computation: p.Computation, Offset: []byte("after")}))
	t.Logf("%d commits were answered, %d are there", acked, last)
}
