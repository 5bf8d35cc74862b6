package crash

import (
	"fmt"
	"testing"

	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// newServer runs a PostgreSQL server until the test ends.
func newServer(t *testing.T) *pgtest.Server {
	t.Helper()
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// on gives a job a store of its own in a server.
func (j *job) on(server *pgtest.Server, name string) *job {
	j.t.Helper()
	j.store = server.URL(name)
	if _, err := pgstore.MigrateUp(j.t.Context(), j.store, pgstore.Options{}); err != nil {
		j.t.Fatal(err)
	}
	return j
}

func TestFiguresAreExactThroughKillsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	server, command, made := newServer(t), buildCommand(t), 0
	for name, command := range map[string]string{"child": "", "command": command} {
		t.Run(name, func(t *testing.T) {
			killOften(t, func(t *testing.T, seed uint64) *job {
				j := newJob(t, seed, shape{rows: 200})
				j.command = command
				made++
				return j.on(server, fmt.Sprintf("job_%d", made))
			}, orders{})
		})
	}
}
