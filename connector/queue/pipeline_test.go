package queue_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/storetest"
)

var (
	seeds     = flag.Int("seeds", 15, "how many random histories to run")
	firstSeed = flag.Uint64("first-seed", 1, "the first of them: `-run NAME -seeds 1 -first-seed N` runs one again")
)

// forSeeds runs a history for each seed, in virtual time.
func forSeeds(t *testing.T, f func(t *testing.T, rng *rand.Rand)) {
	for i := range *seeds {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

// copySpec is a pipeline that numbers the rows of each key and writes them from
// queue "in" to queue "out".
const copySpec = `{ spec = {
  streams = {
    rows = {schema = [{name=key;type=string;required=%true}; {name=value;type=int64;required=%true}]};
    numbered = {schema = [{name=key;type=string}; {name=value;type=int64}; {name=number;type=int64}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows];
      source_streams = {in = {source_class_name = "NYT::NFlow::TQueueSource"; parameters = {queue_path = "//in"; consumer_path = "//me"; finite = %true}}} };
    copier = { computation_class_name = transform; processing_function = number;
      group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(key)"}; {name=key;type=string}];
      input_stream_ids = [rows]; output_stream_ids = [numbered];
      sinks = {out = {sink_class_name = "NYT::NFlow::TSyncQueueSink"; input_stream_ids = [numbered];
        parameters = {queue_path = "//out"; partitions = 3; partition_by = [key]}}} } } };
  dynamic_spec = {computations = {reader = {max_rows_per_batch = 37; max_bytes_per_batch = 500}; copier = {desired_partition_count = 4; max_rows_per_batch = 23}}} }`

// chainSpec adds a computation that reads "out" in the same pipeline, for ever,
// and numbers its rows again.
var chainSpec = strings.NewReplacer(
	"rows = {schema", `again = {schema = [{name=key;type=string;required=%true}; {name=value;type=int64;required=%true}; {name=number;type=int64;required=%true}]};
    rows = {schema`,
	"reader = { computation_class_name = source", `second = { computation_class_name = source_passthrough; output_stream_ids = [again];
      source_streams = {out = {source_class_name = queue; parameters = {path = "//out"}}} };
    tally = { computation_class_name = transform; processing_function = check;
      group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(key)"}; {name=key;type=string}];
      input_stream_ids = [again] };
    reader = { computation_class_name = source`,
).Replace(copySpec)

// numberer numbers the messages of a key; with check it wants them to have the
// numbers that it gives, which is so if nothing is lost, repeated or out of order.
type numberer struct {
	state *flow.State[int64]
	check bool
	took  time.Duration
}

func (n *numberer) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	<-time.After(n.took)
	h := n.state.Open(rt, m)
	count, _, err := h.Get()
	if err != nil {
		return err
	}
	rt.Count("numbered", 1)
	if n.check {
		if got := m.Payload.Int64("number"); got != count {
			rt.Count("wrong", 1)
		}
		return h.Set(count + 1)
	}
	built, err := rt.MessageBuilder("numbered").Set("key", m.Payload.String("key")).Set("value", m.Payload.Int64("value")).Set("number", count).Finish()
	return errors.Join(err, h.Set(count+1), out.AddMessage(built))
}

// prepare checks a pipeline whose handlers take virtual time.
func prepare(t *testing.T, text string, took time.Duration) *engine.Pipeline {
	t.Helper()
	s, err := spec.Parse("queues.yson", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var functions flow.Registry
	var connectors connector.Registry
	factory := func(check bool) flow.Factory {
		return func(flow.Setup) (flow.Function, error) {
			return &numberer{state: flow.NewState("/count", flow.CBOR[int64]()), check: check, took: took}, nil
		}
	}
	err = errors.Join(queue.Register(&connectors), functions.Register("number", factory(false)), functions.Register("check", factory(true)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Prepare(t.Context(), engine.Options{Spec: s, Functions: &functions, Connectors: &connectors})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fill pushes n rows over some keys into queue "//in".
func fill(t *testing.T, s store.Queues, n, keys int) {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "{\"key\":\"k%d\",\"value\":%d}\n", i%keys, i)
	}
	o := queue.PushOptions{Now: time.Now, Queue: "//in", Partitions: 2, By: []string{"key"}}
	if _, err := queue.Push(t.Context(), s, strings.NewReader(text.String()), o); err != nil {
		t.Fatal(err)
	}
}

// checkOut wants every row of "//in" in "//out" once, each key in one partition
// and in order.
func checkOut(t *testing.T, s store.Queues, n, keys int) {
	t.Helper()
	qs, err := s.Queues(t.Context())
	if err != nil || len(qs) != 2 {
		t.Fatalf("queues %+v (%v)", qs, err)
	}
	next := map[string]int{} // what key has come so far
	total := 0
	for i := range qs[1].Partitions {
		here := map[string]bool{}
		for row, err := range queue.Rows(t.Context(), s, store.QueueRequest{Queue: "//out", Partition: i}) {
			if err != nil {
				t.Fatal(err)
			}
			var key string
			var value, number int
			if _, err := fmt.Sscanf(string(row.Value), `{"key":%q,"value":%d,"number":%d}`, &key, &value, &number); err != nil {
				t.Fatalf("row %s: %v", row.Value, err)
			}
			if next[key] > 0 && !here[key] {
				t.Errorf("key %s is in two partitions", key)
			}
			here[key] = true
			if number != next[key] || key != fmt.Sprintf("k%d", value%keys) || value/keys != number {
				t.Errorf("row %s, want number %d of key %s", row.Value, next[key], key)
			}
			next[key]++
			total++
		}
	}
	if total != n || len(next) != keys {
		t.Errorf("%d rows of %d keys, want %d of %d", total, len(next), n, keys)
	}
	for _, c := range qs[0].Consumers {
		if end := qs[0].Partitions[c.Partition].Next; c.Consumer != "//me" || c.Offset != end {
			t.Errorf("consumer %+v, want //me at %d", c, end)
		}
	}
	if len(qs[0].Consumers) != 2 {
		t.Errorf("consumers %+v, want one for each partition", qs[0].Consumers)
	}
}

func someFault(rng *rand.Rand, c storetest.Call) storetest.Fault {
	switch c.Op {
	case storetest.OpCommit:
		switch rng.IntN(40) {
		case 0:
			return storetest.Unavailable()
		case 1:
			return storetest.Lost(true)
		case 2:
			return storetest.Lost(false)
		case 3:
			return storetest.Fails(store.ErrFenced)
		}
	case storetest.OpReadQueue, storetest.OpGetStates, storetest.OpReadInbox, storetest.OpRaiseGeneration:
		if rng.IntN(25) == 0 {
			return storetest.Unavailable()
		}
	}
	return storetest.Fault{}
}

// live runs a pipeline until its process dies, and reports whether it was
// completed before.
func live(t *testing.T, text string, s store.Store, rng *rand.Rand, most time.Duration) bool {
	life, cancel := context.WithTimeout(t.Context(), time.Duration(rng.Int64N(int64(most))))
	defer cancel()
	started := false // what the engine does before jobs run is not repeated by it
	faults := storetest.NewFaults(s, func(c storetest.Call) storetest.Fault {
		if started = started || c.Op == storetest.OpRaiseGeneration; !started {
			return storetest.Fault{}
		}
		return someFault(rng, c)
	})
	stop := context.AfterFunc(life, faults.Kill)
	defer stop()
	sum, err := prepare(t, text, time.Millisecond).Run(life, faults)
	return err == nil && sum.Completed
}

// trimConsumed removes what is consumed of queue "//in".
func trimConsumed(t *testing.T, s store.Queues) {
	t.Helper()
	qs, err := s.Queues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range qs[0].Partitions {
		if before, ok := queue.Consumed(qs[0], i); ok {
			err = errors.Join(err, s.TrimQueue(t.Context(), "//in", i, before))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// D-25: what a sink in the store appends is part of the epoch; commits that fail,
// are fenced or lose their outcome, processes that die, and rows that are trimmed
// when they are consumed, neither lose nor repeat a row, nor change the order of a
// key.
func TestRowsGoFromQueueToQueueExactlyOnce(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		s := storetest.NewModel()
		const n, keys = 400, 31
		fill(t, s, n, keys)
		for range 8 {
			if live(t, copySpec, s, rng, 150*time.Millisecond) {
				break
			}
			if rng.IntN(2) == 0 {
				trimConsumed(t, s)
			}
		}
		sum, err := prepare(t, copySpec, 0).Run(t.Context(), s)
		if err != nil || !sum.Completed || sum.Messages != n || sum.Counts["numbered"] != n {
			t.Fatalf("summary %+v (%v), want %d messages", sum, err, n)
		}
		checkOut(t, s, n, keys)
	})
}

// Two computations of one pipeline meet through a queue.
func TestAChainThroughAQueueCountsExactly(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		s := storetest.NewModel()
		const n, keys = 300, 17
		fill(t, s, n, keys)
		for range 5 {
			live(t, chainSpec, s, rng, 200*time.Millisecond)
		}
		p := prepare(t, chainSpec, 0)
		time.AfterFunc(2*time.Minute, func() { _ = p.Stop() }) // it never pauses
		sum, err := p.Run(t.Context(), s)
		if err != nil || sum.Completed || sum.Messages != 2*n || sum.Counts["numbered"] != 2*n || sum.Counts["wrong"] != 0 {
			t.Fatalf("summary %+v (%v), want %d messages by each reader, all with their numbers", sum, err, n)
		}
		qs, err := s.Queues(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		read := uint64(0)
		for _, c := range qs[1].Consumers {
			read += c.Offset
		}
		if c := qs[1].Consumers; len(c) != 3 || c[0].Consumer != "second/out" || read != n {
			t.Errorf("consumers of the second queue: %+v, want second/out in three partitions at %d rows together", c, n)
		}
	})
}

// What has come while no pipeline ran is read by the next run, on a disk.
func TestQueuesOutliveTheirRunsOnDisk(t *testing.T) {
	fs := vfs.NewMem()
	const n, keys = 5000, 97
	for _, step := range []func(s store.Store){
		func(s store.Store) { fill(t, s, n, keys) },
		func(s store.Store) {
			sum, err := prepare(t, copySpec, 0).Run(t.Context(), s)
			if err != nil || !sum.Completed || sum.Messages != n {
				t.Fatalf("summary %+v (%v)", sum, err)
			}
		},
		func(s store.Store) { checkOut(t, s, n, keys) },
	} {
		s, err := pebblestore.Open("data", pebblestore.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		step(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARunWithoutItsQueueSaysHowToMakeItAndChangesNothing(t *testing.T) {
	s := storetest.NewModel()
	_, err := prepare(t, copySpec, 0).Run(t.Context(), s)
	if !errors.Is(err, store.ErrNoQueue) || !strings.Contains(err.Error(), "rondo queue push") || !strings.Contains(err.Error(), "computation reader") {
		t.Errorf("got %v", err)
	}
	parts, err := s.Partitions(t.Context())
	if err != nil || len(parts) > 0 {
		t.Errorf("partitions %+v (%v)", parts, err)
	}
}

func TestAnotherPartitionCountIsRefusedAtStart(t *testing.T) {
	s := storetest.NewModel()
	fill(t, s, 1, 1)
	if err := s.CreateQueue(t.Context(), "//out", 2); err != nil {
		t.Fatal(err)
	}
	_, err := prepare(t, copySpec, 0).Run(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "queue //out has 2 partitions and is to have 3") {
		t.Errorf("got %v", err)
	}
}

// A malformed row stops the pipeline; what came before it has been handled.
func TestAMalformedRowStopsThePipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.NewModel()
		fill(t, s, 10, 1)
		at := 0
		for i := range 2 {
			rows, err := s.ReadQueue(t.Context(), store.QueueRequest{Queue: "//in", Partition: i})
			if err != nil {
				t.Fatal(err)
			}
			if len(rows) > 0 {
				at = i
			}
		}
		bad := []store.QueueAppend{{Queue: "//in", Partition: at, Value: []byte(`{"key":"k","value":"1"}`)}}
		if err := s.PushQueue(t.Context(), bad); err != nil {
			t.Fatal(err)
		}
		_, err := prepare(t, copySpec, 0).Run(t.Context(), s)
		want := fmt.Sprintf("queue //in, partition %d, row 10: byte 20: column value", at)
		if !errors.Is(err, connector.ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		skipping := strings.Replace(copySpec, "finite = %true", "finite = %true; on_malformed = skip", 1)
		sum, err := prepare(t, skipping, 0).Run(t.Context(), s)
		if err != nil || !sum.Completed || sum.Messages != 10 || sum.Counts["malformed"] != 1 {
			t.Errorf("passing over it: %+v, %v", sum, err)
		}
	})
}
