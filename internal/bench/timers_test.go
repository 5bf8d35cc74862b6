package bench

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

const timersText = `{ name = timers; spec = {
  streams = {rows = {schema = [{name=key;type=uint64;required=%%true}]}};
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {generate = {source_class_name = generate}} };
    counter = { computation_class_name = transform; processing_function = alarm;
      group_by_schema = [{name=hash;type=uint64;required=%%true;expression="farm_hash(key)"}; {name=key;type=uint64}];
      input_stream_ids = [rows]; timer_streams = {alarm = {}} } } };
  dynamic_spec = {computations = {counter = {desired_partition_count = 8}}} }`

// alarm sets a timer for each message, beyond every watermark but that of a
// completed stream. set tells the timers of a key apart; it goes on from the messages
// that former runs had.
type alarm struct{ set int64 }

func (a *alarm) OnMessage(_ context.Context, _ flow.Runtime, _ flow.Message, out flow.OutputCollector) error {
	a.set++
	return out.AddTimer(flow.TimerRequest{TriggerTimestamp: flow.Time(1<<62 + a.set*7919%1_000_003*1_000_000 + a.set)})
}

func (a *alarm) OnTimer(context.Context, flow.Runtime, flow.Timer, flow.OutputCollector) error {
	return nil
}

func timersPipeline(t testing.TB, s Setup, former int) *engine.Pipeline {
	parsed, err := spec.Parse("timers.yson", fmt.Appendf(nil, timersText))
	if err != nil {
		t.Fatal(err)
	}
	var functions flow.Registry
	var connectors connector.Registry
	if err := functions.Register("alarm", func(flow.Setup) (flow.Function, error) { return &alarm{int64(former)}, nil }); err != nil {
		t.Fatal(err)
	}
	if err := connectors.AddSource("generate", func(connector.Setup) (connector.Source, error) { return generator{s}, nil }); err != nil {
		t.Fatal(err)
	}
	p, err := engine.Prepare(t.Context(), engine.Options{Spec: parsed, Functions: &functions, Connectors: &connectors, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// timerFigures is what many timers cost: the time to set them, to start on them
// until something more was processed, and to fire them; and the bytes that the
// jobs hold for them.
type timerFigures struct {
	set, start, fire time.Duration
	held             int64
}

func measureTimers(t testing.TB, n, keys int) (f timerFigures) {
	s, err := pebblestore.Open(t.TempDir(), pebblestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	setup := Setup{Sources: sources, Keys: keys, Messages: n, Endless: true}
	f.set, _ = reachTimers(t, s, setup, 0)
	setup.Messages += 100
	f.start, f.held = reachTimers(t, s, setup, n)
	setup.Endless = false
	began := time.Now()
	sum, err := timersPipeline(t, setup, 0).Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if f.fire = time.Since(began); sum.Timers != uint64(setup.Messages) || !sum.Completed {
		t.Errorf("%d of %d timers fired; completed: %v", sum.Timers, setup.Messages, sum.Completed)
	}
	return f
}

// reachTimers runs a pipeline until all messages are taken, and says what its jobs
// hold then: what is live less what is live after they ended.
func reachTimers(t testing.TB, s store.Store, setup Setup, former int) (took time.Duration, held int64) {
	p := timersPipeline(t, setup, former)
	began := time.Now()
	r := start(t.Context(), p, s)
	_, at := r.until(func(s *engine.Status) bool { return consumed(s) == uint64(setup.Messages) })
	with := live()
	p.Pause()
	r.until(func(*engine.Status) bool { return false })
	if r.err != nil {
		t.Fatal(r.err)
	}
	return at.Sub(began), with - live()
}

func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// ways are how timers may lie: spread, or all of one key and thus one partition.
var ways = []struct {
	name string
	keys int
}{{"many keys", 100_000}, {"one key", 1}}

// BenchmarkTimers: one iteration is a million timers. They are to be bounded in memory,
// and not to be noticed at a start.
func BenchmarkTimers(b *testing.B) {
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			const n = 1_000_000
			for b.Loop() {
				f := measureTimers(b, n, way.keys)
				b.ReportMetric(n/f.set.Seconds(), "set/s")
				b.ReportMetric(n/f.fire.Seconds(), "fired/s")
				b.ReportMetric(float64(f.start.Milliseconds()), "start-ms")
				b.ReportMetric(float64(f.held)/(1<<20), "held-MiB")
				if f.held > mostHeld {
					b.Errorf("the jobs hold %d bytes for %d timers, at most %d", f.held, n, mostHeld)
				}
				if most := 500 * time.Millisecond; f.start > most {
					missed(b, "the start took %s with %d timers, want less than %s", f.start, n, most)
				}
			}
		})
	}
}

// mostHeld bounds what the jobs hold, whatever the number of timers.
const mostHeld = 24 << 20

// TestTimersHaveNoLimit: more than the number at which others fail are set, held in
// bounded memory, and fire once each.
func TestTimersHaveNoLimit(t *testing.T) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			f := measureTimers(t, 251_000, way.keys)
			t.Logf("set in %s, started on in %s, fired in %s, %d KiB held", f.set, f.start, f.fire, f.held>>10)
			if f.held > mostHeld {
				t.Errorf("the jobs hold %d bytes for 251 000 timers, at most %d", f.held, mostHeld)
			}
		})
	}
}
