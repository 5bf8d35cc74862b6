package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/pgstore"
	"golang.org/x/sync/errgroup"
)

// ordersVariable is the environment variable that makes a process a child.
const ordersVariable = "RONDO_CRASH_ORDERS"

// orders are what a child is to do. They are no part of the job: those of two
// lives may differ.
type orders struct {
	// Spec is the spec file, Data the data folder; Store is the URL of the store if
	// that is not in the folder.
	Spec, Data, Store string
	// Hold is a regular expression. The goroutine that reaches the point with
	// the Nth line that matches it stops there; the line "held" follows.
	Hold string
	Nth  int
	// Stall: the last line of the source waits for the line "release" on stdin.
	Stall bool
	// Slow names who takes what it gets only while producers are held back for
	// it: "function", "sink" or nobody.
	Slow string
	// Layouts are numbers of partitions for the computation Relaid, one after the
	// other, each after Every commits of it; AtFinal: when a final pass has begun.
	Relaid  string // "" is routes
	Layouts []int
	Every   int
	AtFinal bool
	// Lease makes the child a worker of a cluster, whose source ends once there is the
	// file Until; "" waits for none.
	Lease time.Duration
	Until string
}

// released is what a test writes to a child's stdin to end a stall.
const released = "release"

// smallTables makes Pebble write files and compact them all through a job, so
// that kills hit that too.
const smallTables = 128 << 10

// child does the orders and returns the exit code.
func child(text string) int {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	release := make(chan struct{})
	go obey(release)
	run := func() error { return work(context.Background(), o, release) }
	if o.Lease > 0 {
		run = func() error { return serve(o) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// obey waits for the release. A child whose test is gone has nobody to work for.
func obey(release chan<- struct{}) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == released {
			close(release)
		}
	}
	os.Exit(3)
}

// work runs the job of the orders to its end.
func work(ctx context.Context, o orders, release <-chan struct{}) (err error) {
	r, err := newReporter(os.Stdout, o.Hold, o.Nth)
	if err != nil {
		return err
	}
	r.say("start")
	text, err := os.ReadFile(o.Spec)
	if err != nil {
		return err
	}
	sp, err := spec.Parse(o.Spec, text)
	if err != nil {
		return err
	}
	limits := limitsOf(sp)
	w := wrappers{reporter: r, pressure: newPressure(r, limits), slow: o.Slow, relayouter: newRelayouter(o)}
	if o.Stall {
		w.gate = release
	}
	p, err := w.prepare(ctx, sp, o)
	if err != nil {
		return err
	}
	s, err := openStore(ctx, o.Data, o.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r.say("opened")
	if err := audit(ctx, s, o.Data, limits.rows); err != nil {
		return fmt.Errorf("found at start: %w", err)
	}
	moves, end := errgroup.WithContext(ctx)
	end, cancel := context.WithCancel(end)
	moves.Go(func() error { return w.relayouter.run(end, p, r.say) })
	sum, err := p.Run(ctx, &tap{Store: s, reporter: r, pressure: w.pressure, relayouter: w.relayouter})
	cancel()
	if err := errors.Join(err, moves.Wait()); err != nil {
		return err
	}
	return r.sayJSON(newSummary(sum))
}

func openStore(ctx context.Context, data, url string) (store.Store, error) {
	if url != "" {
		return pgstore.Open(ctx, url, pgstore.Options{})
	}
	return pebblestore.Open(filepath.Join(data, "store"), pebblestore.Options{MemTableBytes: smallTables})
}

// prepare makes the pipeline with the wrappers around everything real.
func (w *wrappers) prepare(ctx context.Context, sp *spec.Spec, o orders) (*engine.Pipeline, error) {
	options := engine.Options{
		Spec: sp, Functions: &flow.Registry{}, Connectors: &connector.Registry{},
		SpecDir: filepath.Dir(o.Spec), DataDir: o.Data,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	if err := w.register(options.Functions, options.Connectors); err != nil {
		return nil, err
	}
	return engine.Prepare(ctx, options)
}

// summary has the fields of the command's JSON summary that outlast a run.
type summary struct {
	Completed bool   `json:"completed"`
	Messages  uint64 `json:"messages"`
	Epochs    uint64 `json:"epochs"`
	Visits    uint64 `json:"visits"`
	Passes    uint64 `json:"passes"`
	Evictions int64  `json:"evictions"`
	Timers    uint64 `json:"timers,omitempty"` // the command does not say
}

func newSummary(s *engine.Summary) summary {
	return summary{s.Completed, s.Messages, s.Epochs, s.Visits, s.Passes, s.Counts["evictions"], s.Timers}
}

// limits are what the spec says of the sizes of epochs and inboxes.
type limits struct{ rows, inbox int }

func limitsOf(sp *spec.Spec) limits {
	d := sp.Dynamic.Computation("routes") // all defaults in a job of another kind
	return limits{rows: d.MaxRowsPerBatch, inbox: int(d.InboxRowLimit)}
}
