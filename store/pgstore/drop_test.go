package pgstore_test

import (
	"fmt"
	"testing"

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
	// Row by row they go, up to one in the second part of several.
	does(t, conn, `CREATE SEQUENCE gone; CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF nextval('gone') > 15000 THEN PERFORM pg_advisory_xact_lock_shared(4712); END IF;
		RETURN OLD;
	END $$`)
	does(t, conn, "CREATE TRIGGER stop BEFORE DELETE ON table_rows FOR EACH ROW EXECUTE FUNCTION stop(); SELECT pg_advisory_lock(4712)")
	must(t, s.DropTable(t.Context(), large))
	left := func() int { return ask[int](t, fmt.Sprintf("SELECT count(*)::int FROM %s.table_rows", schema)) }
	await(t, func() bool { return left() == 50_005 })
	must(t, s.Close()) // in the middle of it
	if n := left(); n != 50_005 {
		t.Fatalf("%d rows are left of a part that was not removed to its end", n)
	}
	does(t, conn, "SELECT pg_advisory_unlock(4712)")
	does(t, conn, "DROP TRIGGER stop ON table_rows")
	s = open(t, url, pgstore.Options{})
	await(t, func() bool { return left() == 5 })
	if tables, err := s.Tables(t.Context()); err != nil || len(tables) != 1 || tables[0].ID != small {
		t.Errorf("tables %v, error %v", tables, err)
	}
}
