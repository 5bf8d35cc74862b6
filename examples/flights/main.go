// Command flights does the job of pipeline.yson with a function of its own.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// totals is what is kept of each route.
type totals struct {
	Flights, Delay int64
	Last           flow.Time
}

type routes struct{ state *flow.State[totals] }

func (r routes) OnMessage(_ context.Context, rt flow.Runtime, msg flow.Message, _ flow.OutputCollector) error {
	state := r.state.Open(rt, msg)
	sum, _, err := state.Get()
	sum.Flights++
	sum.Delay += msg.Payload.Int64("delay")
	sum.Last = max(sum.Last, msg.EventTimestamp)
	return errors.Join(err, state.Set(sum))
}

func (r routes) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	state := r.state.Open(rt, v)
	sum, _, err := state.Get()
	if err != nil {
		return err // nothing of a failed call is kept
	}
	stream := "snapshots"
	if now, known := rt.Watermark("flights"); known && now.Sub(sum.Last) > 14*24*time.Hour {
		stream = "evicted"
		rt.Count("evictions", 1)
		if err := state.Clear(); err != nil {
			return err
		}
	}
	key, err := v.Key.Row() // hash, origin, destination
	if err != nil {
		return err
	}
	m, err := rt.MessageBuilder(stream).SetValue("origin", key[1]).SetValue("destination", key[2]).
		Set("flights", sum.Flights).Set("total_delay", sum.Delay).Set("last_flight", sum.Last.Std().Format("2006/01/02 15:04")).
		Set("pass", v.Pass).Set("final", v.Final).Finish()
	return errors.Join(err, out.AddMessage(m))
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// main makes rollup, as the spec calls its function, the name of the one above.
func main() {
	ctx, path, data := context.Background(), "examples/flights/pipeline.yson", "rondo-data/flights-go"
	routes := func(flow.Setup) (flow.Function, error) { return routes{flow.NewState[totals]("/totals", nil)}, nil }
	o := engine.Options{Functions: &flow.Registry{}, Connectors: &connector.Registry{}, SpecDir: filepath.Dir(path), DataDir: data}
	must(0, errors.Join(o.Functions.Register("rollup", routes), file.Register(o.Connectors)))
	o.Spec = must(spec.Parse(path, must(os.ReadFile(path))))
	s := must(pebblestore.Open(filepath.Join(data, "store"), pebblestore.Options{}))
	log.Printf("%+v", *must(must(engine.Prepare(ctx, o)).Run(ctx, s)))
	must(0, s.Close())
}
