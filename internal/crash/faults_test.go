package crash

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// siege is a cluster that faults strike, one after the other.
type siege struct {
	*fleet
	rng    *rand.Rand
	server *pgtest.Server
	net    *pgtest.Proxy // between the workers and the server
	moving bool          // partitions were replaced
	faults int
}

// troubles are what can happen, and how often of a hundred times.
var troubles = []struct {
	name   string
	weight int
	strike func(*siege)
}{
	{"kill -9 of a worker", 20, func(s *siege) { s.kill(s.anybody()) }},
	{"kill -9 of the controller", 15, func(s *siege) { s.kill(s.controller()) }},
	{"a worker leaves", 8, (*siege).dismiss},
	{"a worker is frozen and wakes", 9, func(s *siege) { s.freeze(s.anybody()) }},
	{"the controller is frozen and wakes", 5, func(s *siege) { s.freeze(s.controller()) }},
	{"another number of workers", 13, (*siege).resize},
	{"another number of partitions", 10, func(s *siege) {
		s.moving = true
		s.repartition(counts[s.rng.IntN(len(counts))])
	}},
	{"the database crashes and starts again", 5, func(s *siege) { s.do(s.server.Crash); s.pause(time.Second); s.do(s.server.Begin) }},
	{"the database stops and starts again", 3, func(s *siege) { s.do(s.server.Stop); s.pause(time.Second); s.do(s.server.Begin) }},
	{"connections are cut", 5, func(s *siege) { s.do(s.net.Cut) }},
	{"answers are lost", 3, func(s *siege) { s.do(s.net.CutAnswers); s.pause(time.Second); s.net.Heal() }},
	{"the network is a black hole", 2, func(s *siege) { s.do(s.net.Swallow); s.pause(2 * *flagLease); s.net.Heal() }},
	{"the database is slow", 2, func(s *siege) {
		s.do(func() error { return s.net.Slow(200 * time.Millisecond) })
		s.pause(2 * time.Second)
		s.net.Heal()
	}},
}

func (s *siege) do(fault func() error) {
	s.t.Helper()
	if err := fault(); err != nil {
		s.t.Fatal(err)
	}
}

// pause lets a fault last.
func (s *siege) pause(atMost time.Duration) {
	<-time.After(atMost/3 + time.Duration(s.rng.Int64N(int64(2*atMost/3))))
}

func (s *siege) anybody() int { return s.rng.IntN(len(s.crews)) }

// controller is who holds the lease, or anybody if that is none of the workers now.
func (s *siege) controller() int {
	v, err := s.look.View(s.t.Context())
	if err == nil {
		if i := slices.IndexFunc(s.crews, func(c *crew) bool { return c.id() == v.Lease.Holder }); i >= 0 {
			return i
		}
	}
	return s.anybody()
}

// kill kills a worker, in whose place there is another at once.
func (s *siege) kill(i int) {
	s.t.Helper()
	_ = s.crews[i].cmd.Process.Kill()
	s.replace(i)
}

func (s *siege) dismiss() {
	s.t.Helper()
	i := s.anybody()
	_ = s.crews[i].cmd.Process.Signal(syscall.SIGTERM)
	s.replace(i)
}

func (s *siege) replace(i int) {
	s.t.Helper()
	s.crews = slices.Delete(s.crews, i, i+1)
	s.hire()
}

// freeze stops a worker for longer than a lease, meanwhile the others go on.
func (s *siege) freeze(i int) {
	c := s.crews[i]
	_ = c.cmd.Process.Signal(syscall.SIGSTOP)
	<-time.After(*flagFreeze)
	_ = c.cmd.Process.Signal(syscall.SIGCONT)
}

// sizes are the numbers of workers that a cluster goes through.
var sizes = []int{1, 4, 2, 3}

// resize hires workers, or kills some.
func (s *siege) resize() {
	s.t.Helper()
	n := sizes[s.rng.IntN(len(sizes))]
	s.t.Logf("%d workers", n)
	for len(s.crews) < n {
		s.hire()
	}
	for ; len(s.crews) > n; s.crews = s.crews[1:] {
		_ = s.crews[0].cmd.Process.Kill()
	}
}

