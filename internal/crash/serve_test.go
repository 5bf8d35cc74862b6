package crash

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

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
		p, err := prepareAccounts(ctx, s, o, m, log)
		if err != nil {
			return nil, err
		}
		return m.Work(ctx, p)
	})
	return err
}

func prepareAccounts(ctx context.Context, sp *spec.Spec, o orders, member engine.Membership, log *slog.Logger) (*engine.Pipeline, error) {
	var functions flow.Registry
	var connectors connector.Registry
	made := func(s connector.Setup) (connector.Source, error) {
		real, err := datagen.NewSource(s)
		return &endlessSource{real, o.Until}, err
	}
	if err := errors.Join(functions.Register("accountant", newAccountant), connectors.AddSource(datagen.Class, made), file.Register(&connectors)); err != nil {
		return nil, err
	}
	return engine.Prepare(ctx, engine.Options{
		Spec: sp, Functions: &functions, Connectors: &connectors, DataDir: o.Data, Member: member, Log: log,
	})
}

// endlessSource does not end until there is a file, if one is named. So a test may take
// the time that it needs.
type endlessSource struct {
	connector.Source
	until string
}

func (s *endlessSource) Open(ctx context.Context, partition string, offset []byte) (connector.Reader, error) {
	real, err := s.Source.Open(ctx, partition, offset)
	if err != nil || s.until == "" {
		return real, err
	}
	return &endlessReader{Reader: real, until: s.until}, nil
}

type endlessReader struct {
	connector.Reader
	until string
	end   *connector.Batch // that was read
}

func (r *endlessReader) Read(ctx context.Context, limit connector.Limit) (connector.Batch, error) {
	if r.end == nil {
		b, err := r.Reader.Read(ctx, limit)
		if err != nil || !b.End {
			return b, err
		}
		r.end = &connector.Batch{Offset: b.Offset, Watermark: b.Watermark, End: true}
		if b.End = false; len(b.Rows) > 0 {
			return b, nil
		}
	}
	for {
		if _, err := os.Stat(r.until); err == nil {
			return *r.end, nil
		}
		select {
		case <-ctx.Done():
			return connector.Batch{}, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// accounts is the job of a fleet that counts rows and writes a ledger. Where until is
// set, its source ends when the test says so (see ends).
type accounts struct {
	rows, rate int
	until      string
}

// submit stores the job.
func (a accounts) submit(f *fleet) {
	f.t.Helper()
	sp, err := spec.Parse("accounts.yson", fmt.Appendf(nil, accountsText, a.rows, a.rate))
	if err != nil {
		f.t.Fatal(err)
	}
	p, err := prepareAccounts(f.t.Context(), sp, orders{}, nil, slog.New(slog.DiscardHandler))
	if err == nil {
		err = p.Submit(f.t.Context(), f.look)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}
