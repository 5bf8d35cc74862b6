package pgstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/storetest"
)

// newURL is a schema that is not there yet.
func newURL() (url, schema string) {
	schema = fmt.Sprintf("test_%d", schemas.Add(1))
	return server.URL(schema), schema
}

// run executes statements in a schema.
func run(t storetest.TB, schema, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.URL(""))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SET search_path TO "+schema+"; "+sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func migrateUp(t *testing.T, url string) []pgstore.Migration {
	t.Helper()
	made, err := pgstore.MigrateUp(t.Context(), url, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// refuses wants opening to fail with a class, nil for none, and with a text.
func refuses(t *testing.T, url string, class error, text string) {
	t.Helper()
	s, err := pgstore.Open(t.Context(), url, pgstore.Options{})
	if err == nil {
		_ = s.Close()
		t.Fatalf("it opens, want %q", text)
	}
	if class == nil && hasAnyClass(err) || class != nil && !errors.Is(err, class) || !strings.Contains(err.Error(), text) {
		t.Fatalf("got %q, want class %v and %q", err, class, text)
	}
}

func hasAnyClass(err error) bool {
	for _, c := range []error{store.ErrUnavailable, store.ErrCorrupt, store.ErrLocked, store.ErrNewerFormat} {
		if errors.Is(err, c) {
			return true
		}
	}
	return false
}

func TestMigratingUpMakesTheStoreOnce(t *testing.T) {
	url, _ := newURL()
	refuses(t, url, nil, "rondo migrate up")
	if err := pgstore.MigrationValidate(t.Context(), url, pgstore.Options{}); err == nil || !strings.Contains(err.Error(), "rondo migrate up") {
		t.Fatalf("validate before: %v", err)
	}
	before, err := pgstore.MigrationStatus(t.Context(), url, pgstore.Options{})
	if err != nil || len(before) == 0 || !before[0].Applied.IsZero() {
		t.Fatalf("status before: %+v, %v", before, err)
	}
	if made := migrateUp(t, url); len(made) != len(before) || made[0].Applied.IsZero() {
		t.Fatalf("made %+v, want %+v", made, before)
	}
	if again := migrateUp(t, url); len(again) != 0 {
		t.Fatalf("made again: %+v", again)
	}
	after, err := pgstore.MigrationStatus(t.Context(), url, pgstore.Options{})
	if err != nil || after[len(after)-1].Applied.IsZero() {
		t.Fatalf("status after: %+v, %v", after, err)
	}
	if err := pgstore.MigrationValidate(t.Context(), url, pgstore.Options{}); err != nil {
		t.Fatal(err)
	}
	open(t, url, pgstore.Options{})
}

func TestMigratingTwiceAtATimeMakesEachStepOnce(t *testing.T) {
	url, _ := newURL()
	var all sync.WaitGroup
	var made [4][]pgstore.Migration
	var errs [4]error
	for i := range made {
		all.Go(func() { made[i], errs[i] = pgstore.MigrateUp(context.Background(), url, pgstore.Options{}) })
	}
	all.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	steps := 0
	for i := range made {
		steps += len(made[i])
	}
	status, err := pgstore.MigrationStatus(t.Context(), url, pgstore.Options{})
	if err != nil || steps != len(status) {
		t.Fatalf("%d steps were made of %d, %v", steps, len(status), err)
	}
}

func TestMigratingDownTakesAStepBack(t *testing.T) {
	url := fresh(t, server)
	s := open(t, url, pgstore.Options{})
	if _, err := pgstore.MigrateDown(t.Context(), url, pgstore.Options{}); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("down while the store is in use: %v", err)
	}
	if err := s.SavePipeline(t.Context(), &store.Pipeline{Name: "kept"}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	steps := len(migrateDownAndUp(t, url))
	s = open(t, url, pgstore.Options{})
	if p, err := s.Pipeline(t.Context()); err != nil || p == nil || p.Name != "kept" {
		t.Fatalf("after the last step was made anew, the pipeline is %+v, %v", p, err)
	}
	_ = s.Close()
	for range steps {
		undone, err := pgstore.MigrateDown(t.Context(), url, pgstore.Options{})
		if err != nil || undone == nil {
			t.Fatalf("down: %v, %v", undone, err)
		}
		refuses(t, url, nil, "rondo migrate up")
	}
	if again, err := pgstore.MigrateDown(t.Context(), url, pgstore.Options{}); again != nil || err != nil {
		t.Fatalf("down again: %v, %v", again, err)
	}
	migrateUp(t, url)
	open(t, url, pgstore.Options{})
}

// migrateDownAndUp makes the last step anew, and returns all steps.
func migrateDownAndUp(t *testing.T, url string) []pgstore.Migration {
	t.Helper()
	undone, err := pgstore.MigrateDown(t.Context(), url, pgstore.Options{})
	if err != nil || undone == nil {
		t.Fatalf("down: %v, %v", undone, err)
	}
	if made := migrateUp(t, url); len(made) != 1 || made[0].Version != undone.Version {
		t.Fatalf("up again made %+v, want %s", made, undone)
	}
	all, err := pgstore.MigrationStatus(t.Context(), url, pgstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestANewerSchemaIsRefusedAndLeftAlone(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	run(t, schema, "INSERT INTO migrations (version, name, sum, print) VALUES (99, 'later', '', '')")
	refuses(t, url, store.ErrNewerFormat, "version 99")
	for _, do := range []func() error{
		func() error { _, err := pgstore.MigrateUp(t.Context(), url, pgstore.Options{}); return err },
		func() error { _, err := pgstore.MigrateDown(t.Context(), url, pgstore.Options{}); return err },
		func() error { return pgstore.MigrationValidate(t.Context(), url, pgstore.Options{}) },
	} {
		if err := do(); !errors.Is(err, store.ErrNewerFormat) {
			t.Fatalf("got %v, want %v", err, store.ErrNewerFormat)
		}
	}
}

// What a newer Rondo has made is shown, before it is refused.
func TestTheStatusNamesStepsOfANewerRondo(t *testing.T) {
	url, schema := newURL()
	known := len(migrateUp(t, url))
	run(t, schema, fmt.Sprintf("INSERT INTO migrations (version, name, sum, print) VALUES (%d, 'later', '', '')", known+1))
	all, err := pgstore.MigrationStatus(t.Context(), url, pgstore.Options{})
	fails(t, err, store.ErrNewerFormat, fmt.Sprintf("version %d, this Rondo knows %d", known+1, known))
	if len(all) != known+1 || all[known].String() != fmt.Sprintf("%04d_later", known+1) || all[known].Applied.IsZero() {
		t.Errorf("the steps are %+v", all)
	}
}

// Rows of the table of migrations that are lost are told as that: never is there said
// to be no store, nor is anything changed.
func TestLostRowsOfMigrationsAreTold(t *testing.T) {
	for lose, text := range map[string]string{
		"DELETE FROM migrations":                         "tells of no step",
		"DROP TABLE migrations":                          "tells of no step",
		"DELETE FROM migrations WHERE version = 1":       "tells of step 2, tables, and not of step 1",
		"DELETE FROM migrations WHERE version IN (2, 3)": "and not of step 2",
	} {
		url, schema := newURL()
		migrateUp(t, url)
		run(t, schema, lose)
		const do = "put them back from a backup, or make a store in another schema"
		refuses(t, url, store.ErrCorrupt, text)
		_, err := pgstore.MigrationStatus(t.Context(), url, pgstore.Options{})
		fails(t, err, store.ErrCorrupt, text, do)
		_, err = pgstore.MigrateUp(t.Context(), url, pgstore.Options{})
		fails(t, err, store.ErrCorrupt, text, do)
		_, err = pgstore.MigrateDown(t.Context(), url, pgstore.Options{})
		fails(t, err, store.ErrCorrupt, text, do)
	}
	url, schema := newURL()
	known := len(migrateUp(t, url))
	run(t, schema, fmt.Sprintf("DELETE FROM migrations WHERE version = %d", known))
	_, err := pgstore.MigrateUp(t.Context(), url, pgstore.Options{})
	if err == nil || !strings.Contains(err.Error(), "makes what is there already") || !strings.Contains(err.Error(), "put them back from a backup") {
		t.Errorf("the last row is lost: %v", err)
	}
}

func TestAStepThatIsNotAsThisRondoMakesItIsRefused(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	run(t, schema, "UPDATE migrations SET sum = 'other'")
	refuses(t, url, store.ErrCorrupt, "step 1")
}

func TestValidateFindsWhatWasChangedByHand(t *testing.T) {
	for _, change := range []string{
		"DROP TABLE inbox",
		"ALTER TABLE heads DROP COLUMN report_numbers",
		"DROP INDEX timers_of_key",
		"CREATE TABLE users (name text)",
		"CREATE OR REPLACE FUNCTION begin_epoch(of_partition bigint, of_generation bigint, of_computation bytea, routed bytea[], layouts bigint[], first_number bigint) RETURNS void LANGUAGE sql AS ''",
	} {
		url, schema := newURL()
		migrateUp(t, url)
		run(t, schema, change)
		fails(t, pgstore.MigrationValidate(t.Context(), url, pgstore.Options{}), store.ErrCorrupt, "SET SCHEMA public")
	}
}

// A step that fails leaves nothing behind: what it did and its version row are one
// transaction.
func TestAStepThatFailsLeavesNothing(t *testing.T) {
	url, schema := newURL()
	run(t, "public", "CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".queue_rows (a int)") // the step makes it late
	if _, err := pgstore.MigrateUp(t.Context(), url, pgstore.Options{}); err == nil || !strings.Contains(err.Error(), "queue_rows") {
		t.Fatalf("migrating over a table of the same name: %v", err)
	}
	refuses(t, url, nil, "rondo migrate up")
	run(t, schema, "DROP TABLE queue_rows")
	migrateUp(t, url)
	open(t, url, pgstore.Options{})
}
