package pgstore_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// tap passes on what is logged.
type tap struct {
	slog.Handler
	said chan slog.Record
}

func (t tap) Enabled(context.Context, slog.Level) bool { return true }

func (t tap) Handle(_ context.Context, r slog.Record) error {
	t.said <- r
	return nil
}

// next waits for what is logged next.
func (t tap) next(tb *testing.T) slog.Record {
	tb.Helper()
	select {
	case r := <-t.said:
		return r
	case <-time.After(2 * time.Minute): // it is a hang
		tb.Fatal("nothing is logged")
		return slog.Record{}
	}
}

// wear moves rows through an inbox, of which some stay.
func wear(t *testing.T, s *pgstore.Store, p store.Partition, stay, pass int) {
	t.Helper()
	made := &store.Commit{Partition: p.ID, Generation: p.Generation, Computation: p.Computation}
	taken := *made
	for n := 1; n <= stay+pass; n++ {
		key := store.InboxKey{Target: p.ID, Layout: 1, Producer: p.ID, Generation: p.Generation, Number: uint64(n)}
		made.Produced = append(made.Produced, store.InboxRow{InboxKey: key, Count: 1, Payload: make([]byte, 100)})
		if n <= pass {
			taken.Taken = append(taken.Taken, store.InboxTake{Key: key, To: 1, Remove: true})
		}
	}
	for _, c := range []*store.Commit{made, &taken} {
		if err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// The vacuum of a large inbox takes longer than any call may, and is made to take so
// long here. It is no call.
func TestTheInboxIsVacuumedForAsLongAsThatTakes(t *testing.T) {
	t.Parallel() // it only waits
	const slow, call = "&vacuum_cost_delay=100&vacuum_cost_limit=5", 3 * time.Second
	log := tap{slog.DiscardHandler, make(chan slog.Record, 100)}
	s := open(t, fresh(t, server)+slow, pgstore.Options{CallTimeout: call, Logger: slog.New(log)})
	wear(t, s, owned(t, s, 1)[0], 100, 2100)
	began := time.Now()
	if said, took := log.next(t), time.Since(began); said.Level > slog.LevelDebug || took < call {
		t.Fatalf("%q after %s, which is to be longer than a call, %s", said.Message, took, call)
	}
}

// To clean costs as much as what stays is worth, so that it waits for a share of
// that to go.
func TestAFullInboxIsVacuumedLessOften(t *testing.T) {
	log := tap{slog.DiscardHandler, make(chan slog.Record, 100)}
	s := open(t, fresh(t, server), pgstore.Options{Logger: slog.New(log)})
	parts := owned(t, s, 3)
	wear(t, s, parts[0], 20_000, 2100)
	log.next(t) // it has been, and has seen what stays
	wear(t, s, parts[1], 0, 2100)
	wear(t, s, parts[2], 0, 2100)
	said, removed := log.next(t), int64(0)
	said.Attrs(func(a slog.Attr) bool {
		if a.Key == "removed" {
			removed = a.Value.Int64()
		}
		return true
	})
	if removed < 4200 {
		t.Fatalf("%q after %d rows were removed, when 20000 stay", said.Message, removed)
	}
}
