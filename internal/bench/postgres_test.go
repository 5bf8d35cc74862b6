package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// What has to be reached with a PostgreSQL server on the same two cores.
const (
	passOfScan     = 0.25   // a no-op pass, of a bare keyset scan
	updatesRate    = 60_000 // visits that write their state, each second
	messagesRate   = 40_000 // messages counted by key, each second, or
	messagesOfBare = 0.3    // of a bare loop of the same statements
)

// onPostgres gives a benchmark a server, and stores in schemas of it.
func onPostgres(b testing.TB) (*pgtest.Server, Config) {
	b.Helper()
	server, err := pgtest.Start("-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := server.Close(); err != nil {
			b.Error(err)
		}
	})
	made := 0
	return server, Config{Partitions: 16, Keys: 100_000, Open: func(name string) (store.Store, error) {
		made++
		url := server.URL(fmt.Sprintf("%s_%d", name, made))
		if _, err := pgstore.MigrateUp(b.Context(), url, pgstore.Options{}); err != nil {
			return nil, err
		}
		return pgstore.Open(b.Context(), url, pgstore.Options{})
	}}
}

// BenchmarkPostgresMessages: one iteration is 200 000 messages. The floor is a bare
// loop of the store's statements.
func BenchmarkPostgresMessages(b *testing.B) {
	all := measureOnPostgres(b, "messages", 200_000, false, func(ctx context.Context, _ *pgtest.Server, c Config) (*Result, error) { return Messages(ctx, c) })
	if all.Rate() < messagesRate && all.OfFloor() < messagesOfBare {
		missed(b, "%.0f messages each second, want %d, or %.2f of the bare loop, want %.2f", all.Rate(), messagesRate, all.OfFloor(), messagesOfBare)
	}
}

// BenchmarkPostgresUpdates: one iteration is 400 000 visits that write.
func BenchmarkPostgresUpdates(b *testing.B) {
	all := measureOnPostgres(b, "visits", 400_000, true, func(ctx context.Context, _ *pgtest.Server, c Config) (*Result, error) { return Visits(ctx, c) })
	if all.Rate() < updatesRate {
		missed(b, "%.0f visits with an update each second, want %d", all.Rate(), updatesRate)
	}
}

// BenchmarkPostgresPass: one iteration is a million visits that do nothing, beside as
// many rows of bare SQL.
func BenchmarkPostgresPass(b *testing.B) {
	all := measureOnPostgres(b, "visits", 1_000_000, false, passAndScan)
	if all.OfFloor() < passOfScan {
		missed(b, "a pass reaches %.2f of a bare scan, want %.2f", all.OfFloor(), passOfScan)
	}
}

func measureOnPostgres(b *testing.B, what string, count int, update bool, run func(context.Context, *pgtest.Server, Config) (*Result, error)) *Result {
	var all Result
	for b.Loop() {
		server, c := onPostgres(b)
		c.Count, c.Update = count, update
		r, err := run(b.Context(), server, c)
		if err != nil {
			b.Fatal(err)
		}
		all.Add(r)
	}
	b.ReportMetric(all.Rate(), what+"/s")
	b.ReportMetric(all.FloorRate(), "floor/s")
	b.ReportMetric(all.OfFloor(), "of-floor")
	return &all
}

// passAndScan measures visits that do nothing, and then how long bare SQL takes to
// read as many rows of the same states, page by page.
func passAndScan(ctx context.Context, server *pgtest.Server, c Config) (*Result, error) {
	r := &Result{Count: c.Count}
	var err error
	if r.Pipeline, err = c.visits(ctx); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, server.URL(""))
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SET search_path TO pipeline_1"); err != nil {
		return nil, err
	}
	began := time.Now()
	for left := c.Count; left > 0; {
		n, err := scan(ctx, conn, left)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%d rows: %w", n, err)
		}
		left -= n
	}
	r.Floor = time.Since(began)
	return r, nil
}

// scan reads all rows, or as many as wanted, in pages as large as an epoch.
func scan(ctx context.Context, conn *pgx.Conn, most int) (n int, err error) {
	const page = `SELECT computation, key, name, value FROM key_states
		WHERE (computation, key, name) > ($1, $2, $3) ORDER BY computation, key, name LIMIT $4`
	var computation int32
	var key, name, value []byte
	for n < most {
		rows, err := conn.Query(ctx, page, computation, key, name, min(batch, most-n))
		if err != nil {
			return n, err
		}
		got, err := pgx.ForEachRow(rows, []any{&computation, &key, &name, &value}, func() error { return nil })
		if err != nil || got.RowsAffected() == 0 {
			return n, err
		}
		n += int(got.RowsAffected())
	}
	return n, nil
}
