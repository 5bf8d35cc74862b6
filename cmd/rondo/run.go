package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

type runCommand struct {
	specArg
	dataFlag
	Fresh       bool     `help:"Start over: first remove the pipeline's state and the files that its sinks wrote."`
	Version     uint64   `placeholder:"N" help:"Refuse unless the stored spec, which the file's replaces, has this version, as spec get tells it."`
	VisitBuffer sizeFlag `default:"256Mi" placeholder:"SIZE" help:"Memory for the states that visit streams read ahead, all together (default 256Mi)."`
	Output      string   `enum:"text,json" default:"text" placeholder:"FORM" help:"Print the summary as text (default) or json, one object."`
}

// Help is shown below the usage.
func (runCommand) Help() string {
	return `Reads what the spec's sources name, relative to the spec file; keeps state in DIR/store; sinks write below DIR.

The run ends by itself when its input does. Ctrl-C stops it cleanly, and a second one quits at once; either way the same command goes on from the last committed epoch. A completed pipeline only prints its summary again.

rondo pause and rondo stop end it from elsewhere. The next run takes a static spec that has changed meanwhile, unless the data that is there could not survive it. --version N makes sure that nobody else has changed the stored one.

--fresh removes what the pipeline recorded in the folder, and says what that is. It removes no other pipeline's data and no file that has become another one.

Examples:
  rondo run examples/flights/pipeline.yson
  rondo run examples/flights/pipeline.yson --fresh --set computations.routes.key_visitor_streams.sweep.period=5s
  rondo run pipeline.yaml --data /var/lib/rondo/orders --output json`
}

// Run runs a pipeline and prints what it came to.
func (c *runCommand) Run(io *streams) error {
	s, err := c.parse()
	if err != nil {
		return err
	}
	screen := newScreen(io.err)
	log := slog.New(slog.NewTextHandler(screen, nil))
	told, tell := context.WithCancel(context.Background())
	ignore := onInterrupt(func() {
		screen.home()
		log.Warn("stopping at the next epoch bound; Ctrl-C again quits at once")
		tell()
	}, func() { log.Warn("quitting: " + committed) }, time.Now)
	defer ignore()
	dataDir := c.folder(s.Name)
	o, err := options(s, dataDir, log)
	if err != nil {
		return err
	}
	o.VisitBuffer, o.Version = int(c.VisitBuffer), c.Version
	p, err := prepareWith(context.Background(), o)
	if err != nil {
		return err
	}
	context.AfterFunc(told, p.Pause)
	for _, note := range s.Notes {
		log.Warn(note)
	}
	ended, err := c.work(told, p, s, screen, log)
	if err != nil {
		return err
	}
	log.Info("ended", "completed", ended.Completed)
	if ended.Already && c.Output != "text" {
		log.Info(alreadyText) // a program reads the summary
	}
	return printSummary(io.out, c.Output, s.Name, ended)
}

// outcome is what a run came to.
type outcome struct {
	*engine.Summary
	timers *console.Timers
}

// work takes the data folder and runs the pipeline in it. Nothing is made for a
// pipeline that lacks something in the store.
func (c *runCommand) work(told context.Context, p *engine.Pipeline, s *spec.Spec, screen *screen, log *slog.Logger) (out *outcome, err error) {
	at := c.at(s.Name)
	there, err := at.exists()
	if err == nil && !there {
		err = p.Check(told, nil)
	}
	if err != nil {
		return nil, err
	}
	waits := &patience{most: lockWait, tell: func(who error) { log.Warn("waiting for another command", "reason", who) }}
	folder, err := retry(told, waits, func() (*pebblestore.Folder, error) { return at.hold(keeping) })
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Release()) }()
	if c.Fresh {
		if err := startOver(told, s.Name, at, log); err != nil {
			return nil, err
		}
	}
	return runHeld(told, at, p, s, screen, log)
}

// runHeld opens the store in a data folder that is held, and runs the pipeline to its
// end, or until it is told to stop.
func runHeld(told context.Context, at where, p *engine.Pipeline, s *spec.Spec, screen *screen, log *slog.Logger) (out *outcome, err error) {
	store, err := openStore(told, at, log)
	if err != nil {
		return nil, err
	}
	if at.url != "" {
		defer quitIfSilent(told, store, log)()
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := forgetLast(at.dataDir); err != nil {
		return nil, err
	}
	log.Info("started", "pipeline", s.Name, "data", at.dataDir)
	defer serve(p, store, at.dataDir, log)()
	defer watch(p.Status, screen.display(visitStreams(s), log))()
	ctx := context.Background()
	sum, err := p.Run(ctx, store)
	keepLast(at.dataDir, p, err, log)
	if err == nil && sum.Already {
		err = (&records{store: store, at: at, dataDir: at.dataDir, log: log}).lookBack(ctx)
	}
	if err != nil {
		return nil, err
	}
	pending, err := engine.CountTimers(ctx, store, s)
	return &outcome{sum, console.TimersOf(sum.Timers, pending)}, err
}

func visitStreams(s *spec.Spec) int {
	n := 0
	for _, c := range s.Pipeline.Computations {
		n += len(c.VisitStreams)
	}
	return n
}
