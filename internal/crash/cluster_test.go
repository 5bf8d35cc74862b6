package crash

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
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
func (f *fleet) check() {
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
		if seen[pass] {
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

// counts are the numbers of partitions that a pipeline goes through.
var counts = []int{3, 8, 2, 16}

// ask asks for another number of partitions, as rondo spec set-dynamic would.
func (f *fleet) ask(n int) {
	f.t.Helper()
	f.t.Logf("%d partitions", n)
	f.await("another number of partitions to be stored", func(*store.View) bool {
		p, err := f.look.Pipeline(f.t.Context())
		if err != nil {
			return false
		}
		p.Dynamic = desired.ReplaceAllString(p.Dynamic, fmt.Sprint("${1}", n))
		return f.look.SavePipeline(f.t.Context(), p) == nil
	})
}

// repartition asks for another number of partitions, and waits until they are
// there.
func (f *fleet) repartition(n int) {
	f.t.Helper()
	f.ask(n)
	f.await("partitions to be replaced", func(*store.View) bool { return len(f.counters()) == n })
}

// counters are the partitions of the computation that is repartitioned.
func (f *fleet) counters() []store.Partition {
	parts, err := f.look.Partitions(f.t.Context())
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(parts, func(p store.Partition) bool { return p.Computation != cmp.Or(f.resized, "counter") })
}

// inFinalPass tells that a partition is in its final pass.
func (f *fleet) inFinalPass() bool {
	return slices.ContainsFunc(f.counters(), func(p store.Partition) bool {
		rows, err := f.look.Visitors(f.t.Context(), p.ID)
		return err == nil && partition.StoredVisits("sweep", rows).Final()
	})
}

var desired = regexp.MustCompile(`(desired_partition_count"?=)\d+`)

// TestPartitionsAreReplacedWhileWorkersComeAndGo: their number changes again and
// again, by whoever leads at the moment, while workers are lost.
func TestPartitionsAreReplacedWhileWorkersComeAndGo(t *testing.T) {
	t.Parallel()
	s := seed()
	t.Logf("rerun with -seed %d", s)
	f, rng := newTrioOf(t, newServer(t), "replaced", clusterJob), rand.New(rand.NewPCG(s, 1))
	done := 0
	for ; done < min(*flagKills, len(counts)) && !f.over(); done++ {
		f.repartition(counts[done%len(counts)])
		if done%2 == 1 {
			f.lose(rng)
		}
	}
	f.finish()
	t.Logf("%d times", done)
	f.check()
}

// TestADatabaseThatStopsMakesNoWorkerDead: it is gone for longer than a lease, twice.
// Whoever beats first afterwards has heard nobody meanwhile, and takes nobody for
// dead.
func TestADatabaseThatStopsMakesNoWorkerDead(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	f := newFleet(t, server, buildCommand(t), "stopped", clusterJob)
	f.lease = "5s" // who gets no processor for so long is rightly taken for dead
	for range 3 {
		f.hire()
	}
	for range 2 {
		f.await("all workers to have partitions", func(*store.View) bool {
			return !slices.ContainsFunc(f.crews, func(c *crew) bool { return !f.owns(c.id()) })
		})
		if err := server.Crash(); err != nil {
			t.Fatal(err)
		}
		<-time.After(6 * time.Second) // leases end
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
	f.check()
}

// TestFiguresAreExactOnThreeWorkersThroughFaults: the flights job, whose sinks write
// a part for each of their owners, each in a folder of its own. Workers, the database
// and the network fail, and the numbers of workers and partitions change.
func TestFiguresAreExactOnThreeWorkersThroughFaults(t *testing.T) {
	t.Parallel()
	server := newTCPServer(t)
	f := newFleet(t, server, buildCommand(t), "flights", "")
	f.resized = "routes"
	f.run("submit", specFile, "--store", f.url, "--set", "computations.routes.max_rows_per_batch=10", "--set", "computations.reader.max_rows_per_batch=10")
	s := f.besiege(server, "flights", seed(), func(url, data string) *exec.Cmd {
		return exec.Command(f.command, "worker", "--store", url, "--lease", flagLease.String(), "--data", data, "--spec-dir", filepath.Dir(specFile))
	})
	for s.faults < *flagKills && !s.over() {
		s.strike()
	}
	s.finish()
	out := filepath.Join(f.dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, sink := range []string{"snapshots", "evicted"} {
		text := f.run("sink", "cat", sink, "--store", f.url)
		if err := os.WriteFile(filepath.Join(out, sink+".jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d faults; parts:\n%s", s.faults, f.run("sink", "parts", "--store", f.url))
	checkFiles(t, f.dir, s.moving)
}
