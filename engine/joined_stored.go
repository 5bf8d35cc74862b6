package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/schema"
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
func (s storedTables) Find(ctx context.Context, name string) (uint64, *schema.Table, error) {
	all, err := s.tables.Tables(ctx)
	if err != nil {
		return 0, nil, err
	}
	i := slices.IndexFunc(all, func(t store.Table) bool { return t.Name == name })
	if i < 0 {
		return 0, nil, fmt.Errorf("%w of this name in the store: make it with rondo table create", store.ErrNoTable)
	}
	form, err := schema.ParseTable(all[i].Schema)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: its schema cannot be read: %w", store.ErrCorrupt, err)
	}
	return uint64(all[i].ID), form, nil
}

// List implements external.Stored.
func (s storedTables) List(ctx context.Context, id uint64, sl external.Slice, f func(key string, value []byte) error) (string, error) {
	// One row more than is wanted: of as many rows as its cap, a list does not cover the
	// last.
	a, err := s.tables.ListRows(ctx, store.TableID(id), store.ListRequest{
		Lower: sl.Lower, Upper: sl.Upper, MaxRows: sl.MaxRows + 1, MaxBytes: sl.MaxBytes, MaxWork: listWork,
	})
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
