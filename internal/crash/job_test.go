package crash

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const (
	flights  = "../../examples/flights/data/flights-20k.jsonl"
	specFile = "../../examples/flights/pipeline.yson"
)

// shape is what varies between jobs; zero values are the defaults.
type shape struct {
	partitions int  // 3
	inbox      int  // inbox_row_limit, as the product's
	rows       int  // max_rows_per_batch, 50: many epochs and kills
	moving     bool // partitions are replaced, and pass numbers skip some when they merge
}

// job is one flights job, which lives through many processes.
type job struct {
	t       *testing.T
	rng     *rand.Rand
	shape   shape
	dir     string
	spec    string
	data    string
	command string // the rondo command; "" is a child
	store   string // the URL of a PostgreSQL store; "" is the data folder
	faulty  bool   // its store has faults, which it may complain of
	// figures checks the output and the summary of a job at its end.
	figures func(*job, *summary)
}

// newJob makes the spec file of a job and an empty data folder.
func newJob(t *testing.T, seed uint64, s shape) *job {
	t.Helper()
	name := fnv.New64()
	name.Write([]byte(t.Name()))
	s.partitions, s.inbox, s.rows = cmp.Or(s.partitions, 3), cmp.Or(s.inbox, 100_000), cmp.Or(s.rows, 50)
	j := &job{t: t, rng: rand.New(rand.NewPCG(seed, name.Sum64())), shape: s, dir: folder(t)}
	j.spec, j.data = filepath.Join(j.dir, "job.yson"), filepath.Join(j.dir, "data")
	j.figures = func(j *job, s *summary) { checkOutput(j.t, j.data, s, j.shape.moving) }
	if err := os.WriteFile(j.spec, []byte(specText(t, s)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d; rerun: go test ./internal/crash -run '^%s$' -seed %d -kills %d -keep", seed, strings.ReplaceAll(t.Name(), "/", "$/^"), seed, min(*flagKills, killsPerJob))
		}
	})
	return j
}

// folder returns an empty folder, which stays after a failure if asked.
func folder(t *testing.T) string {
	t.Helper()
	if !*flagKeep {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("", "crash-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("data folder: %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// specText is the example's spec with another dynamic spec: many small epochs
// and many passes, so that kills have something to hit.
func specText(t *testing.T, s shape) string {
	t.Helper()
	text, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	input, err := filepath.Abs(flights)
	if err != nil {
		t.Fatal(err)
	}
	static, _, found := strings.Cut(string(text), `"dynamic_spec" =`)
	if path := `"data/flights-20k.jsonl"`; !found || strings.Count(static, path) != 1 {
		t.Fatalf("%s is not as expected", specFile)
	}
	static = strings.Replace(static, `"data/flights-20k.jsonl"`, strconv.Quote(input), 1)
	return static + fmt.Sprintf(`"dynamic_spec" = {"computations" = {
    "reader" = {"max_rows_per_batch" = %d};
    "routes" = {"max_rows_per_batch" = %d; "inbox_row_limit" = %d;
      "parameters" = {"desired_partition_count" = %d; "min_partition_count" = 1};
      "key_visitor_streams" = {"sweep" = {"period" = "20ms"}}}}}}`, s.rows, s.rows, s.inbox, s.partitions)
}

// start begins the job's next life. Orders but for the files are the caller's.
func (j *job) start(o orders) *process {
	j.t.Helper()
	if j.command != "" {
		return start(j.t, j.faulty, j.command, nil, j.arguments()...)
	}
	o.Spec, o.Data, o.Store = j.spec, j.data, j.store
	text, err := json.Marshal(o)
	if err != nil {
		j.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		j.t.Fatal(err)
	}
	return start(j.t, j.faulty, self, []string{ordersVariable + "=" + string(text)})
}

func (j *job) arguments() []string {
	args := []string{"run", "--data", j.data, "--output", "json", j.spec}
	if j.store != "" {
		args = append(args, "--store", j.store)
	}
	return args
}

// complete lets the job run to its end, checks everything, and demands that the
// same command run once more changes nothing and says the same.
func (j *job) complete(o orders) *process {
	j.t.Helper()
	p := j.start(o)
	j.check(p.finish())
	return p
}

func (j *job) check(s *summary) {
	j.t.Helper()
	j.figures(j, s)
	j.audit()
	before := stamps(j.t, j.data)
	if again := j.start(orders{}).finish(); *again != *s {
		j.t.Fatalf("run once more, the job says %+v, and said %+v", *again, *s)
	}
	if after := stamps(j.t, j.data); !maps.Equal(after, before) {
		j.t.Fatalf("run once more, the job changed its files: %+v, before %+v", after, before)
	}
}

// audit looks at the data folder between two lives.
func (j *job) audit() {
	j.t.Helper()
	s, err := openStore(j.t.Context(), j.data, j.store)
	if err != nil {
		j.t.Fatal(err)
	}
	err = audit(j.t.Context(), s, j.data, j.shape.rows)
	if closeErr := s.Close(); err != nil || closeErr != nil {
		j.t.Fatalf("the data folder: %v %v", err, closeErr)
	}
}
