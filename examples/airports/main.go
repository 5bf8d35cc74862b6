// Command airports keeps a state equal to a table of 3 376 airports while the
// table is replaced by other versions, lost, cut off, and overwritten.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/function"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

func main() {
	dir, err := os.MkdirTemp("", "airports")
	if err == nil {
		err = errors.Join(run("examples/airports", dir, os.Stdout), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run plays the scenes of story.go on the pipeline in a folder. The table and the
// state are in another, empty one.
func run(example, dir string, out io.Writer) (err error) {
	t := newTable(example, dir)
	if err := t.original(); err != nil {
		return err
	}
	return mirror(example, dir, func(p *engine.Pipeline) error { return tell(p, t, out) })
}

func newTable(example, dir string) *table {
	return &table{dir: dir, source: filepath.Join(example, "data", "airports.csv")}
}

// mirror runs the pipeline for as long as something else goes on beside it.
func mirror(example, dir string, beside func(*engine.Pipeline) error) (err error) {
	text, err := os.ReadFile(filepath.Join(example, "pipeline.yson"))
	if err != nil {
		return err
	}
	s, err := spec.Parse(filepath.Join(dir, "pipeline.yson"), text)
	if err != nil {
		return err
	}
	o := engine.Options{Spec: s, Functions: &flow.Registry{}, SpecDir: dir, DataDir: filepath.Join(dir, "data"), Log: slog.New(slog.DiscardHandler)}
	if err := function.Register(o.Functions); err != nil {
		return err
	}
	pipeline, err := engine.Prepare(context.Background(), o)
	if err != nil {
		return err
	}
	store, err := pebblestore.Open(storeIn(dir), pebblestore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ended := make(chan error, 1)
	go func() {
		_, err := pipeline.Run(context.Background(), store)
		ended <- err
	}()
	<-pipeline.Begun()
	err = beside(pipeline)
	pipeline.Pause()
	return errors.Join(err, <-ended)
}

func storeIn(dir string) string { return filepath.Join(dir, "data", "store") }

// key is that of the pipeline's computation.
const key = "hash=farm_hash(iata),iata"

// sorted makes a sorted table of a file, at once and as a whole.
func sorted(in, out string) error {
	_, err := external.Sort(context.Background(), external.SortOptions{
		In: in, Out: out, Key: key, Memory: 16 << 20,
		Types: map[string]schema.Type{"latitude": schema.TypeDouble, "longitude": schema.TypeDouble},
	})
	return err
}
