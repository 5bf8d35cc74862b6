package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flow"
)

// sweep is one visit stream over all partitions of its computation.
type sweep struct {
	name string // computation/stream
	// pass is the one that the slowest partition is in, progress the part of the
	// keys that is through it, 0 to 1.
	pass     uint64
	progress float64
	// final: no partition is in a pass that another one follows. done: there is
	// no pass any more.
	final, done     bool
	visitsPerSecond float64
	evictions       int64
	// left is how long the pass of the slowest partition is expected to take yet;
	// 0 is unknown.
	left time.Duration
}

// sweepsOf finds the visit streams, in the order of partitions.
func sweepsOf(all []engine.PartitionStatus) []sweep {
	var computations []string
	parts := map[string][]engine.PartitionStatus{}
	for _, p := range all {
		if parts[p.Computation] == nil {
			computations = append(computations, p.Computation)
		}
		parts[p.Computation] = append(parts[p.Computation], p)
	}
	var sweeps []sweep
	for _, id := range computations {
		for _, stream := range streamsOf(parts[id]) {
			sweeps = append(sweeps, newSweep(parts[id], stream))
		}
	}
	return sweeps
}

// streamsOf are the visit streams that the partitions tell of. One that a former
// run completed tells none.
func streamsOf(partitions []engine.PartitionStatus) (streams []string) {
	for _, p := range partitions {
		for _, v := range p.Visitors {
			if !slices.Contains(streams, v.Stream) {
				streams = append(streams, v.Stream)
			}
		}
	}
	return streams
}

func newSweep(partitions []engine.PartitionStatus, stream string) sweep {
	s := sweep{name: partitions[0].Computation + "/" + stream, pass: math.MaxUint64, done: true, final: true}
	for _, p := range partitions {
		s.add(p, stream)
	}
	for _, p := range partitions {
		s.progress += s.through(p, stream) / float64(len(partitions))
	}
	return s
}

func (s *sweep) add(p engine.PartitionStatus, stream string) {
	for _, c := range p.Totals.Counts {
		if c.Name == evictions {
			s.evictions = flow.AddCounts(s.evictions, c.Value)
		}
	}
	if p.Phase == engine.Done {
		return
	}
	s.done = false
	for _, v := range p.Visitors {
		if v.Stream == stream {
			s.pass, s.final = min(s.pass, v.Pass), s.final && v.Final
			s.visitsPerSecond += v.Processed.Value
			if v.LeftKnown {
				s.left = max(s.left, v.Left)
			}
		}
	}
}

// through is the part of a partition's keys that is through the pass of s.
func (s *sweep) through(p engine.PartitionStatus, stream string) float64 {
	if p.Phase == engine.Done {
		return 1
	}
	for _, v := range p.Visitors {
		switch {
		case v.Stream != stream:
		case v.Pass > s.pass:
			return 1
		default:
			return v.Progress
		}
	}
	return 0
}

// state is the pass, its progress and the time that it is expected to take yet
// (KV-34), in words.
func (s *sweep) state() string {
	if s.done {
		return "done"
	}
	text := fmt.Sprintf("pass %d, %.0f%%", s.pass, 100*s.progress)
	if s.final {
		text = "final " + text
	}
	if left := s.left.Round(time.Second); left > 0 {
		text += fmt.Sprintf(", %s left", left)
	}
	return text
}
