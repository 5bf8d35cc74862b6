package fieldreport

import (
	"context"
	"time"

	"github.com/rondo-flow/rondo/engine"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/visit"
)

// life is one run of the pipeline, from its start until it is paused, stopped or
// killed.
type life struct {
	*engine.Pipeline
	faults *storetest.Faults
	cancel context.CancelFunc
	done   chan struct{}
	sum    *engine.Summary
	err    error
}

// start begins a life; the time since the last one was downtime.
func (w *world) start() *life {
	w.t.Helper()
	if w.life != nil {
		w.t.Fatal("the pipeline runs already")
	}
	if w.ended != 0 {
		w.rec.Down(flowtest.Span{From: w.ended, To: w.now()})
	}
	w.life = w.begin(w.fault)
	return w.life
}

// begin runs the pipeline beside whatever runs already.
func (w *world) begin(fault func(storetest.Call) storetest.Fault) *life {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	l := &life{Pipeline: w.pipeline(), cancel: cancel, done: make(chan struct{})}
	l.faults = storetest.NewFaults(w.store, fault)
	go func() {
		defer close(l.done)
		l.sum, l.err = l.Run(ctx, l.faults)
	}()
	return l
}

// pause ends the life at an epoch bound, and tells how long that took.
func (w *world) pause() time.Duration { return w.end(w.life.Pause) }

// stop ends the life once nothing is in flight.
func (w *world) stop() time.Duration { return w.end(func() { _ = w.life.Stop() }) } // it never pauses

func (w *world) end(how func()) time.Duration {
	w.t.Helper()
	asked := w.now()
	how()
	<-w.life.done
	if w.life.err != nil {
		w.t.Errorf("the pipeline ended with %v", w.life.err)
	}
	w.over()
	return w.now() - asked
}

// kill ends the life as a dying process does: nothing of what is in hand counts.
func (w *world) kill() {
	w.life.kill()
	w.over()
}

func (l *life) kill() {
	l.faults.Kill()
	l.cancel()
	<-l.done
}

func (w *world) over() {
	w.life.cancel()
	w.life, w.ended = nil, w.now()
}

// sweeps are the states of the visit stream in all partitions, in order.
func (l *life) sweeps() (out []visit.Status) {
	for _, p := range l.Status().Partitions {
		if p.Kind == store.RangePartition {
			out = append(out, p.Visitors...)
		}
	}
	return out
}

// partition is the state of the keeper's partition number i.
func (w *world) partition(i int) engine.PartitionStatus {
	id := w.ranges()[i].ID
	for _, p := range w.life.Status().Partitions {
		if p.ID == id {
			return p
		}
	}
	return engine.PartitionStatus{}
}

// problem returns what is shown under the visit stream's path, "" if nothing is.
func (l *life) problem(leaf string) string {
	for _, s := range l.sweeps() {
		for _, p := range s.Problems {
			if p.Path == "/key_visitor/sweep/"+leaf {
				return p.Message
			}
		}
	}
	return ""
}

// restarts counts the jobs that failed.
func (l *life) restarts() (n int) {
	for _, p := range l.Status().Partitions {
		n += p.Restarts
	}
	return n
}

// shownWithin is how long the engine may take to show what happened.
const shownWithin = 100 * time.Millisecond

// claims are what the partitions say of their passes now.
func (w *world) claims() (out []flowtest.Claim) {
	ranges := w.ranges()
	for i, s := range w.life.sweeps() {
		out = append(out, flowtest.Claim{
			At: w.now(), Late: shownWithin, Owns: owns(ranges[i]), Pass: s.Pass,
			Seen: s.Seen, Delivered: s.Delivered, Failed: s.Failed, Gone: s.Gone, MaxAge: s.MaxAge,
		})
	}
	return out
}

// passes is how many passes each partition has completed, at the least and at
// the most.
func (w *world) passes() (least, most uint64) {
	w.t.Helper()
	totals, err := w.store.Totals(context.WithoutCancel(w.t.Context()))
	if err != nil {
		w.t.Fatal(err)
	}
	of := map[store.PartitionID]uint64{}
	for _, t := range totals {
		of[t.Partition] = t.Totals.Passes
	}
	for i, p := range w.ranges() {
		n := of[p.ID]
		if i == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	return least, most
}

// passesAre demands a number of passes of every partition.
func (w *world) passesAre(least, most uint64) {
	w.t.Helper()
	if l, m := w.passes(); l < least || m > most {
		w.t.Errorf("the partitions completed %d to %d passes: want %d to %d", l, m, least, most)
	}
}

// pass is a completed pass of one partition.
type pass struct {
	flowtest.Claim
	Took time.Duration
}

// summaries are the passes that are completed and kept.
func (w *world) summaries() (out []pass, err error) {
	for _, p := range w.ranges() {
		job, err := w.store.Store.RaiseGeneration(context.WithoutCancel(w.t.Context()), p.ID)
		if err != nil {
			return nil, err
		}
		for _, s := range summariesOf(job) {
			c := flowtest.Claim{
				At: w.now(), Owns: owns(p), Pass: s.Pass, Complete: true,
				Seen: s.Seen, Delivered: s.Delivered, Failed: s.Failed, Gone: s.Gone,
			}
			out = append(out, pass{c, time.Duration(s.End - s.Start)})
		}
	}
	return out, nil
}

// summariesOf decodes the stored summaries of a job.
func summariesOf(job *store.Job) []visit.Summary {
	stored := visit.Stored{}
	for _, r := range job.Visitors {
		if r.Slot == store.SlotSummaries {
			stored.Summaries = r.Value
		}
	}
	cfg := visit.Config{Stream: "sweep", Range: visit.FullRange(), Buckets: 1, Generation: 1, Sources: 1}
	return visit.New(cfg, visit.DefaultParams(), stored, visit.Instant{}).Summaries()
}
