package pgstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// TestALargeTableIsDroppedInNoTime: its rows are more than one call has the time to
// remove, and go one part after the other; those that a process leaves, the next one
// removes.
func TestALargeTableIsDroppedInNoTime(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	s := open(t, url, pgstore.Options{})
	keeps := func(name string) store.TableID {
		id, err := s.CreateTable(t.Context(), name, "x")
		must(t, err)
		return id
	}
	large, small := keeps("large"), keeps("small")
	conn := session(t, schema)
	does(t, conn, fmt.Sprintf("INSERT INTO table_rows SELECT %d, int8send(i), 'v' FROM generate_series(1, 60000) i", large))
	does(t, conn, fmt.Sprintf("INSERT INTO table_rows SELECT %d, int8send(i), 'v' FROM generate_series(1, 5) i", small))
	// Each row takes its time, and a call has one second.
	does(t, conn, `CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.00005); RETURN OLD; END $$`)
	does(t, conn, "CREATE TRIGGER slow BEFORE DELETE ON table_rows FOR EACH ROW EXECUTE FUNCTION slowly()")
	must(t, s.Close())
	s = open(t, url+"&rondo_call_timeout=3s", pgstore.Options{})
	must(t, s.DropTable(t.Context(), large))
	left := func() int { return ask[int](t, fmt.Sprintf("SELECT count(*)::int FROM %s.table_rows", schema)) }
	must(t, s.Close()) // in the middle of it
	if n := left(); n <= 5 {
		t.Fatalf("%d rows are left at once: this proves nothing", n)
	}
	does(t, conn, "DROP TRIGGER slow ON table_rows")
	s = open(t, url, pgstore.Options{})
	for left() > 5 {
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	if tables, err := s.Tables(t.Context()); err != nil || len(tables) != 1 || tables[0].ID != small {
		t.Errorf("tables %v, error %v", tables, err)
	}
}
