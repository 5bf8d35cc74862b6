package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/datagen"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
)

// server is the one that all tests of the package share.
var server *pgtest.Server

func TestMain(m *testing.M) {
	var err error
	if server, err = pgtest.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), goleak.Cleanup(func(code int) {
		if err := server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

var schemas atomic.Int64

// longest is after how long a test is a hang. It is no measure of speed.
const longest = 2 * time.Minute

// rig is a store that workers share. Each is a program of its own, as it were: with
// its own functions, folder of sources and connections.
type rig struct {
	t    *testing.T
	url  string
	look *pgstore.Store
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, url: server.URL(fmt.Sprintf("test_%d", schemas.Add(1)))}
	_, err := pgstore.MigrateUp(t.Context(), r.url, pgstore.Options{})
	r.must(err)
	r.look = r.open("test")
	t.Cleanup(func() { r.must(r.look.Close()) })
	return r
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) open(worker string) *pgstore.Store {
	r.t.Helper()
	s, err := pgstore.Open(context.Background(), r.url, pgstore.Options{Worker: worker, Logger: slog.New(slog.DiscardHandler)})
	r.must(err)
	return s
}

// program is what a process has to run pipelines with.
type program struct {
	functions []string // of its own, which pass rows on
	own       map[string]flow.Function
	queueless bool            // it knows no queues
	over      <-chan struct{} // made up rows end then; nil: when their count is reached
	specDir   string
	group     string
}

// passOn emits every row to the one output of its computation.
type passOn struct{ to string }

func (f passOn) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	n, err := rt.MessageBuilder(f.to).SetValue("n", m.Payload.Row()[0]).Finish()
	return errors.Join(err, out.AddMessage(n))
}

func (p *program) options(s *spec.Spec, dir string) (engine.Options, error) {
	o := engine.Options{Spec: s, Functions: &flow.Registry{}, Connectors: &connector.Registry{}, SpecDir: p.specDir, DataDir: dir, Log: slog.New(slog.DiscardHandler)}
	errs := []error{function.Register(o.Functions), file.Register(o.Connectors), o.Connectors.AddSource(datagen.Class, p.made)}
	if !p.queueless {
		errs = append(errs, queue.Register(o.Connectors))
	}
	for _, name := range p.functions {
		errs = append(errs, o.Functions.Register(name, func(s flow.Setup) (flow.Function, error) {
			for out := range s.Parents {
				return passOn{out}, nil
			}
			return nil, errors.New("no output")
		}))
	}
	for name, f := range p.own {
		errs = append(errs, o.Functions.Register(name, func(flow.Setup) (flow.Function, error) { return f, nil }))
	}
	return o, errors.Join(errs...)
}

// submit stores a pipeline, as a program that has all of it.
func (r *rig) submit(p *program, text string) error {
	s, err := spec.Parse("job.yson", []byte(text))
	if err != nil {
		return err
	}
	o, err := p.options(s, r.t.TempDir())
	r.must(err)
	made, err := engine.Prepare(r.t.Context(), o)
	if err != nil {
		return err
	}
	shared := r.open(cluster.NewID())
	defer shared.Close()
	return made.Submit(r.t.Context(), shared)
}

// hand is a worker that runs.
type hand struct {
	id   string
	log  *lines
	stop context.CancelFunc
	done chan error

	mu sync.Mutex
	p  *engine.Pipeline
}

func (h *hand) pipeline() *engine.Pipeline {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.p
}

// lines are what a worker logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// hire starts a worker, which ends with the test.
func (r *rig) hire(p *program) *hand {
	r.t.Helper()
	h := &hand{id: cluster.NewID(), log: &lines{}, done: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	shared, dir := r.open(h.id), r.t.TempDir()
	log := slog.New(slog.NewTextHandler(h.log, nil))
	go func() {
		_, err := cluster.Run(ctx, shared, cluster.Options{Worker: h.id, Group: p.group, Lease: time.Second, Log: log},
			func(ctx context.Context, s *spec.Spec, m *cluster.Member) (*engine.Summary, error) {
				o, err := p.options(s, dir)
				if err != nil {
					return nil, err
				}
				o.Member, o.Log = m, log
				made, err := engine.Prepare(ctx, o)
				if err != nil {
					return nil, err
				}
				h.mu.Lock()
				h.p = made
				h.mu.Unlock()
				return m.Work(ctx, made)
			})
		h.done <- errors.Join(err, shared.Close())
	}()
	r.t.Cleanup(func() {
		stop()
		<-h.done
		if r.t.Failed() {
			r.t.Logf("worker %s:\n%s", h.id, h.log)
		}
	})
	return h
}

// ended waits for a worker's end, and returns how it was.
func (r *rig) ended(h *hand) error {
	r.t.Helper()
	select {
	case err := <-h.done:
		h.done <- err
		return err
	case <-time.After(longest):
		r.t.Fatalf("worker %s does not end", h.id)
		return nil
	}
}

// await waits until something is so.
func (r *rig) await(what string, so func() bool) {
	r.t.Helper()
	for late := time.After(longest); !so(); {
		select {
		case <-late:
			r.t.Fatalf("waiting for %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// owners are the workers of a computation's partitions, by name.
func (r *rig) owners(computation string) map[string]string {
	r.t.Helper()
	parts, err := r.look.Partitions(r.t.Context())
	r.must(err)
	out := map[string]string{}
	for _, p := range parts {
		if p.Computation == computation {
			out[fmt.Sprint(p.Name, p.Lower)] = p.Worker
		}
	}
	return out
}

// pulled is how many rows a queue has.
func (r *rig) pulled(name string) (n uint64) {
	r.t.Helper()
	queues, err := r.look.Queues(r.t.Context())
	r.must(err)
	i := slices.IndexFunc(queues, func(q store.Queue) bool { return q.Name == name })
	if i < 0 {
		r.t.Fatalf("there is no queue %s", name)
	}
	for _, p := range queues[i].Partitions {
		n += p.Next
	}
	return n
}

// problem is what a worker's status says of a computation's assignment.
func (h *hand) problem(computation string) string {
	p := h.pipeline()
	if p == nil {
		return ""
	}
	for _, problem := range p.Problems() {
		if problem.Path == "/computations/"+computation+"/assignment" && !problem.Warning {
			return problem.Message
		}
	}
	return ""
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
