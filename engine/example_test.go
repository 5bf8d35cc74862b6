package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// counter counts the messages of each word, and says how many there were when
// the last pass visits the word.
type counter struct{ state *flow.State[int64] }

func (c counter) OnMessage(_ context.Context, rt flow.Runtime, word flow.Message, _ flow.OutputCollector) error {
	count := c.state.Open(rt, word)
	n, _, err := count.Get()
	return errors.Join(err, count.Set(n+1))
}

func (c counter) OnVisit(_ context.Context, rt flow.Runtime, word flow.Visit, out flow.OutputCollector) error {
	if !word.Final {
		return nil
	}
	n, _, err1 := c.state.Open(rt, word).Get()
	key, err2 := word.Key.Row() // hash, word
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	m, err := rt.MessageBuilder("counts").SetValue("word", key[1]).Set("count", n).Finish()
	return errors.Join(err, out.AddMessage(m))
}

// words is the graph. It may as well be read from a file.
const words = `
spec:
  streams:
    words: {schema: [{name: word, type: string, required: true}]}
    counts: {schema: [{name: word, type: string}, {name: count, type: int64}]}
  computations:
    reader:
      computation_class_name: source_passthrough
      output_stream_ids: [words]
      source_streams: {file: {source_class_name: file, parameters: {path: words.csv, format: csv, finite: true}}}
    counter:
      computation_class_name: transform
      processing_function: counter
      group_by_schema: [{name: hash, type: uint64, required: true, expression: farm_hash(word)}, {name: word, type: string}]
      input_stream_ids: [words]
      output_stream_ids: [counts]
      key_visitor_streams: {sweep: {}}
      streams_dependency: {counts: [sweep]}
      sinks: {file: {sink_class_name: file, input_stream_ids: [counts], parameters: {path: counts.csv, format: csv}}}
dynamic_spec:
  computations:
    counter: {key_visitor_streams: {sweep: {period: 1m}}}
`

// A program gives the names in a spec their meaning, prepares the pipeline, which
// finds everything that is wrong, opens a store and runs.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "words")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "words.csv"), []byte("word\nto\nbe\nor\nnot\nto\nbe\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	var functions flow.Registry
	var connectors connector.Registry
	newCounter := func(flow.Setup) (flow.Function, error) {
		return counter{flow.NewState("/count", flow.CBOR[int64]())}, nil
	}
	if err := errors.Join(functions.Register("counter", newCounter), file.Register(&connectors)); err != nil {
		log.Fatal(err)
	}
	parsed, err := spec.Parse("words.yaml", []byte(words))
	if err != nil {
		log.Fatal(err)
	}
	pipeline, err := engine.Prepare(ctx, engine.Options{
		Spec: parsed, Functions: &functions, Connectors: &connectors,
		SpecDir: dir, DataDir: dir, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		log.Fatal(err)
	}
	// Pause and Stop end Run early, from any goroutine, such as one that waits for
	// a signal; another Run on the same store goes on.
	store, err := pebblestore.Open(filepath.Join(dir, "store"), pebblestore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	summary, err := pipeline.Run(ctx, store)
	if err := errors.Join(err, store.Close()); err != nil {
		log.Fatal(err)
	}

	counts, err := os.ReadFile(filepath.Join(dir, "counts.csv"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("completed: %v, %d messages\n%s", summary.Completed, summary.Messages, counts)
	// Unordered output:
	// completed: true, 6 messages
	// word,count
	// to,2
	// be,2
	// or,1
	// not,1
}
