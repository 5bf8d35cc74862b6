package cluster_test

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/queue"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// A program with a function of its own is a worker beside others. It leaves what it
// does not know to those that do.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var functions flow.Registry
	var connectors connector.Registry
	if err := functions.Register("pass_on", func(flow.Setup) (flow.Function, error) { return passOn{"out"}, nil }); err != nil {
		log.Fatal(err)
	}
	if err := queue.Register(&connectors); err != nil {
		log.Fatal(err)
	}
	id := cluster.NewID()
	shared, err := pgstore.Open(ctx, os.Getenv("RONDO_STORE"), pgstore.Options{Worker: id})
	if err != nil {
		log.Fatal(err)
	}
	defer shared.Close()
	_, err = cluster.Run(ctx, shared, cluster.Options{Worker: id}, func(ctx context.Context, s *spec.Spec, m *cluster.Member) (*engine.Summary, error) {
		p, err := engine.Prepare(ctx, engine.Options{Spec: s, Functions: &functions, Connectors: &connectors, SpecDir: ".", DataDir: "data", Member: m})
		if err != nil {
			return nil, err
		}
		return m.Work(ctx, p)
	})
	if err != nil {
		log.Print(err)
	}
}
