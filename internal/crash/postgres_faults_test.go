package crash

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// fault is what befalls the database, for a moment, again and again.
type fault struct {
	strike, heal func() error
	quiet        bool // nobody has to complain of it
	once         bool // it strikes once only
}

const (
	strikes = 4                       // how often a fault strikes a job at most
	pause   = 1500 * time.Millisecond // between two strikes, at most
	hold    = 700 * time.Millisecond  // how long one lasts, at most
)

// withstand runs the rondo command to its end while faults strike its database, and
// checks everything.
func (j *job) withstand(f fault) {
	j.t.Helper()
	j.faulty = true
	p := j.start(orders{})
	through, struck := make(chan struct{}), 0
	var striker sync.WaitGroup
	striker.Go(func() {
		rng := rand.New(rand.NewPCG(j.rng.Uint64(), 0))
		wait := func(atMost time.Duration) (more bool) {
			select {
			case <-through:
				return false
			case <-time.After(atMost/3 + time.Duration(rng.Int64N(int64(2*atMost/3)))):
				return true
			}
		}
		for struck < strikes && !(f.once && struck > 0) && wait(pause) {
			if err := f.strike(); err != nil {
				j.t.Errorf("strike %d: %v", struck, err)
			}
			struck++
			if wait(hold); !f.quiet {
				select {
				case <-through:
				case <-p.err.heard:
				}
			}
			if err := f.heal(); err != nil {
				j.t.Errorf("heal %d: %v", struck, err)
			}
		}
	})
	s := func() *summary {
		defer striker.Wait()
		defer close(through)
		return p.finish()
	}()
	if struck == 0 || !p.err.found && !f.quiet {
		j.t.Fatalf("%d faults struck, and the command complained: %v; this proves nothing", struck, p.err.found)
	}
	j.t.Logf("%d faults struck", struck)
	j.faulty = false
	j.check(s)
}

// behind gives a job a store behind a network.
func (j *job) behind(server *pgtest.Server, name string, options string) *pgtest.Proxy {
	j.t.Helper()
	net, err := pgtest.NewProxy(server)
	if err != nil {
		j.t.Fatal(err)
	}
	j.t.Cleanup(net.Close)
	j.on(server, name)
	j.store = net.URL(name) + options
	return net
}

func TestFiguresAreExactThroughFaultsOfTheDatabase(t *testing.T) {
	t.Parallel()
	server := newTCPServer(t)
	command := buildCommand(t)
	for name, faulty := range map[string]func(j *job) fault{
		"connections are cut in mid-commit": func(j *job) fault {
			net := j.behind(server, "sent", "")
			return fault{strike: func() error { return net.CutSent(rand.Int64N(5000)) }, heal: healed(net)}
		},
		"connections are cut before the answer": func(j *job) fault {
			net := j.behind(server, "answers", "")
			return fault{strike: net.CutAnswers, heal: healed(net)}
		},
		"the network is a black hole": func(j *job) fault {
			net := j.behind(server, "hole", "&rondo_call_timeout=1s")
			return fault{strike: net.Swallow, heal: healed(net)}
		},
		"answers take 500 ms": func(j *job) fault {
			net := j.behind(server, "slow", "")
			return fault{strike: func() error { return net.Slow(500 * time.Millisecond) }, heal: healed(net), quiet: true}
		},
		"the server crashes": func(j *job) fault {
			j.on(server, "crash")
			return fault{strike: server.Crash, heal: server.Begin}
		},
		"transactions deadlock or cannot be serialized": func(j *job) fault {
			j.on(server, "undone")
			return fault{
				strike: func() error { return do(server, undone) },
				heal:   func() error { return do(server, "DROP TRIGGER undone ON undone.heads; DROP FUNCTION undone.undone()") },
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, seed(), shape{rows: 10})
			j.command = command
			j.withstand(faulty(j))
		})
	}
}

func healed(net *pgtest.Proxy) func() error {
	return func() error {
		net.Heal()
		return nil
	}
}

// undone makes the server undo most epochs, as those are that lose a deadlock or
// cannot be serialized.
const undone = `CREATE FUNCTION undone.undone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF random() < 0.4 THEN RAISE EXCEPTION 'others came first' USING ERRCODE = 'deadlock_detected'; END IF;
		IF random() < 0.4 THEN RAISE EXCEPTION 'others came first' USING ERRCODE = 'serialization_failure'; END IF;
		RETURN new;
	END $$;
	CREATE TRIGGER undone BEFORE UPDATE ON undone.heads FOR EACH ROW EXECUTE FUNCTION undone.undone()`

func do(server *pgtest.Server, sql string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server.URL(""))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// The server is gone for good, and a synchronous replica takes over.
func TestFiguresAreExactThroughAFailOverOfTheDatabase(t *testing.T) {
	t.Parallel()
	first := newServer(t)
	second, err := pgtest.Follow(first)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	})
	j := newJob(t, seed(), shape{rows: 20})
	j.command = buildCommand(t)
	j.on(first, "job")
	j.store = pgtest.Both(first, second, "job")
	j.withstand(fault{strike: first.Crash, heal: second.Promote, once: true})
}
