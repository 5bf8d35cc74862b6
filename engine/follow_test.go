package engine

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

// setCounter changes a parameter of the counter.
func (r *running) setCounter(name string, value *yson.Node) {
	r.t.Helper()
	_, err := r.SetDynamic(r.t.Context(), "computations.counter."+name, value, 0)
	r.must(err)
}

// TestLimitsFollowAChange: those of inboxes and those of epochs, while messages
// wait (D-18, D-20).
func TestLimitsFollowAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 20_000, 57)
		r.partitions, r.period, r.dynamic = 1, "1h", "inbox_row_limit = 20;"
		r.onMessage = taking(5 * time.Millisecond)
		s := storetest.NewModel()
		var waiting, taken atomic.Int64 // the most since they were set to 0
		p := r.start(storetest.NewFaults(s, func(c storetest.Call) storetest.Fault {
			if c.Op != storetest.OpCommit || c.Commit.Computation != "counter" {
				return storetest.Fault{}
			}
			n := 0
			for _, take := range c.Commit.Taken {
				n += take.To - take.From
			}
			sizes, _ := s.InboxSizes(t.Context())
			for _, size := range sizes {
				waiting.Store(max(waiting.Load(), int64(size.Messages)))
			}
			taken.Store(max(taken.Load(), int64(n)))
			return storetest.Fault{}
		}))
		measure := func() (int64, int64) {
			<-time.After(time.Second) // what was there before
			waiting.Store(0)
			taken.Store(0)
			<-time.After(10 * time.Second)
			return waiting.Load(), taken.Load()
		}
		if w, n := measure(); w > 20+2*37 || n < 10 || n > 21 {
			t.Errorf("up to %d messages wait and %d are taken, under the first limits", w, n)
		}
		p.setCounter("inbox_row_limit", yson.Int64(1000))
		if w, _ := measure(); w < 900 || w > 1000+2*37 {
			t.Errorf("up to %d messages wait, the limit is 1000", w)
		}
		p.setCounter("max_rows_per_batch", yson.Int64(3))
		if _, n := measure(); n != 3 {
			t.Errorf("up to %d messages are taken, the limit is 3", n)
		}
		p.setCounter("max_rows_per_batch", nil)
		p.setCounter("max_epoch_duration", yson.String("1s"))
		if _, n := measure(); n < 100 || n > 201 {
			t.Errorf("up to %d messages of 5 ms are taken in an epoch of a second", n)
		}
		p.pause()
	})
}

// TestAnErrorPolicyHealsAFailingJob: set to skip while the job fails again and
// again, it holds at the next start.
func TestAnErrorPolicyHealsAFailingJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		r.gate, r.period = make(chan struct{}), "1h"
		r.onMessage = func(m flow.Message) error {
			if m.Payload.Int64("value") == 42 {
				return errors.New("sour milk")
			}
			return nil
		}
		p := r.start(storetest.NewModel())
		<-time.After(time.Minute)
		if p.problemAt("/computations/counter", "/job") == nil {
			t.Fatal("the job does not fail")
		}
		p.setCounter("on_message_error", yson.String("skip"))
		<-time.After(time.Minute)
		if got := p.problemAt("/computations/counter", "/job"); got != nil {
			t.Errorf("the job still fails: %+v", got)
		}
		if n := p.Status().Counts["failed_messages"]; n != 1 {
			t.Errorf("%d failed messages", n)
		}
		close(r.gate)
		p.must(<-p.done)
	})
}

// TestIdlePartitionsAreQuiet: with a day's period and no input, a partition
// commits and reads a few times a minute. While its stream is disabled it reads
// nothing, and only tells the watermark, which goes on then, every 30 s (KV-23,
// KV-45).
func TestIdlePartitionsAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2000, 1000)
		r.partitions, r.period = 4, "1d"
		var commits, reads atomic.Int64
		p := r.start(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			switch c.Op {
			case storetest.OpCommit:
				commits.Add(1)
			case storetest.OpListStates, storetest.OpReadInbox, storetest.OpGetStates:
				reads.Add(1)
			}
			return storetest.Fault{}
		}))
		anHour := func() (c, r int64) {
			<-time.After(time.Minute)
			commits.Store(0)
			reads.Store(0)
			<-time.After(time.Hour)
			return commits.Load(), reads.Load()
		}
		const limit = 4 * 60 * 4 // four a minute and partition
		if c, r := anHour(); c > limit || r > limit || r < 4*30 {
			t.Errorf("%d commits and %d reads of four idle partitions in an hour", c, r)
		}
		p.must(p.set("enabled", "%false"))
		if c, r := anHour(); c > 4*2*60 || r > 0 {
			t.Errorf("%d commits and %d reads of four partitions whose stream is disabled", c, r)
		}
		p.pause()
	})
}

// TestRunNowHoldsThroughStoreFaults: commits that fail, are fenced or lose their
// outcome neither forget the command nor repeat a visit.
func TestRunNowHoldsThroughStoreFaults(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := slowRig(t)
		r.partitions = 1 + rng.IntN(4)
		period := time.Duration(rng.IntN(3)) * 10 * time.Second // drawn before the faults are, beside the test
		var on atomic.Bool
		p := r.start(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			if !on.Load() {
				return storetest.Fault{}
			}
			if f := someFault(rng, c); f.After != nil || f.Instead != nil {
				return f
			}
			if c.Op == storetest.OpCommit && rng.IntN(3) == 0 {
				return storetest.Lost(rng.IntN(2) == 0)
			}
			return storetest.Fault{}
		}))
		<-time.After(time.Minute)
		before := p.Status().Visits
		on.Store(true)
		p.must(p.RunNow(t.Context(), "counter", "sweep", period))
		<-time.After(3 * time.Minute)
		on.Store(false)
		<-time.After(time.Minute)
		for key, times := range r.passes() {
			if times > 1 {
				t.Errorf("key and pass %v: %d visits", key, times)
			}
		}
		if n := int(p.Status().Visits - before); n < 50 || n > 53 {
			t.Errorf("%d visits, want 50 and what four minutes of ten days bring", n)
		}
		if err := p.RunNow(t.Context(), "counter", "sweep", 0); err != nil && !strings.Contains(err.Error(), "starting") {
			t.Errorf("another command: %v", err)
		}
		p.pause()
	})
}
