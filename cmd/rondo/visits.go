package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/yson"
)

type visitsCommand struct {
	List    visitsListCommand    `cmd:"" default:"withargs" help:"List the visit streams: how far their passes are, and how fast (default)."`
	Passes  visitsPassesCommand  `cmd:"" help:"List the passes that a visit stream has completed."`
	RunNow  visitsRunNowCommand  `cmd:"" help:"Begin a pass at once."`
	Enable  visitsEnableCommand  `cmd:"" help:"Let a visit stream scan again."`
	Disable visitsDisableCommand `cmd:"" help:"Let a visit stream rest where it is."`
}

// Help is shown below the usage.
func (visitsCommand) Help() string {
	return `Examples:
  rondo visits examples/flights/pipeline.yson
  rondo visits --data rondo-data/flights --watch
  rondo visits passes examples/flights/pipeline.yson routes/sweep
  rondo visits run-now examples/flights/pipeline.yson routes/sweep --period 10m
  rondo visits disable examples/flights/pipeline.yson sweep`
}

const placeHelp = `

The pipeline is found by its spec file, by its data folder, or by --data. One that runs is asked through the socket in its data folder, as the user who runs it; of one that does not run, the store is read. One that workers of a cluster run is found by --store alone, and is read and changed through the store.`

// streamFlags name a visit stream of a pipeline.
type streamFlags struct {
	placeFlags
	Stream *string `arg:"" optional:"" help:"The visit stream: computation/stream, or the stream alone if there is one of that name."`
}

// shift finds out what the arguments are: a lone one that is no place is the
// stream.
func (f *streamFlags) shift() error {
	if f.Stream == nil && f.noFile() {
		f.File, f.Stream = nil, f.File
	}
	if f.Stream == nil {
		return &usageError{errors.New("which visit stream? Name it as computation/stream")}
	}
	return nil
}

// find returns the stream that is meant.
func (f *streamFlags) find(ctx context.Context, s visitsOf) (*console.VisitStream, error) {
	v, err := s.Visits(ctx)
	if err != nil {
		return nil, err
	}
	var known []string
	var found []*console.VisitStream
	for i := range v.Streams {
		one := &v.Streams[i]
		name := streamName(one)
		if known = append(known, name); name == *f.Stream || one.Stream == *f.Stream {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("there is no visit stream %s: %s", *f.Stream, yson.DidYouMean(*f.Stream, known))
	default:
		return nil, fmt.Errorf("there are several visit streams %s: name one of %s", *f.Stream, strings.Join(known, ", "))
	}
}

// visitsOf tells of visit streams, whether the pipeline runs or not.
type visitsOf interface {
	Visits(ctx context.Context) (*console.Visits, error)
}

func streamName(v *console.VisitStream) string { return v.Computation + "/" + v.Stream }

type visitsRunNowCommand struct {
	streamFlags
	Period string `placeholder:"TIME" help:"How long the pass is to take, such as 10m. Default: as fast as visit_share allows."`
}

// Help is shown below the usage.
func (visitsRunNowCommand) Help() string {
	return `All partitions drop the pass they are in and run one whole pass at once; then the stream's own pace returns. The command is stored: a pipeline that is killed goes on with that pass. It is refused during another one, during a final pass, and for a disabled stream. The pipeline must be running.

Examples:
  rondo visits run-now examples/flights/pipeline.yson routes/sweep
  rondo visits run-now --data rondo-data/flights sweep --period 10m`
}

// Run orders the pass.
func (c *visitsRunNowCommand) Run(io *streams) error {
	if err := c.shift(); err != nil {
		return err
	}
	ctx := context.Background()
	begun := ""
	shared, err := c.withWorkers(ctx, func(t *manned) (err error) {
		begun, err = c.begin(ctx, t)
		return err
	})
	if err == nil && !shared {
		begun, err = c.ask(ctx, io)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(io.err, "rondo: %s begins a pass; rondo visits shows how far it is\n", begun)
	return nil
}

// ask asks a pipeline that one process runs.
func (c *visitsRunNowCommand) ask(ctx context.Context, io *streams) (begun string, err error) {
	client, err := c.reachRunning(ctx, io)
	if err != nil {
		return "", err
	}
	defer client.Close()
	return c.begin(ctx, client)
}

// beginner begins passes.
type beginner interface {
	visitsOf
	RunNow(ctx context.Context, computation, stream string, r console.RunNowRequest) error
}

// begin begins a pass of the stream that is meant.
func (c *visitsRunNowCommand) begin(ctx context.Context, p beginner) (stream string, err error) {
	v, err := c.find(ctx, p)
	if err != nil {
		return "", err
	}
	return streamName(v), p.RunNow(ctx, v.Computation, v.Stream, console.RunNowRequest{Period: c.Period})
}

type visitsEnableCommand struct{ streamFlags }

// Help is shown below the usage.
func (visitsEnableCommand) Help() string {
	return `Sets enabled=%true in the dynamic spec. The scan goes on where it rested.` + placeHelp + `

Example:
  rondo visits enable examples/flights/pipeline.yson routes/sweep`
}

// Run sets the parameter.
func (c *visitsEnableCommand) Run(io *streams) error { return c.enable(io, "%true") }

type visitsDisableCommand struct{ streamFlags }

// Help is shown below the usage.
func (visitsDisableCommand) Help() string {
	return `Sets enabled=%false in the dynamic spec. Nothing is scanned or visited, and coverage is kept. A finite stream that rests keeps its pipeline from completing.` + placeHelp + `

Example:
  rondo visits disable examples/flights/pipeline.yson routes/sweep`
}

// Run sets the parameter.
func (c *visitsDisableCommand) Run(io *streams) error { return c.enable(io, "%false") }

func (f *streamFlags) enable(io *streams, value string) error {
	if err := f.shift(); err != nil {
		return err
	}
	return f.with(io, func(ctx context.Context, r *reached) error {
		v, err := f.find(ctx, r)
		if err != nil {
			return err
		}
		path := yson.Join(yson.Join(yson.Join(yson.Join("computations", v.Computation), "key_visitor_streams"), v.Stream), "enabled")
		a, err := r.SetDynamic(ctx, console.SetRequest{Path: path, Value: &value})
		if err != nil {
			return err
		}
		fmt.Fprintf(io.err, "rondo: %s=%s, version %d\n", path, value, a.Version)
		return nil
	})
}
