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
	"github.com/rondo-flow/rondo/console"
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

	socket, err := console.Listen(data) // rondo status and the other commands come through it
	if err != nil {
		return err
	}
	server := console.Serve(socket, console.Options{Pipeline: pipeline})
	defer func() { err = errors.Join(err, server.Close()) }()

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

// report says how far the pipeline is when it has read some thousand rows more.
func report(ctx context.Context, p *engine.Pipeline) {
	const step = 4000
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for next := uint64(step); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s := p.Status(); s.Messages >= next {
			next = s.Messages - s.Messages%step + step
			fmt.Printf("%d rows, %d timers\n", s.Messages, s.Timers)
		}
	}
}
