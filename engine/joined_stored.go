package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/store"
)

// bindJoiners gives joiners the store in which their tables are. One whose key is
// another one than the computation's is a fault of the spec; one that is not there may
// come.
func (p *plan) bindJoiners(ctx context.Context, s store.Tables) error {
	var errs []error
	for _, n := range p.nodes {
		for _, j := range n.joiners {
			if !j.table.InStore() {
				continue
			}
			j.table.Bind(storedTables{s})
			if err := j.table.Fits(ctx); errors.Is(err, external.ErrUnfit) {
				errs = append(errs, fmt.Errorf("computation %s: joiner %s: %w", n.id, j.name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// storedTables are the tables in a store, for joiners.
type storedTables struct{ tables store.Tables }

// Find implements external.Stored.
func (s storedTables) Find(ctx context.Context, name string) (id uint64, form string, err error) {
	all, err := s.tables.Tables(ctx)
	if err != nil {
		return 0, "", err
	}
	t, err := tableNamed(all, name)
	return uint64(t.ID), t.Schema, err
}

// List implements external.Stored.
func (s storedTables) List(ctx context.Context, id uint64, sl external.Slice, f func(key string, value []byte) error) (string, error) {
	// One row more than is wanted: of as many rows as its cap, a list does not cover the
	// last.
	a, err := s.tables.ListRows(ctx, store.TableID(id), store.ListRequest{
		Lower: sl.Lower, Upper: sl.Upper, MaxRows: sl.MaxRows + 1, MaxBytes: sl.MaxBytes, MaxWork: listWork,
	})
	if errors.Is(err, store.ErrNoTable) {
		err = fmt.Errorf("%w: %w", external.ErrReplaced, err)
	}
	if err != nil {
		return "", err
	}
	for i := range a.Keys {
		k := &a.Keys[i]
		if !a.Complete && k.Key >= a.CompleteTo {
			break
		}
		if err := f(k.Key, k.Rows[0].Value); err != nil {
			return "", err
		}
	}
	if a.Complete {
		return "", nil
	}
	return a.CompleteTo, nil
}
