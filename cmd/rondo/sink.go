package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/cluster"
	"github.com/rondo-flow/rondo/connector/file"
	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/yson"
)

type sinkCommand struct {
	Parts sinkPartsCommand `cmd:"" help:"List the files that the sinks of a cluster's workers have written."`
	Cat   sinkCatCommand   `cmd:"" help:"Print what a sink has written in parts, one after the other."`
}

// Help is shown below the usage.
func (sinkCommand) Help() string {
	return `Where several workers run a pipeline, each of them writes the file of a sink in parts of its own, on its own machine.

Examples:
  rondo sink parts --store postgres://rondo@db/flows
  rondo sink cat snapshots --store postgres://rondo@db/flows >snapshots.jsonl`
}

// sinkPart is a part with the sink that it is of.
type sinkPart struct {
	sink string // COMPUTATION/SINK
	*file.Recorded
}

// is tells whether a part is of the sink of a name, which may leave the computation
// out.
func (p *sinkPart) is(name string) bool {
	_, short, _ := strings.Cut(p.sink, "/")
	return name == p.sink || name == short
}

// lookAt opens the store of a cluster for a command that takes nothing from it.
func (f *sharedFlag) lookAt(ctx context.Context) (*pgstore.Store, error) {
	return pgstore.Open(ctx, f.Store, pgstore.Options{Worker: cluster.NewID()})
}

// sinkParts reads what is recorded of all parts.
func (f *sharedFlag) sinkParts(ctx context.Context) (out []sinkPart, err error) {
	s, err := f.lookAt(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return partsIn(ctx, s)
}

func partsIn(ctx context.Context, s store.Store) (out []sinkPart, err error) {
	parts, err := engine.SinkParts(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		r, err := file.ReadRecorded(p.Position)
		if err != nil {
			return nil, fmt.Errorf("sink %s: %w", p.Sink, err)
		}
		out = append(out, sinkPart{strings.Replace(p.Sink, "/sinks/", "/", 1), r})
	}
	return out, nil
}

// ofSink are the parts of one sink.
func ofSink(parts []sinkPart, name string) ([]sinkPart, error) {
	var known []string
	for _, p := range parts {
		known = append(known, p.sink)
	}
	found := slices.DeleteFunc(slices.Clone(parts), func(p sinkPart) bool { return !p.is(name) })
	switch known = slices.Compact(known); {
	case len(found) == 0 && len(known) == 0:
		return nil, errors.New("no sink has written anything in parts yet: only files of pipelines that rondo worker runs are written so")
	case len(found) == 0:
		return nil, fmt.Errorf("there is no sink %s that has written anything in parts: %s", name, yson.DidYouMean(name, known))
	case found[0].sink != found[len(found)-1].sink:
		return nil, fmt.Errorf("there are several sinks %s: name the computation too, as in %s", name, found[0].sink)
	}
	return found, nil
}

// place is the folder that a part's file is in, seen from here.
func (p *sinkPart) place(from string) string { return cmp.Or(from, p.Folder) }
