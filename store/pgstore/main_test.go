package pgstore_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
	"github.com/rondo-flow/rondo/store/storetest"
)

// server is the one that all tests of the package share, but for those that stop
// theirs.
var server *pgtest.Server

func TestMain(m *testing.M) {
	if url := os.Getenv(rehashVariable); url != "" {
		os.Exit(rehashChild(url))
	}
	var err error
	if server, err = pgtest.StartTCP(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction(pgtest.StuckPipe), goleak.Cleanup(func(code int) {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

var schemas atomic.Int64

// fresh is the URL of a schema of its own, migrated.
func fresh(t storetest.TB, s *pgtest.Server) string {
	t.Helper()
	url := s.URL(fmt.Sprintf("test_%d", schemas.Add(1)))
	if _, err := pgstore.MigrateUp(context.Background(), url, pgstore.Options{}); err != nil {
		t.Fatalf("migrate: %v", err)
	}
	return url
}

func open(t storetest.TB, url string, o pgstore.Options) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(context.Background(), url, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStoreKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t storetest.TB) storetest.Harness {
		url := fresh(t, server)
		return storetest.Harness{
			Open:      func(t storetest.TB) store.Store { return open(t, url, pgstore.Options{}) },
			Histories: 10,
		}
	})
}
