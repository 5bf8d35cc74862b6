package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/rondo-flow/rondo/store"
)

// reportReads reads the reports in the store for jobs that begin. Each needs a
// read that began after it asked, and those who ask while one is under way share
// the next: many jobs that begin together cost a few reads.
type reportReads struct {
	turn chan struct{} // held by the read under way
	mu   sync.Mutex
	next *reportRead // that nobody has begun; nil if nobody has asked
}

// reportRead is a read of all reports, by computation. They are shared, and not
// changed.
type reportRead struct {
	done          chan struct{}
	byComputation map[string][]store.Report
	err           error
}

func newReportReads() *reportReads { return &reportReads{turn: make(chan struct{}, 1)} }

// of returns the reports of a node's producers, former partitions among them.
func (r *reportReads) of(ctx context.Context, s store.Store, n *node) (out []store.Report, err error) {
	if len(n.inputs) == 0 {
		return nil, nil
	}
	read, first := r.ask()
	if first {
		r.do(ctx, s, read)
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-read.done:
	}
	asked := map[string]bool{}
	for _, in := range n.inputs {
		if !asked[in.producer] {
			out = append(out, read.byComputation[in.producer]...)
		}
		asked[in.producer] = true
	}
	return out, read.err
}

// ask returns the next read; first tells that the caller has to do it.
func (r *reportReads) ask() (read *reportRead, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next, first = &reportRead{done: make(chan struct{})}, true
	}
	return r.next, first
}

// begin closes the read to those who ask from now on.
func (r *reportReads) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = nil
}

func (r *reportReads) do(ctx context.Context, s store.Store, read *reportRead) {
	defer close(read.done)
	select {
	case <-ctx.Done():
		r.begin()
		read.err = ctx.Err()
		return
	case r.turn <- struct{}{}:
	}
	defer func() { <-r.turn }()
	r.begin()
	all, err := s.Reports(ctx)
	if err != nil {
		read.err = fmt.Errorf("read reports: %w", err)
		return
	}
	read.byComputation = map[string][]store.Report{}
	for _, report := range all {
		read.byComputation[report.Computation] = append(read.byComputation[report.Computation], report)
	}
}
