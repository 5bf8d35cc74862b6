package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// clusterJob counts rows by key on several workers, and emits each count whenever
// its key is visited, into a queue.
const clusterJob = `{ name = shared; spec = {
  streams = {
    rows = {schema = [{name=key;type=string;required=%true}]};
    out = {schema = [{name=key;type=string}; {name=rows;type=int64}; {name=pass;type=uint64}; {name=final;type=boolean}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {made = {source_class_name = datagen; parameters = {
        partitions = 4; count = 120000; finite = %true; rate = 15000; keys = {count = 500}; columns = {key = {kind = key}}}}} };
    counter = { computation_class_name = transform; processing_function = rollup;
      processing_function_parameters = {aggregates = {rows = {op = count}}; on_visit = {emit = out}};
      group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(key)"}; {name=key;type=string}];
      input_stream_ids = [rows]; output_stream_ids = [out]; key_visitor_streams = {sweep = {}}; streams_dependency = {out = [sweep]};
      sinks = {out = {sink_class_name = queue; input_stream_ids = [out]; parameters = {path = out}}} } } };
  dynamic_spec = {computations = {counter = {desired_partition_count = 6; key_visitor_streams = {sweep = {period = "1s"}}}}} }`

const clusterRows = 120_000

// fleet is a cluster of rondo worker processes.
type fleet struct {
	t       *testing.T
	command string
	dir     string
	url     string
	look    *pgstore.Store // of the test, which runs nothing
	crews   []*crew
	all     []*crew
}

// crew is one worker process.
type crew struct {
	cmd *exec.Cmd
	out bytes.Buffer
	err lockedLog
	end chan struct{}
}

type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var idInLog = regexp.MustCompile(`msg=joined worker=(\S+)`)

// id is the worker's, once it has joined.
func (c *crew) id() string {
	if m := idInLog.FindStringSubmatch(c.err.String()); m != nil {
		return m[1]
	}
	return ""
}

func newFleet(t *testing.T, server *pgtest.Server, command, name, job string) *fleet {
	t.Helper()
	f := &fleet{t: t, command: command, dir: t.TempDir(), url: server.URL(name)}
	if _, err := pgstore.MigrateUp(t.Context(), f.url, pgstore.Options{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.dir, "job.yson")
	if err := os.WriteFile(file, []byte(job), 0o600); err != nil {
		t.Fatal(err)
	}
	f.run("submit", file, "--store", f.url)
	var err error
	if f.look, err = pgstore.Open(t.Context(), f.url, pgstore.Options{Worker: "test"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.look.Close()
		for _, c := range f.all {
			_ = c.cmd.Process.Kill()
			<-c.end
			if t.Failed() {
				t.Logf("worker %s:\n%s", c.id(), c.err.String())
			}
		}
	})
	return f
}

func (f *fleet) run(args ...string) []byte {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), longest)
	defer cancel()
	cmd := exec.CommandContext(ctx, f.command, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil {
		f.t.Fatalf("rondo %s: %v\n%s", strings.Join(args, " "), e, err.String())
	}
	return out.Bytes()
}

// hire starts a worker and waits until it has joined.
func (f *fleet) hire() {
	f.t.Helper()
	c := &crew{cmd: exec.Command(f.command, "worker", "--store", f.url, "--lease", "1s", "--data", filepath.Join(f.dir, fmt.Sprint("data", len(f.all)))), end: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.err
	if err := c.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		defer close(c.end)
		_ = c.cmd.Wait() // what it ended with is in its state
	}()
	f.crews, f.all = append(f.crews, c), append(f.all, c)
	f.await("a worker to join", func(*store.View) bool { return c.id() != "" || c.ended() })
}

func (c *crew) ended() bool {
	select {
	case <-c.end:
		return true
	default:
		return false
	}
}

