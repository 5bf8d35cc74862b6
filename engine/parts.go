package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/store"
)

// Where several processes run a pipeline, each writer generation of a sink outside
// the store has a part of its own (D-26). How far a part is recorded is a state of
// the sink under the writer's generation: so the parts are known to whoever reads
// states, and no commit holds more than the part that it adds to.

// partState is the name of that state.
const partState = "/part"

// SinkPart is what one writer of a sink has recorded.
type SinkPart struct {
	// Sink is the partition's computation: COMPUTATION/sinks/SINK.
	Sink string
	// Position is the last that was stored; the sink's connector can read it.
	Position []byte
}

// SinkParts returns the parts of all sinks that have written in parts, in the order
// in which they were begun, sink by sink.
func SinkParts(ctx context.Context, s store.Store) ([]SinkPart, error) {
	ps, err := s.Partitions(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(ps, func(a, b store.Partition) int { return cmp.Compare(a.Computation, b.Computation) })
	var out []SinkPart
	for _, p := range ps {
		if p.Kind != store.SinkPartition {
			continue
		}
		for from, more := "", true; more; {
			a, err := s.ListStates(ctx, store.ListRequest{Computation: p.Computation, Lower: from, Names: []string{partState}, MaxRows: 1000})
			if err != nil {
				return nil, fmt.Errorf("read the parts of sink %s: %w", p.Computation, err)
			}
			for _, k := range a.Keys {
				if a.Complete || k.Key < a.CompleteTo {
					out = append(out, SinkPart{p.Computation, k.Rows[0].Value})
				}
			}
			from, more = a.CompleteTo, !a.Complete
		}
	}
	return out, nil
}

// partKey sorts parts as they follow each other. 0 is what was written before there
// were parts.
func partKey(g store.Generation) string { return string(binary.BigEndian.AppendUint64(nil, uint64(g))) }

// partRecord says how far a part is recorded.
func partRecord(g store.Generation, position []byte) store.StateWrite {
	return store.StateWrite{Key: partKey(g), Name: partState, Value: position}
}

// openPart begins the part of a job's generation. Who wrote without parts before is
// recorded as the first one.
func (p *sinkProcessor) openPart(ctx context.Context, s connector.Sink, j *store.Job) error {
	to, ok := s.(connector.Parted)
	if !ok {
		return errNoParts
	}
	if former, written, err := formerPart(to, j.Position); err != nil {
		return err
	} else if former == "" && written {
		p.began = append(p.began, partRecord(0, j.Position))
	}
	g := j.Partition.Generation
	w, start, err := to.OpenPart(ctx, fmt.Sprintf("%012d", g), j.Position)
	if err != nil {
		return err
	}
	p.writer, p.position, p.part = w, start, g
	return nil
}

// inParts tells that a sink goes on in parts, whoever runs it now.
func inParts(s connector.Sink, position []byte) bool {
	to, ok := s.(connector.Parted)
	if !ok {
		return false
	}
	name, _, err := formerPart(to, position)
	return err == nil && name != ""
}

func formerPart(to connector.Parted, position []byte) (name string, written bool, err error) {
	if position == nil {
		return "", false, nil
	}
	return to.Part(position)
}

var errNoParts = errors.New("its target cannot be written in parts, as it must be where several workers run a pipeline: write to a queue")

// shareable returns what keeps the plan from being run by several workers.
func (p *plan) shareable() error {
	var problems []error
	for _, n := range p.nodes {
		if _, ok := n.sink.(connector.Parted); n.kind == store.SinkPartition && n.sink != nil && !ok {
			problems = append(problems, fmt.Errorf("sink %s: %w", n.id, errNoParts))
		}
	}
	return errors.Join(problems...)
}
