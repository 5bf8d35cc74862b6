package console

import (
	"net/http"

	"github.com/rondo-flow/rondo/store"
)

// What one request for states may ask for.
const (
	maxStateKeys  = 1000
	maxStateBytes = 4 << 20
)

func (s *Server) stateGet(r *http.Request) (any, error) {
	var request StateKeys
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	if len(request.Keys) > maxStateKeys {
		return nil, outOfRange("keys", "<= 1000", "at most %d keys in one request, got %d", maxStateKeys, len(request.Keys))
	}
	keys := make([]string, len(request.Keys))
	for i, k := range request.Keys {
		keys[i] = string(k)
	}
	found, err := s.opts.Pipeline.States().GetStates(r.Context(), request.Computation, keys)
	if err != nil {
		return nil, err
	}
	out := &States{Complete: true, Keys: make([]StateKey, len(keys))}
	for i := range keys {
		out.Keys[i] = stateKey(keys[i], found[i])
	}
	return out, nil
}

// stateList lists at most a few megabytes, whatever is asked for: who wants more
// goes on at CompleteTo.
func (s *Server) stateList(r *http.Request) (any, error) {
	var request StateList
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	if request.MaxRows < 0 || request.MaxBytes < 0 {
		return nil, outOfRange("max_rows", ">= 0", "max_rows and max_bytes cannot be negative, got %d and %d", request.MaxRows, request.MaxBytes)
	}
	if request.MaxBytes == 0 || request.MaxBytes > maxStateBytes {
		request.MaxBytes = maxStateBytes
	}
	a, err := s.opts.Pipeline.States().ListStates(r.Context(), store.ListRequest{
		Computation: request.Computation, Lower: string(request.Lower), Upper: string(request.Upper),
		Names: request.Names, MaxRows: request.MaxRows, MaxBytes: request.MaxBytes,
	})
	if err != nil {
		return nil, err
	}
	return statesOf(a), nil
}

func statesOf(a *store.ListAnswer) *States {
	out := &States{Complete: a.Complete, CompleteTo: []byte(a.CompleteTo)}
	for _, k := range a.Keys {
		out.Keys = append(out.Keys, stateKey(k.Key, k.Rows))
	}
	return out
}

func stateKey(key string, rows []store.StateRow) StateKey {
	out := StateKey{Key: []byte(key)}
	for _, row := range rows {
		out.States = append(out.States, StateRow(row))
	}
	return out
}