// await looks at the cluster until something is so, or the pipeline is completed.
func (f *fleet) await(what string, so func(*store.View) bool) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), longest)
	defer cancel()
	for {
		v, err := f.look.View(ctx)
		if err == nil && (v.Unfinished == 0 || so(v)) {
			return
		}
		select {
		case <-ctx.Done():
			f.t.Fatalf("waiting for %s: %v", what, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// owns tells whether a worker has partitions.
func (f *fleet) owns(id string) bool {
	parts, err := f.look.Partitions(f.t.Context())
	return err == nil && slices.ContainsFunc(parts, func(p store.Partition) bool { return p.Worker == id })
}

// over tells that the pipeline is completed.
func (f *fleet) over() bool {
	v, err := f.look.View(f.t.Context())
	return err == nil && v.Unfinished == 0
}

// finish waits for the end of all workers.
func (f *fleet) finish() {
	f.t.Helper()
	for _, c := range f.crews {
		select {
		case <-c.end:
		case <-time.After(longest):
			f.t.Fatalf("worker %s does not end", c.id())
		}
		if !c.cmd.ProcessState.Success() {
			f.t.Errorf("worker %s: %s", c.id(), c.cmd.ProcessState)
		}
	}
}

// lose ends a worker in one of three ways and waits until the others know.
func (f *fleet) lose(rng *rand.Rand) {
	f.t.Helper()
	i := rng.IntN(len(f.crews))
	c := f.crews[i]
	gone := func(v *store.View) bool { return v.Worker(c.id()) == nil }
	switch rng.IntN(3) {
	case 0:
		f.t.Logf("kill -9 of %s", c.id())
		_ = c.cmd.Process.Kill()
	case 1:
		f.t.Logf("%s leaves", c.id())
		_ = c.cmd.Process.Signal(syscall.SIGTERM)
	case 2:
		f.t.Logf("%s is frozen, and wakes", c.id())
		_ = c.cmd.Process.Signal(syscall.SIGSTOP)
		f.await("a frozen worker to be given up", gone)
		_ = c.cmd.Process.Signal(syscall.SIGCONT)
		f.await("a worker that woke to be back", func(v *store.View) bool { return !gone(v) || c.ended() })
		return
	}
	f.await("a lost worker to be given up", gone)
	f.crews = slices.Delete(f.crews, i, i+1)
	f.hire()
}

// visited is a row of the queue.
type visited struct {
	Row struct {
		Key   string
		Rows  int64
		Pass  uint64
		Final bool
	}
}

// check reads what came out: the last counts of all keys are all rows, and no key
// was visited twice in a pass, nor had fewer rows than before.
func (f *fleet) check(samePasses bool) {
	f.t.Helper()
	if err := f.look.Close(); err != nil { // the command wants the store for itself
		f.t.Fatal(err)
	}
	text := f.run("queue", "pull", filepath.Join(f.dir, "job.yson"), "out", "--store", f.url, "--output", "json")
	last, seen := map[string]visited{}, map[string]bool{}
	var total int64
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var v visited
		if err := d.Decode(&v); err != nil {
			f.t.Fatal(err)
		}
		pass := fmt.Sprint(v.Row.Key, " ", v.Row.Pass)
		if samePasses && seen[pass] {
			f.t.Errorf("key %s is visited twice in pass %d", v.Row.Key, v.Row.Pass)
		}
		if v.Row.Rows < last[v.Row.Key].Row.Rows {
			f.t.Errorf("key %s has %d rows after %d", v.Row.Key, v.Row.Rows, last[v.Row.Key].Row.Rows)
		}
		seen[pass], last[v.Row.Key] = true, v
	}
	for key, v := range last {
		if total += v.Row.Rows; !v.Row.Final {
			f.t.Errorf("key %s has no final visit", key)
		}
	}
	if total != clusterRows {
		f.t.Errorf("%d rows are counted, %d were made", total, clusterRows)
	}
}

// newTrio is a cluster of three, and a source of moments.
func newTrio(t *testing.T, server *pgtest.Server, name string) (*fleet, *rand.Rand) {
	t.Helper()
	s := seed()
	t.Logf("rerun with -seed %d", s)
	f := newFleet(t, server, buildCommand(t), name, clusterJob)
	for range 3 {
		f.hire()
	}
	return f, rand.New(rand.NewPCG(s, 1))
}

// TestWorkersThatComeAndGoLoseAndRepeatNothing: three workers share a pipeline;
// they are killed, frozen until others have given them up, and told to leave, at
// random moments, the controller as often as others.
func TestWorkersThatComeAndGoLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	f, rng := newTrio(t, newServer(t), "workers")
	faults := 0
	for ; faults < *flagKills && !f.over(); faults++ {
		f.lose(rng)
		c := f.crews[rng.IntN(len(f.crews))]
		f.await("a worker to have partitions", func(*store.View) bool { return f.owns(c.id()) })
	}
	f.finish()
	t.Logf("%d faults", faults)
	f.check(true)
}

// counts are the numbers of partitions that a pipeline goes through.
var counts = []int{3, 8, 2, 16}

// repartition asks for another number of partitions, as rondo spec set-dynamic
// would, and waits until they are there.
func (f *fleet) repartition(n int) {
	f.t.Helper()
	f.t.Logf("%d partitions", n)
	for {
		p, err := f.look.Pipeline(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		p.Dynamic = desired.ReplaceAllString(p.Dynamic, fmt.Sprint("${1}", n))
		switch err := f.look.SavePipeline(f.t.Context(), p); {
		case errors.Is(err, store.ErrConflict):
			continue
		case err != nil:
			f.t.Fatal(err)
		}
		break
	}
	f.await("partitions to be replaced", func(*store.View) bool {
		parts, err := f.look.Partitions(f.t.Context())
		have := slices.DeleteFunc(parts, func(p store.Partition) bool { return p.Computation != "counter" })
		return err == nil && len(have) == n
	})
}

var desired = regexp.MustCompile(`(desired_partition_count"?=)\d+`)

// TestPartitionsAreReplacedWhileWorkersComeAndGo: their number changes again and
// again, by whoever leads at the moment, while workers are lost.
func TestPartitionsAreReplacedWhileWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	f, rng := newTrio(t, newServer(t), "replaced")
	done := 0
	for ; done < *flagKills && !f.over(); done++ {
		f.repartition(counts[done%len(counts)])
		if done%2 == 1 {
			f.lose(rng)
		}
	}
	f.finish()
	t.Logf("%d times", done)
	f.check(false)
}

// TestADatabaseThatStopsMakesNoWorkerDead: it is gone for longer than a lease, twice.
// Whoever beats first afterwards has heard nobody meanwhile, and takes nobody for
// dead.
func TestADatabaseThatStopsMakesNoWorkerDead(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	f, _ := newTrio(t, server, "stopped")
	for range 2 {
		f.await("all workers to have partitions", func(*store.View) bool {
			return !slices.ContainsFunc(f.crews, func(c *crew) bool { return !f.owns(c.id()) })
		})
		if err := server.Crash(); err != nil {
			t.Fatal(err)
		}
		<-time.After(2500 * time.Millisecond) // leases of 1 s end
		if err := server.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	f.finish()
	for _, c := range f.all {
		if strings.Contains(c.err.String(), "taken for dead") {
			t.Errorf("worker %s takes others for dead", c.id())
		}
	}
	f.check(true)
}
