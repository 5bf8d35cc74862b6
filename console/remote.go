package console

import (
	"context"

	"github.com/rondo-flow/rondo/store"
)

// remoteStates reads the states of a running pipeline.
type remoteStates struct{ client *Client }

// States returns the states of the pipeline as a store has them. Limits of the
// API hold: a list ends earlier than asked for, and says where.
func (c *Client) States() store.States { return remoteStates{c} }

// GetStates asks for all states of the keys.
func (r remoteStates) GetStates(ctx context.Context, computation string, keys []string) ([][]store.StateRow, error) {
	request := StateKeys{Computation: computation}
	for _, k := range keys {
		request.Keys = append(request.Keys, []byte(k))
	}
	a, err := query[States](ctx, r.client, "state/get", request)
	if err != nil {
		return nil, err
	}
	out := make([][]store.StateRow, len(a.Keys))
	for i, k := range a.Keys {
		out[i] = stateRows(k.States)
	}
	return out, nil
}

// ListStates asks for a range of keys. MaxWork does not matter here.
func (r remoteStates) ListStates(ctx context.Context, l store.ListRequest) (*store.ListAnswer, error) {
	a, err := query[States](ctx, r.client, "state/list", StateList{
		Computation: l.Computation, Lower: []byte(l.Lower), Upper: []byte(l.Upper),
		Names: l.Names, MaxRows: l.MaxRows, MaxBytes: l.MaxBytes,
	})
	if err != nil {
		return nil, err
	}
	return a.answer(), nil
}

// answer is what a store would have said.
func (a *States) answer() *store.ListAnswer {
	out := &store.ListAnswer{Complete: a.Complete, CompleteTo: string(a.CompleteTo)}
	for _, k := range a.Keys {
		key := store.ListedKey{Key: string(k.Key), Rows: stateRows(k.States), Bytes: len(k.Key)}
		for _, row := range key.Rows {
			key.Bytes += len(row.Name) + len(row.Value)
		}
		out.Keys, out.Rows, out.Bytes = append(out.Keys, key), out.Rows+len(key.Rows), out.Bytes+key.Bytes
	}
	return out
}

func stateRows(rows []StateRow) []store.StateRow {
	var out []store.StateRow
	for _, row := range rows {
		out = append(out, store.StateRow(row))
	}
	return out
}
