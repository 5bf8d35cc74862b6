package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/rondo-flow/rondo/internal/bench"
)

type benchCommand struct {
	Messages benchMessagesCommand `cmd:"" help:"Messages counted by key."`
	Visits   benchVisitsCommand   `cmd:"" help:"Visits of keys, whose handler does nothing."`
}

// Help is shown below the usage.
func (benchCommand) Help() string {
	return `Examples:
  rondo bench messages
  rondo bench visits --partitions 32`
}

// benchFlags are what both commands have.
type benchFlags struct {
	Partitions int    `default:"16" placeholder:"N" help:"Number of partitions, 16 by default."`
	Keys       int    `default:"100000" placeholder:"N" help:"Number of different keys, 100000 by default."`
	Data       string `placeholder:"DIR" help:"An existing folder on the disk to measure; a folder is made in it and removed at the end. Default: the system's for temporary files."`
	Output     string `enum:"text,json" default:"text" placeholder:"FORM" help:"Print the result as text (default) or json, one object."`
}

const benchHelp = `

Every epoch is durable. The floor is a bare loop over the store operations that the same work needs at the least, measured in the same run on the same disk: the ratio to it says what everything else costs, whatever the machine.

Ctrl-C stops without a result.`

type benchMessagesCommand struct {
	benchFlags
	Count int `default:"500000" placeholder:"N" help:"Number of messages, 500000 by default."`
}

// Help is shown below the usage.
func (benchMessagesCommand) Help() string {
	return `Messages go from a source over an inbox to the state of their key, which counts them.` + benchHelp + `

Example:
  rondo bench messages --keys 1000000 --data /mnt/disk`
}

// Run measures messages.
func (c *benchMessagesCommand) Run(io *streams) error {
	return c.run(io, "messages", c.Count, bench.Messages)
}

type benchVisitsCommand struct {
	benchFlags
	Count int `default:"2000000" placeholder:"N" help:"Number of visits, 2000000 by default."`
}

// Help is shown below the usage.
func (benchVisitsCommand) Help() string {
	return `Keys with a state are visited over and over, as fast as it goes.` + benchHelp + `

Example:
  rondo bench visits --partitions 32`
}

// Run measures visits.
func (c *benchVisitsCommand) Run(io *streams) error {
	return c.run(io, "visits", c.Count, bench.Visits)
}

func (f *benchFlags) run(io *streams, what string, count int, measure func(context.Context, bench.Config) (*bench.Result, error)) (err error) {
	c := bench.Config{Partitions: f.Partitions, Keys: f.Keys, Count: count}
	if err := c.Check(); err != nil {
		return &usageError{err}
	}
	if c.Dir, err = os.MkdirTemp(f.Data, "rondo-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.Dir)) }()
	log := slog.New(slog.NewTextHandler(io.err, nil))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ignore := onInterrupt(func() {
		log.Warn("stopping; Ctrl-C again quits at once and leaves the folder", "folder", c.Dir)
		stop()
	}, nil, time.Now)
	defer ignore()
	log.Info("started", "folder", c.Dir)
	c.Progress = (&stages{log: log}).show
	r, err := measure(ctx, c)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	return printResult(io.out, f.Output, what, r)
}

// stages logs how far a measurement is: each stage as it begins, and every two
// seconds.
type stages struct {
	log   *slog.Logger
	stage string
	last  time.Time
}

func (s *stages) show(stage string, done float64) {
	if now := time.Now(); stage != s.stage || now.Sub(s.last) >= 2*time.Second {
		s.stage, s.last = stage, now
		s.log.Info("progress", "stage", stage, "done", fmt.Sprintf("%.0f%%", 100*done))
	}
}

// result is the JSON form of a result. Rates are per second.
type result struct {
	What      string  `json:"what"`
	Count     int     `json:"count"`
	Rate      float64 `json:"rate"`
	FloorRate float64 `json:"floor_rate"`
	OfFloor   float64 `json:"of_floor"`
}

func printResult(out io.Writer, form, what string, r *bench.Result) error {
	if form == "json" {
		return json.NewEncoder(out).Encode(result{what, r.Count, r.Rate(), r.FloorRate(), r.OfFloor()})
	}
	_, err := fmt.Fprintf(out, "%s %s\n  %-9s %12s/s\n  %-9s %12s/s\n  %-9s %12.0f %%\n", digits(int64(r.Count)), what,
		"pipeline", digits(int64(r.Rate())), "floor", digits(int64(r.FloorRate())), "of floor", 100*r.OfFloor())
	return err
}
