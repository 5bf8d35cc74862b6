package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-flow/rondo/store"
)

// lockSpace keeps Rondo's advisory locks from those of others.
const lockSpace = 0x726f6e64

// holdWait is how long a store in use is waited for: the server takes a moment to
// find that the process that held it was killed.
const holdWait = time.Second

const lockNotAvailable = "55P03"

// owner holds the store for this process: a lock that the server gives back when
// the connection ends, as it does when the process dies. It only keeps a second
// process from starting by mistake. What protects the data is the fence: should
// the connection break, another process may open the store and take the partitions
// over (D-4). The connection also hears what other workers tell.
type owner struct{ conn *pgx.Conn }

// holdAgain is how long a store whose connection broke waits before it is taken
// once more.
const holdAgain = 200 * time.Millisecond

// keepHeld holds the store, and listens, until it is closed.
func (s *Store) keepHeld(ctx context.Context) {
	for {
		s.telegraph.in.add(&store.Hint{All: true}) // what was told before is lost
		err := s.owner.listen(ctx, s.telegraph)
		if ctx.Err() != nil {
			return
		}
		s.opts.Logger.Warn("the connection that holds the store is lost, holding it again", "error", classify(err))
		for {
			hangUp(s.owner.conn)
			select {
			case <-ctx.Done():
				return
			case <-time.After(holdAgain):
			}
			attempt, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
			held, err := hold(attempt, s.place, s.opts.Worker != "")
			cancel()
			if err == nil {
				s.owner = held
				break
			}
			if other := (*heldBy)(nil); errors.As(err, &other) && other.session != 0 && other.session != s.owner.conn.PgConn().PID() {
				s.surrender(other)
				return
			}
			s.opts.Logger.Debug("the store cannot be held yet", "error", classify(err))
		}
	}
}

// surrender lets every call fail: if both went on, they would take the partitions
// from each other for ever.
func (s *Store) surrender(to *heldBy) {
	s.life.Lock()
	defer s.life.Unlock()
	s.lost = fmt.Errorf("%w: %w: while there was no connection, another process has taken it: %w", store.ErrStopped, store.ErrUnavailable, to)
}

// heldBy is the error that somebody holds the store, in a session of the server.
type heldBy struct {
	error
	session uint32 // 0: it has just ended
}

func (h *heldBy) Unwrap() error { return h.error }

// listen hears what other workers tell until the connection ends.
func (o *owner) listen(ctx context.Context, t *telegraph) error {
	if _, err := o.conn.Exec(ctx, "LISTEN "+pgx.Identifier{t.channel}.Sanitize()); err != nil {
		return err
	}
	for {
		n, err := o.conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		t.received(n.Payload)
	}
}

// hold takes the store, or tells who has it. Workers of a cluster hold it
// together.
func hold(ctx context.Context, p *place, shared bool) (*owner, error) {
	conn, err := pgx.ConnectConfig(ctx, p.config.ConnConfig)
	if err != nil {
		return nil, err
	}
	o := &owner{conn}
	if _, err = conn.Exec(ctx, `SELECT set_config('lock_timeout', $1, false)`, millis(holdWait)); err == nil {
		take := `SELECT pg_advisory_lock($1, hashtext($2))`
		if shared {
			take = `SELECT pg_advisory_lock_shared($1, hashtext($2))`
		}
		_, err = conn.Exec(ctx, take, int32(lockSpace), p.schema)
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == lockNotAvailable {
		err = holder(ctx, conn, p.schema)
	}
	if err != nil {
		o.release()
		return nil, err
	}
	return o, nil
}

// holder describes who holds the store, as an error.
func holder(ctx context.Context, conn *pgx.Conn, schema string) error {
	const find = `
		SELECT a.pid, a.application_name, coalesce(host(a.client_addr), 'the same machine'), a.backend_start
		FROM pg_locks l JOIN pg_stat_activity a USING (pid)
		WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
			AND l.classid = $1 AND l.objid::int8 = hashtext($2)::int8 & 4294967295 AND l.objsubid = 2`
	var name, host string
	var since time.Time
	var session uint32
	err := conn.QueryRow(ctx, find, uint32(lockSpace), schema).Scan(&session, &name, &host, &since)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		name, host = "a process that has just ended", "some machine"
	case err != nil:
		return err
	}
	return &heldBy{fmt.Errorf("%w: it is held by %q, connected from %s since %s; stop it, or use another schema",
		store.ErrLocked, name, host, since.Format(time.RFC3339)), session}
}

// release gives the store back, and waits until it is free.
func (o *owner) release() {
	ctx, cancel := context.WithTimeout(context.Background(), byeWait)
	defer cancel()
	// Where this fails, the server frees it once it finds the connection gone.
	_, _ = o.conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)
	hangUp(o.conn)
}

// byeWait is how long a server that does not answer is waited for at the end.
const byeWait = time.Second

// hangUp ends a connection, whatever its server does.
func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), byeWait)
	defer cancel()
	_ = conn.Close(ctx)
}
