package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
)

// airport is a state of the mirror: what it keeps of a row.
type airport struct {
	Name      string  `cbor:"name"`
	City      string  `cbor:"city"`
	State     string  `cbor:"state"`
	Country   string  `cbor:"country"`
	Latitude  float64 `cbor:"latitude"`
	Longitude float64 `cbor:"longitude"`
}

// compare wants the states to be the airports of a CSV file, no more and no less.
func compare(ctx context.Context, states store.States, path string) error {
	want, err := airportsIn(path)
	if err != nil {
		return err
	}
	got, err := mirrored(ctx, states)
	if err != nil || maps.Equal(got, want) {
		return err
	}
	for _, iata := range slices.Sorted(maps.Keys(want)) {
		if got[iata] != want[iata] {
			return fmt.Errorf("airport %s is %+v in the state, and %+v in %s", iata, got[iata], want[iata], path)
		}
	}
	return fmt.Errorf("%d airports are in the state, and %d in %s", len(got), len(want), path)
}

// airportsIn reads a CSV file.
func airportsIn(path string) (map[string]airport, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	out := map[string]airport{}
	for _, l := range lines[1:] {
		a := airport{Name: l[1], City: l[2], State: l[3], Country: l[4]}
		if a.Latitude, err = strconv.ParseFloat(l[5], 64); err != nil {
			return nil, err
		}
		if a.Longitude, err = strconv.ParseFloat(l[6], 64); err != nil {
			return nil, err
		}
		out[l[0]] = a
	}
	return out, nil
}

// mirrored reads all states.
func mirrored(ctx context.Context, states store.States) (map[string]airport, error) {
	out := map[string]airport{}
	codec := flow.CBOR[airport]()
	for from := ""; ; {
		a, err := states.ListStates(ctx, store.ListRequest{Computation: "airports", Lower: from, MaxRows: 1000, MaxBytes: 1 << 20})
		if err != nil {
			return nil, err
		}
		for _, k := range a.Keys {
			if !a.Complete && k.Key >= a.CompleteTo {
				break // it comes with the next list
			}
			key, err := schema.DecodeKey(k.Key)
			if err != nil {
				return nil, err
			}
			if out[key[1].AsString()], err = codec.Decode(k.Rows[0].Value); err != nil {
				return nil, err
			}
		}
		if a.Complete {
			return out, nil
		}
		from = a.CompleteTo
	}
}
