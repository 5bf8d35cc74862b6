package pgstore_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

var messages = flag.Int("messages", 100_000, "how many messages go through the inbox in the test of the size of tables; a million says most")

const (
	// rowMessages is how many messages a row of the inbox has, and rowBytes its payload.
	rowMessages, rowBytes = 10, 500
	// commitRows is how many rows a commit has, as one to several targets.
	commitRows = 10
	// behind is how many rows the consumer is behind.
	behind = 50
)

// Tables and indexes that rows only pass through do not grow with the number of
// rows: what a tenth of the messages needed, all of them need at most three times.
// For a part of either time an old snapshot is open, as a backup has it. Of a million
// messages a tenth leaves 2.2 MiB of tables and indexes, and all of them 3.7 MiB.
func TestTablesDoNotGrowWithTheMessagesThatPassThroughThem(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	log := tap{slog.DiscardHandler, make(chan slog.Record, 100)}
	s := open(t, url, pgstore.Options{Logger: slog.New(log)})
	l := load{t: t, s: s, parts: owned(t, s, 2), log: log}
	commits := *messages / rowMessages / commitRows
	var tenth int64
	for n := 1; n <= commits; n++ {
		switch n {
		case commits / 20, commits / 2: // an old snapshot for a twentieth of the tenth, and of the whole
			release := oldSnapshot(t)
			for until := n + n/10; n < until; n++ {
				l.pass(n)
			}
			release()
		}
		l.pass(n)
		if n == commits/10 {
			tenth = sizeOf(t, schema)
		}
	}
	whole := sizeOf(t, schema)
	t.Logf("after %d messages the tables and indexes have %d KiB, after %d they have %d KiB: %s",
		*messages/10, tenth>>10, *messages, whole>>10, largest(t, schema))
	if whole > 3*tenth {
		t.Fatalf("%d bytes are more than three times %d", whole, tenth)
	}
}

// load is a producer and a consumer. They wait while the inbox is vacuumed: how many
// rows pass meanwhile says how fast the machine is.
type load struct {
	t       *testing.T
	s       store.Store
	parts   []store.Partition
	number  uint64
	waiting []store.InboxKey
	removed int // since it was vacuumed
	log     tap
}

// pass makes the n-th commit of the producer, and one of the consumer.
func (l *load) pass(n int) {
	l.t.Helper()
	p, to := l.parts[0], l.parts[1]
	sent := &store.Commit{
		Partition: p.ID, Generation: p.Generation, Computation: p.Computation,
		Totals: &store.Totals{Epochs: uint64(n)}, Offset: fmt.Append(nil, n),
	}
	for range commitRows {
		l.number++
		key := store.InboxKey{Target: to.ID, Layout: 1, Producer: p.ID, Generation: p.Generation, Number: l.number}
		sent.Produced = append(sent.Produced, store.InboxRow{InboxKey: key, Previous: l.number - 1, Count: rowMessages, Payload: make([]byte, rowBytes)})
		l.waiting = append(l.waiting, key)
	}
	l.commit(sent)
	taken := &store.Commit{
		Partition: to.ID, Generation: to.Generation, Computation: to.Computation, Totals: &store.Totals{Epochs: uint64(n)},
		States: []store.StateWrite{{Key: fmt.Sprint(n % 500), Name: "/x", Value: fmt.Append(nil, n)}},
	}
	for len(l.waiting) > behind {
		taken.Taken = append(taken.Taken, store.InboxTake{Key: l.waiting[0], To: rowMessages, Remove: true})
		l.waiting = l.waiting[1:]
	}
	l.commit(taken)
	if l.removed += len(taken.Taken); l.removed >= pgstore.WornRows {
		l.removed = 0
		if said := l.log.next(l.t); said.Level > slog.LevelDebug {
			l.t.Fatal(said.Message)
		}
	}
}

func (l *load) commit(c *store.Commit) {
	l.t.Helper()
	if err := l.s.Commit(l.t.Context(), c); err != nil {
		l.t.Fatal(err)
	}
}

// oldSnapshot holds a snapshot, so that nothing removed since can be cleaned.
func oldSnapshot(t *testing.T) (release func()) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"); err != nil {
		t.Fatal(err)
	}
	return func() { letGo(t, conn) }
}

func sizeOf(t *testing.T, schema string) int64 {
	t.Helper()
	return ask[int64](t, `SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind = 'r'`, schema)
}

// largest names the largest tables.
func largest(t *testing.T, schema string) string {
	t.Helper()
	return ask[string](t, `SELECT string_agg(name || ' ' || size / 1024, ', ' ORDER BY size DESC) FROM (
		SELECT c.relname AS name, pg_total_relation_size(c.oid) AS size FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind = 'r' ORDER BY size DESC LIMIT 4) t`, schema)
}

func ask[T any](t *testing.T, sql string, args ...any) (out T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL(""))
	if err == nil {
		err = conn.QueryRow(t.Context(), sql, args...).Scan(&out)
		_ = conn.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
