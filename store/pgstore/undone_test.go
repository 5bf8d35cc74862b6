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

// gate stops epochs between their first lock and their second one.
const gate = `CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END $$;
	CREATE TRIGGER gate BEFORE UPDATE ON heads FOR EACH STATEMENT EXECUTE FUNCTION gate()`

// Who loses a deadlock is undone whole, and tries again.
func TestAnEpochThatLosesADeadlockIsSentAgain(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	s := open(t, url+"&deadlock_timeout=100&rondo_lock_timeout=1m&application_name="+schema, pgstore.Options{})
	p := owned(t, s, 1)[0]
	run(t, schema, gate)
	doorman, other := session(t, schema), session(t, schema)
	does(t, doorman, "SELECT pg_advisory_lock(4711)")
	does(t, other, "SET deadlock_timeout = '1min'; SET application_name TO 'other of "+schema+"'")
	does(t, other, fmt.Sprintf("BEGIN; SELECT FROM heads WHERE partition = %d FOR UPDATE", p.ID))
	done, waited := make(chan error, 1), make(chan error, 1)
	go func() { done <- s.Commit(context.Background(), numbered(p, 1)) }()
	awaitLock(t, schema)
	go func() {
		_, err := other.Exec(t.Context(), fmt.Sprintf("SELECT FROM partitions WHERE id = %d FOR UPDATE; COMMIT", p.ID))
		waited <- err
	}()
	awaitLock(t, "other of "+schema)
	does(t, doorman, "SELECT pg_advisory_unlock(4711)") // the epoch comes last, sees the deadlock and loses
	must(t, <-waited, <-done)
	whole(t, s, p, 1)
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