// strike lets one thing happen.
func (s *siege) strike() {
	s.t.Helper()
	drawn := s.rng.IntN(100)
	for _, f := range troubles {
		if drawn -= f.weight; drawn < 0 {
			s.t.Logf("fault %d: %s", s.faults, f.name)
			f.strike(s)
			break
		}
	}
	s.faults++
	if s.rng.IntN(4) > 0 { // else the next one comes while they still recover from this
		s.await("all partitions to have owners", func(*store.View) bool { return s.owned() })
	}
	for _, c := range s.crews {
		if c.ended() && !s.over() {
			s.t.Fatalf("worker %s has ended by itself: %s", c.id(), c.cmd.ProcessState)
		}
	}
}

// owned tells that workers that are there have all partitions.
func (s *siege) owned() bool {
	parts, err := s.look.Partitions(s.t.Context())
	return err == nil && !slices.ContainsFunc(parts, func(p store.Partition) bool {
		return p.State != store.Completed && !slices.ContainsFunc(s.crews, func(c *crew) bool { return c.id() == p.Worker })
	})
}

// newSiege makes a cluster of three that runs accounts.
func newSiege(t *testing.T, server *pgtest.Server, name string, seed uint64, a accounts) *siege {
	t.Helper()
	f := newFleet(t, server, "", name, "")
	a.submit(f)
	return f.besiege(server, name, seed, func(url, data string) *exec.Cmd {
		return serving(t, orders{Store: url, Data: data, Lease: *flagLease, Until: a.until})
	})
}

