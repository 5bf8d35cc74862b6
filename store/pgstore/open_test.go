package pgstore_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

func TestASecondProcessIsToldWhoHoldsTheStore(t *testing.T) {
	url := fresh(t, server)
	first := open(t, url, pgstore.Options{})
	refuses(t, url, store.ErrLocked, fmt.Sprintf("process %d on ", os.Getpid()))
	open(t, fresh(t, server), pgstore.Options{}) // another schema is another store
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, url, pgstore.Options{})
}

func TestSchemasOfADatabaseAreStoresOfTheirOwn(t *testing.T) {
	urls := []string{fresh(t, server), fresh(t, server)}
	for i, url := range urls {
		s := open(t, url, pgstore.Options{})
		if err := s.SavePipeline(t.Context(), &store.Pipeline{Name: fmt.Sprint("pipeline ", i)}); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	}
	for i, url := range urls {
		p, err := open(t, url, pgstore.Options{}).Pipeline(t.Context())
		if err != nil || p.Name != fmt.Sprint("pipeline ", i) {
			t.Fatalf("pipeline %+v, %v", p, err)
		}
	}
}

func TestAnOptionNamesTheSchemaBeforeTheURL(t *testing.T) {
	url, _ := newURL()
	_, schema := newURL()
	if _, err := pgstore.MigrateUp(t.Context(), url, pgstore.Options{Schema: schema}); err != nil {
		t.Fatal(err)
	}
	refuses(t, url, nil, "rondo migrate up")
	open(t, url, pgstore.Options{Schema: schema})
}

func TestTheURLSaysHowLongACallMayTake(t *testing.T) {
	url := fresh(t, server)
	open(t, url+"&rondo_call_timeout=2s&rondo_lock_timeout=100ms", pgstore.Options{})
	refuses(t, url+"&rondo_call_timeout=2", nil, "rondo_call_timeout=2 in the URL of the store is no duration")
	refuses(t, url+"&rondo_lock_timeout=0s", nil, "rondo_lock_timeout=0s")
}

func TestAWrongURLIsToldWithoutItsPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://rondo:hush@[::1/db",
		"postgres://rondo:hush@localhost:port/db",
		"postgres://rondo:hush@127.0.0.1:1/db",
		"postgres://rondo:hush@127.0.0.1:1/db?sslmode=never",
		"postgres:///postgres?user=rondo&password=hush&host=/nowhere",
		"host=/nowhere user=rondo password=hush",
		"postgres://rondo:a@hush@127.0.0.1:1/db",
		"postgres://rondo:a@hush@127.0.0.1:1,127.0.0.1:2/db",
	} {
		_, err := pgstore.Open(t.Context(), url, pgstore.Options{})
		if !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %v and no password", url, err, store.ErrUnavailable)
		}
	}
}

func TestAUserWithoutRightsIsToldSo(t *testing.T) {
	url, schema := newURL()
	migrateUp(t, url)
	run(t, schema, "DO $$ BEGIN CREATE ROLE nobody_special LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
	poor := strings.Replace(url, "user=rondo", "user=nobody_special", 1)
	refuses(t, poor, store.ErrUnavailable, "permission denied")
	run(t, schema, "GRANT USAGE ON SCHEMA "+schema+" TO nobody_special; GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO nobody_special")
	s := open(t, poor, pgstore.Options{})
	_, err := s.CreatePartitions(t.Context(), []store.Partition{{Computation: "c", Kind: store.SourcePartition, Name: "s/0"}})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "permission denied") {
		t.Fatalf("creating a partition without the right to write: %v", err)
	}
	missing := strings.Replace(url, "/postgres?", "/nodatabase?", 1)
	refuses(t, missing, store.ErrUnavailable, "nodatabase")
}
