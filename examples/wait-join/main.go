// Command wait-join joins flights with corrections of their delays: a flight without
// one is written as it is when none can come any more.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() (err error) {
	const path, data = "examples/wait-join/pipeline.yson", "rondo-data/wait-join"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	o := engine.Options{
		Functions: &flow.Registry{}, Connectors: &connector.Registry{},
		SpecDir: filepath.Dir(path), DataDir: data, Log: slog.Default(),
	}
	if o.Spec, err = spec.Parse(path, text); err != nil {
		return err
	}
	if err := errors.Join(o.Functions.Register("wait-join", newJoin), file.Register(o.Connectors)); err != nil {
		return err
	}
	pipeline, err := engine.Prepare(context.Background(), o)
	if err != nil {
		return err
	}
	store, err := pebblestore.Open(filepath.Join(data, "store"), pebblestore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	interrupted, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(interrupted, pipeline.Pause) // the next run goes on from there
	go report(interrupted, pipeline)
	summary, err := pipeline.Run(context.Background(), store)
	if err != nil {
		return err
	}
	fmt.Printf("%d rows, %d timers, completed: %v\n", summary.Messages, summary.Timers, summary.Completed)
	return nil
}

// report says often how far the pipeline is.
func report(ctx context.Context, p *engine.Pipeline) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s := p.Status()
			fmt.Printf("%d rows, %d timers\n", s.Messages, s.Timers)
		}
	}
}
