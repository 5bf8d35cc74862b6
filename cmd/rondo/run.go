package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

type runCommand struct {
	specArg
	dataFlag
	Fresh       bool     `help:"Start over: first remove the pipeline's state and the files that its sinks wrote."`
	VisitBuffer sizeFlag `default:"256Mi" placeholder:"SIZE" help:"Memory for the states that visit streams read ahead, all together (default 256Mi)."`
	Output      string   `enum:"text,json" default:"text" placeholder:"FORM" help:"Print the summary as text (default) or json, one object."`
}

// Help is shown below the usage.
func (runCommand) Help() string {
	return `Reads what the spec's sources name, relative to the spec file; keeps state in DIR/store; sinks write below DIR.

The run ends by itself when its input does. Ctrl-C stops it cleanly, and a second one quits at once; either way the same command goes on from the last committed epoch. A completed pipeline only prints its summary again.

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
	}, time.Now)
	defer ignore()
	dataDir := c.folder(s.Name)
	o, err := options(s, dataDir, log)
	if err != nil {
		return err
	}
	o.VisitBuffer = int(c.VisitBuffer)
	p, err := prepareWith(context.Background(), o)
	if err != nil {
		return err
	}
	context.AfterFunc(told, p.Pause)
	for _, note := range s.Notes {
		log.Warn(note)
	}
	summary, err := c.work(told, p, s, dataDir, screen, log)
	if err != nil {
		return err
	}
	log.Info("ended", "completed", summary.Completed)
	if summary.Already && c.Output != "text" {
		log.Info(alreadyText) // a program reads the summary
	}
	return printSummary(io.out, c.Output, s.Name, summary)
}

// work takes the data folder, opens the store and runs the pipeline to its end, or
// until it is told to stop. Nothing is made for a pipeline that lacks something in
// the store.
func (c *runCommand) work(told context.Context, p *engine.Pipeline, s *spec.Spec, dataDir string, screen *screen, log *slog.Logger) (sum *engine.Summary, err error) {
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
	store, err := openStore(told, at, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	log.Info("started", "pipeline", s.Name, "data", dataDir)
	defer serve(p, store, dataDir, log)()
	defer watch(p.Status, screen.display(visitStreams(s), log))()
	if sum, err = p.Run(context.Background(), store); err == nil && sum.Already {
		err = (&records{store: store, at: at, dataDir: dataDir, log: log}).lookBack(context.Background())
	}
	return sum, err
}

func visitStreams(s *spec.Spec) int {
	n := 0
	for _, c := range s.Pipeline.Computations {
		n += len(c.VisitStreams)
	}
	return n
}
