package pgstore_test

import (
	"testing"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// network is one of its own to a server.
func network(t *testing.T, s *pgtest.Server) *pgtest.Proxy {
	t.Helper()
	p, err := pgtest.NewProxy(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
