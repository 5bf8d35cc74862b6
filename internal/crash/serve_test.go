package crash

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/datagen"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// serve is a worker that has a function of its own, as a program makes one from the
// packages. It works until the pipeline is completed, or SIGTERM.
func serve(o orders) (err error) {
	told, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	id := cluster.NewID()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil)).With("worker", id)
	shared, err := pgstore.Open(told, o.Store, pgstore.Options{Worker: id, Logger: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shared.Close()) }()
	_, err = cluster.Run(told, shared, cluster.Options{Worker: id, Lease: o.Lease, Log: log}, func(ctx context.Context, s *spec.Spec, m *cluster.Member) (*engine.Summary, error) {
		p, err := prepareAccounts(ctx, s, o.Data, m, log)
		if err != nil {
			return nil, err
		}
		return m.Work(ctx, p)
	})
	return err
}

func prepareAccounts(ctx context.Context, sp *spec.Spec, data string, member engine.Membership, log *slog.Logger) (*engine.Pipeline, error) {
	var functions flow.Registry
	var connectors connector.Registry
	if err := errors.Join(functions.Register("accountant", newAccountant), datagen.Register(&connectors), file.Register(&connectors)); err != nil {
		return nil, err
	}
	return engine.Prepare(ctx, engine.Options{
		Spec: sp, Functions: &functions, Connectors: &connectors, DataDir: data, Member: member, Log: log,
	})
}

// accounts is the job of a fleet that counts rows and writes a ledger.
type accounts struct{ rows, rate int }

// submit stores the job.
func (a accounts) submit(f *fleet) {
	f.t.Helper()
	sp, err := spec.Parse("accounts.yson", fmt.Appendf(nil, accountsText, a.rows, a.rate))
	if err != nil {
		f.t.Fatal(err)
	}
	p, err := prepareAccounts(f.t.Context(), sp, "", nil, slog.New(slog.DiscardHandler))
	if err == nil {
		err = p.Submit(f.t.Context(), f.look)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}
