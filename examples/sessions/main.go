// Command sessions finds the sessions of users in made-up clicks: a session
// ends when its user has not clicked for half an hour.
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
	"github.com/rondo-flow/rondo/connector/datagen"
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
	const path, data = "examples/sessions/pipeline.yson", "rondo-data/sessions"
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
	if err := errors.Join(o.Functions.Register("sessions", newSessions), datagen.Register(o.Connectors), file.Register(o.Connectors)); err != nil {
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
	fmt.Printf("%d clicks, %d visits, completed: %v\n", summary.Messages, summary.Visits, summary.Completed)
	return nil
}

// report says once a second how far the pipeline is.
func report(ctx context.Context, p *engine.Pipeline) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s := p.Status()
			fmt.Printf("%d clicks, %d visits\n", s.Messages, s.Visits)
		}
	}
}
