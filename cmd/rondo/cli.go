package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitQuit   = 130
)

// cli is the command line; kong reads commands, flags and help from it.
type cli struct {
	Run         runCommand         `cmd:"" help:"Run a pipeline until it is completed."`
	Start       startCommand       `cmd:"" help:"Run a pipeline, or have the workers of a cluster go on with it."`
	Pause       pauseCommand       `cmd:"" help:"End a run at the next epoch bound, or the jobs of all workers."`
	Stop        stopCommand        `cmd:"" help:"End a run, or the jobs of all workers, when what is in flight is finished."`
	Submit      submitCommand      `cmd:"" help:"Store a pipeline for workers to run."`
	Worker      workerCommand      `cmd:"" help:"Run a share of the pipeline that is submitted to a store."`
	Validate    validateCommand    `cmd:"" help:"Check a spec, tell every problem, and change nothing."`
	Explain     explainCommand     `cmd:"" help:"Show what a spec means: its graph, and every parameter in force."`
	State       stateCommand       `cmd:"" help:"Look into the states of a pipeline."`
	Visits      visitsCommand      `cmd:"" help:"Look at visit streams, begin a pass, let them rest."`
	Status      statusCommand      `cmd:"" help:"Show how a pipeline is: its partitions, and everything that is wrong."`
	Spec        specCommand        `cmd:"" help:"Show the spec in force, and set dynamic parameters."`
	Repartition repartitionCommand `cmd:"" help:"Give a computation another number of partitions while the pipeline runs."`
	Backup      backupCommand      `cmd:"" help:"Copy a data folder, while the pipeline runs or not."`
	Queue       queueCommand       `cmd:"" help:"Fill, read and trim the queues in a store."`
	Sink        sinkCommand        `cmd:"" help:"List and read the files that the workers of a cluster write."`
	Table       tableCommand       `cmd:"" help:"Fill and read the tables in a store, and prepare files that pipelines join."`
	Migrate     migrateCommand     `cmd:"" help:"Make the PostgreSQL store that --store names, and bring it up to date."`
	Bench       benchCommand       `cmd:"" help:"Measure how fast this machine runs a pipeline."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
	Help        helpCommand        `cmd:"" help:"Show what rondo, or one of its commands, can do."`
}

const description = `Rondo runs stateful stream pipelines: each key has state, and every step is exactly once.

A pipeline is a spec file in YSON, YAML or JSON. Kill a run whenever you like: the same command goes on where it was.

Example:
  rondo run examples/flights/pipeline.yson`

// streams are where a command writes to.
type streams struct {
	out io.Writer
	// err is a file, since a terminal is asked for its size.
	err *os.File
}

// patience waits for others, and says so.
func (s *streams) patience(most time.Duration) *patience {
	return &patience{most: most, tell: func(who error) { fmt.Fprintf(s.err, "rondo: waiting: %s\n", visible(who.Error())) }}
}

// execute runs one command line and returns its exit code.
func execute(args []string, stdout io.Writer, stderr *os.File) int {
	parser, err := kong.New(&cli{}, kong.Name("rondo"), kong.Description(description), kong.Writers(stdout, stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
	if err != nil {
		panic(err) // the command line does not depend on the user
	}
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	command, err := parser.Parse(negatives(parser.Model, args))
	if err == nil {
		err = emptyFlag(command)
	}
	if err != nil {
		// What the parser would have one try is often no better.
		what, _, _ := strings.Cut(err.Error(), " (short flag); perhaps try")
		what = strings.Replace(what, "expected value value", "expected a value", 1)
		return report(stderr, &usageError{errors.New(what)})
	}
	if err := command.Run(&streams{out: stdout, err: stderr}, parser); err != nil {
		return report(stderr, err)
	}
	return exitDone
}
