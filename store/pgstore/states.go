package pgstore

import (
	"context"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// GetStates asks for all keys at once.
func (s *Store) GetStates(ctx context.Context, computation string, keys []string) ([][]store.StateRow, error) {
	found := make(map[string][]store.StateRow, len(keys))
	err := s.read(ctx, func(ctx context.Context, db pgsql.DBTX) error {
		if len(keys) == 0 {
			return nil
		}
		rows, err := s.sql.States(ctx, db, &pgsql.StatesParams{
			Computation: []byte(computation), Keys: onceEach(keys),
		})
		for _, r := range rows {
			found[string(r.Key)] = append(found[string(r.Key)], store.StateRow{Name: string(r.Name), Value: r.Value})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([][]store.StateRow, len(keys))
	for i, key := range keys {
		out[i] = found[key]
	}
	return out, nil
}

// onceEach returns the distinct keys.
func onceEach(keys []string) [][]byte {
	seen := make(map[string]bool, len(keys))
	var out [][]byte
	for _, key := range keys {
		if !seen[key] {
			seen[key] = true
			out = append(out, []byte(key))
		}
	}
	return out
}
