package function

import (
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

// mainJob is the rollup of the flights example.
const mainJob = `{
  aggregates = {flights = {op = count}; total_delay = {op = sum; column = delay}; last_flight = {op = last; column = date}};
  on_visit = {emit = out; evict = {idle = "14d"; emit = evicted}}}`

// benchJob returns the function, its runtime, and a message for each of n keys.
func benchJob(b *testing.B, n int) (*rollup, *flowtest.Runtime, []flow.Message) {
	b.Helper()
	r, setup := rollupOf(b, mainJob, []string{"date string required", "delay int64 required", "origin string required", "destination string required"},
		[]string{"origin string", "destination string", "flights int64", "total_delay int64", "last_flight string", "pass uint64", "final boolean"})
	in := setup.Inputs["in"]
	row := flowtest.Row(b, in, "2001/01/01 00:47", 66, "DTW", "LAS")
	messages := make([]flow.Message, n)
	for i := range messages {
		messages[i] = flowtest.Message("in", flowtest.Key(b, setup.Key, uint64(i), "DTW", "LAS"), flow.Time(978310020*time.Second), in, row)
	}
	mem := flowtest.NewRuntime(setup.Outputs)
	for _, m := range messages {
		if err := r.OnMessage(b.Context(), mem, m, mem); err != nil {
			b.Fatal(err)
		}
	}
	if err := mem.EndEpoch(); err != nil {
		b.Fatal(err)
	}
	return r, mem, messages
}

// BenchmarkOnMessage is a message for a key that has a state, with what the test
// runtime takes to find it.
func BenchmarkOnMessage(b *testing.B) {
	r, mem, messages := benchJob(b, 1000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := r.OnMessage(b.Context(), mem, messages[i%len(messages)], mem); err != nil {
			b.Fatal(err)
		}
	}
}

// sink is a collector that throws away.
type sink struct{}

func (sink) AddMessage(flow.OutputMessage) error { return nil }

func (s sink) AddTimer(flow.TimerRequest) error { return nil }

func (s sink) WithParents(...flow.MessageID) flow.OutputCollector { return s }

// BenchmarkOnVisit is a visit that emits a snapshot.
func BenchmarkOnVisit(b *testing.B) {
	r, mem, messages := benchJob(b, 1000)
	mem.SetWatermark("in", flow.Time(978310021*time.Second))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := r.OnVisit(b.Context(), mem, flow.Visit{Key: messages[i%len(messages)].Key, Pass: 1}, sink{}); err != nil {
			b.Fatal(err)
		}
	}
}
