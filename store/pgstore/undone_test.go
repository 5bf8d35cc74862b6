package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// session is a connection beside those of stores.
func session(t *testing.T, schema string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL(""))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	does(t, conn, "SET search_path TO "+schema)
	return conn
}

func does(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql)
	must(t, err)
}

// awaitLock waits until a session waits for the lock of a row.
func awaitLock(t *testing.T, name string) {
	t.Helper()
	for ask[int](t, "SELECT count(*)::int FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", name) == 0 {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// Who loses a deadlock is undone whole, and tries again.
func TestAnEpochThatLosesADeadlockIsSentAgain(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	s := open(t, url+"&deadlock_timeout=2000&application_name="+schema, pgstore.Options{})
	p := owned(t, s, 1)[0]
	other := session(t, schema)
	does(t, other, "SET deadlock_timeout = '1min'")
	does(t, other, fmt.Sprintf("BEGIN; SELECT FROM heads WHERE partition = %d FOR UPDATE", p.ID))
	done := make(chan error, 1)
	go func() { done <- s.Commit(context.Background(), numbered(p, 1)) }()
	awaitLock(t, schema)
	does(t, other, fmt.Sprintf("SELECT FROM partitions WHERE id = %d FOR UPDATE", p.ID)) // the epoch loses
	does(t, other, "COMMIT")
	must(t, <-done)
	whole(t, s, p, 1)
	if n := ask[int](t, "SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()"); n == 0 {
		t.Fatal("there was no deadlock")
	}
}

// undoes makes the server undo the first epochs.
const undoes = `CREATE SEQUENCE undone;
	CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('undone') <= %d THEN RAISE EXCEPTION 'others came first' USING ERRCODE = 'serialization_failure'; END IF;
		RETURN new;
	END $$;
	CREATE TRIGGER undo BEFORE UPDATE ON heads FOR EACH ROW EXECUTE FUNCTION undo()`

func TestAnEpochThatCannotBeSerializedIsSentAgainForAWhile(t *testing.T) {
	for times, class := range map[int]error{2: nil, 1000: store.ErrUnavailable} {
		url, schema := newURL()
		migrateUp(t, url)
		s := open(t, url, pgstore.Options{})
		p := owned(t, s, 1)[0]
		run(t, schema, fmt.Sprintf(undoes, times))
		if err := s.Commit(t.Context(), numbered(p, 1)); !errors.Is(err, class) {
			t.Fatalf("undone %d times: %v, want %v", times, err, class)
		}
		run(t, schema, "DROP TRIGGER undo ON heads")
		whole(t, s, p, 0)
	}
}