// ends lets a job's source end.
func (a accounts) ends(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(a.until, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// besiege hires three workers, which reach the server by a network that may fail.
func (f *fleet) besiege(server *pgtest.Server, name string, seed uint64, worker func(url, data string) *exec.Cmd) *siege {
	f.t.Helper()
	f.t.Logf("rerun with -seed %d", seed)
	s := &siege{fleet: f, rng: rand.New(rand.NewPCG(seed, 2)), server: server}
	var err error
	if s.net, err = pgtest.NewProxy(server); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(s.net.Close)
	url := s.net.URL(name) + "&rondo_call_timeout=" + max(*flagLease, time.Second).String()
	s.worker = func(data string) *exec.Cmd { return worker(url, data) }
	for range 3 {
		s.hire()
	}
	return s
}

// newTCPServer is a server that a network leads to.
func newTCPServer(t *testing.T) *pgtest.Server {
	t.Helper()
	server, err := pgtest.StartTCP()
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

// serving is the command of a worker.
func serving(t *testing.T, o orders) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(cmd.Environ(), ordersVariable+"="+string(text))
	return cmd
}

// ledger is what the sinks' parts hold.
func (f *fleet) ledger() (text string, parts int) {
	f.t.Helper()
	all, err := engine.SinkParts(f.t.Context(), f.look)
	if err != nil {
		f.t.Fatal(err)
	}
	var b bytes.Buffer
	for _, p := range all {
		r, err := file.ReadRecorded(p.Position)
		if err == nil {
			err = r.Copy(&b, r.Folder, true)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return b.String(), len(all)
}

// settle waits for the end and checks the accounts.
func (s *siege) settle(a accounts) {
	s.t.Helper()
	s.finish()
	text, parts := s.ledger()
	if err := checkAccounts(text, a.rows, s.moving); err != nil {
		s.t.Fatal(err)
	}
	s.t.Logf("%d faults, %d lines in %d parts", s.faults, strings.Count(text, "\n"), parts)
}

// perJob is how many faults strike one job at most.
const perJob = 25

// TestAccountsAreExactThroughFaultsOfTheCluster: workers, the controller, the
// database and the network between them fail, workers and partitions become more
// and fewer, while a cluster works; what it wrote is checked from outside.
func TestAccountsAreExactThroughFaultsOfTheCluster(t *testing.T) {
	t.Parallel()
	first, began := seed(), time.Now()
	server := newTCPServer(t)
	for left, n := *flagFaults, 0; left > 0 || time.Since(began) < *flagSoak; n++ {
		t.Run(fmt.Sprintf("seed %d", first), func(t *testing.T) {
			most := min(max(left, 1), perJob)
			a := accounts{rows: 400 * (3 + most), rate: 400}
			if *flagSoak > 0 {
				most, a.rows = 1<<30, 400*600
			}
			s := newSiege(t, server, fmt.Sprintf("job_%d", n), first, a)
			for s.faults < most && !s.over() {
				s.strike()
			}
			s.settle(a)
			left -= s.faults
		})
		if t.Failed() {
			return
		}
		first++
	}
}

// TestAPartitionCountAskedForInTheFinalPassOfAClusterChangesNothing: it waits, and is
// void when all have completed (KV-15), whoever leads meanwhile.
func TestAPartitionCountAskedForInTheFinalPassOfAClusterChangesNothing(t *testing.T) {
	t.Parallel()
	server := newTCPServer(t)
	a := accounts{rows: 800, rate: 400}
	s := newSiege(t, server, "final", seed(), a)
	s.await("the final pass", func(*store.View) bool { return s.inFinalPass() })
	s.ask(8)
	s.kill(s.controller())
	s.settle(a)
	if n := len(s.counters()); n != 3 {
		t.Errorf("%d partitions in the end, want 3", n)
	}
}

// TestAccountsAreExactThroughAFailOverOfTheClustersDatabase: the server is gone for
// good, and a synchronous replica takes over. Workers find it by themselves.
func TestAccountsAreExactThroughAFailOverOfTheClustersDatabase(t *testing.T) {
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
	a := accounts{rows: 1200, rate: 300, until: filepath.Join(t.TempDir(), "until")}
	n := seed()
	t.Logf("rerun with -seed %d", n)
	s := &siege{fleet: newFleet(t, first, "", "failover", ""), rng: rand.New(rand.NewPCG(n, 3))}
	a.submit(s.fleet)
	s.do(s.look.Close)
	s.url = pgtest.Both(first, second, "failover")
	s.open()
	s.worker = func(data string) *exec.Cmd {
		return serving(t, orders{Store: s.url + "&rondo_call_timeout=2s", Data: data, Lease: *flagLease, Until: a.until})
	}
	for range 3 {
		s.hire()
	}
	s.await("all partitions to have owners", func(*store.View) bool { return s.owned() })
	s.pause(2 * time.Second)
	s.do(first.Crash)
	s.pause(2 * *flagLease)
	s.do(second.Promote)
	a.ends(t)
	s.settle(a)
}

// otherClock makes the server's clock ten minutes another one than that of the
// workers' machines, for a store.
const otherClock = `CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
	$$ SELECT pg_catalog.clock_timestamp() + interval '10 minutes' $$`

// TestWorkersWhoseClocksAreTenMinutesOffHarmNothing: they tell of it, and go by the
// database's clock: nobody is taken for dead who lives, who dies is found out, and
// timers fire.
func TestWorkersWhoseClocksAreTenMinutesOffHarmNothing(t *testing.T) {
	t.Parallel()
	server := newTCPServer(t)
	a := accounts{rows: 1200, rate: 300, until: filepath.Join(t.TempDir(), "until")}
	s := newSiege(t, server, "skewed", seed(), a)
	s.await("all partitions to have owners", func(*store.View) bool { return s.owned() })
	s.do(func() error { return do(server, otherClock) })
	s.do(s.net.Cut) // sessions look functions up anew
	for len(s.crews) < 4 {
		s.hire()
	}
	s.kill(0)
	s.await("all partitions to have owners", func(*store.View) bool { return s.owned() })
	for _, c := range s.crews {
		s.await("worker "+c.id()+" to tell of its clock", func(*store.View) bool {
			return strings.Contains(c.err.String(), "the clock of this machine is wrong") && strings.Contains(c.err.String(), "off_by=-10m0s")
		})
	}
	a.ends(t)
	s.settle(a)
}
