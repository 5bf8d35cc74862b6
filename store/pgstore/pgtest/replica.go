package pgtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// Follow makes a server that follows s, which from now on answers a commit only when
// both have it on disk.
func Follow(s *Server) (*Server, error) {
	replica, err := start("", s.flags, func(r *Server) error {
		return r.make("pg_basebackup", "-D", r.data(), "-h", s.dir, "-p", strconv.Itoa(s.port), "-U", "rondo",
			"-R", "-X", "stream", "-c", "fast", "--no-sync")
	})
	if err != nil {
		return nil, err
	}
	err = s.ask(func(ctx context.Context, conn *pgx.Conn) error {
		for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
			if _, err := conn.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return until(ctx, conn, "SELECT count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'")
	})
	if err != nil {
		return nil, errors.Join(err, replica.Close())
	}
	return replica, nil
}

// Promote makes a server that followed another one, which is gone, go on alone.
func (s *Server) Promote() error {
	return s.ask(func(ctx context.Context, conn *pgx.Conn) error {
		return until(ctx, conn, "SELECT pg_promote(true)")
	})
}

// Both is where a store of a schema lies in whichever of the two servers takes
// changes.
func Both(a, b *Server, schema string) string {
	return fmt.Sprintf("postgres:///postgres?user=rondo&host=%s,%s&port=%d,%d&target_session_attrs=read-write%s",
		a.dir, b.dir, a.port, b.port, inSchema(schema))
}

func (s *Server) ask(do func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startWait)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.URL(""))
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, conn), conn.Close(ctx))
}

// until polls until the answer is true.
func until(ctx context.Context, conn *pgx.Conn, sql string) error {
	for {
		var so bool
		if err := conn.QueryRow(ctx, sql).Scan(&so); err != nil || so {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not yet true: %w", sql, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
