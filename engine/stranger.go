package engine

import (
	"time"

	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
)

// stranger is a partition that another worker runs, as far as it is known here.
type stranger struct {
	node   *node
	report *store.Report // nil before the first
	heard  time.Duration // when it came
	known  time.Duration // up to when it is known whether it is held back
	held   bool
}

// idle tells that it has brought nothing for a time, and could have (D-17).
func (f *stranger) idle() bool {
	after := f.node.idleAfter()
	return after > 0 && !f.held && f.known-f.heard >= after
}

// source is how far it has come as a source.
func (f *stranger) source() partition.Progress {
	p := partition.Progress{Watermark: store.NoTime, Idle: f.idle()}
	if f.report == nil {
		return p
	}
	p.Ended = true
	for _, s := range f.report.Streams {
		p.Watermark, p.Ended = max(p.Watermark, s.Watermark), p.Ended && s.State != store.Active
	}
	return p
}

// stream is how far a stream of it has come that sources stay behind.
func (f *stranger) stream(d *delayPlan) partition.Progress {
	p := partition.Progress{Watermark: store.NoTime, Idle: f.idle()}
	if f.report == nil {
		return p
	}
	for _, s := range f.report.Streams {
		if s.Stream == d.stream || s.Stream == d.name {
			p.Watermark, p.Ended = s.Watermark, s.State == store.Finished
		}
	}
	return p
}

// align tells the sources here that wait for a partition how far it has come.
func (g *gossip) align(id store.PartitionID, f *stranger) {
	a, now := g.env.alignments.Load(), g.env.clock.mono()
	wake := a.move(now, f.node, id, f.stream)
	if f.node.alignment != nil {
		wake = append(wake, a.report(now, f.node, id, f.source())...)
	}
	g.env.exchange.wake(wake)
}
