package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/visit"
)

// repeated returns the visits that came twice in one pass. A key that is given
// over to another partition in the middle of a pass counts as of that pass.
func (r *rig) repeated() (out []string) {
	seen := map[string]bool{}
	for _, m := range r.sink.written {
		visit := fmt.Sprintf("key %s in pass %d", m.Payload.String("key"), m.Payload.Uint64("pass"))
		if seen[visit] {
			out = append(out, visit)
		}
		seen[visit] = true
	}
	return out
}

// TestFiguresHoldThroughRepartitioning: 3, 8, 2, 16, 1, 5 partitions in the middle of
// passes, of a running pipeline and of one that starts, through faults and pauses;
// no visit is repeated in a pass, and no message lost or counted twice (D-13,
// KV-14).
func TestFiguresHoldThroughRepartitioning(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 600, 57)
		r.period = "300ms"
		r.gate = make(chan struct{})
		r.onMessage = taking(time.Duration(rng.IntN(3)) * time.Millisecond)
		var waits [5]time.Duration // drawn before the faults are, beside the test
		var ways [5]int
		for i := range waits {
			waits[i], ways[i] = time.Duration(rng.IntN(400))*time.Millisecond, rng.IntN(3)
		}
		s := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpRelayout {
				c.Op = storetest.OpCommit // as often, and with lost outcomes
			}
			return someFault(rng, c)
		})
		p := r.start(s)
		for i, n := range []int{8, 2, 16, 1, 5} {
			<-time.After(waits[i])
			switch r.partitions = n; ways[i] {
			case 0:
				p.pause()
				p = r.start(s)
			case 1:
				p.must(p.Repartition(t.Context(), "counter", n))
			default:
				p.must(p.change("desired_partition_count", fmt.Sprint(n)))
			}
		}
		for len(p.VisitStreams()[0].Parts) != 5 {
			<-time.After(time.Second) // what the store refused is tried again
		}
		close(r.gate)
		p.must(<-p.done)
		r.check()
		if twice := r.repeated(); len(twice) > 0 {
			t.Errorf("visited twice: %v", twice)
		}
		parts, err := s.Partitions(t.Context())
		p.must(err)
		if n := len(of(parts, "counter")); n != 5 {
			t.Errorf("%d partitions in the end, want 5", n)
		}
	})
}

// TestREB02 changes the number of partitions under load, endlessly visited:
// nothing meets a conflict or an error.
func TestREB02(t *testing.T) {
	t.Run("REB-02 repartitioning under load", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			const step = 15 * time.Second
			r := newRig(t, 500*5*15, 500)
			r.partitions, r.period = 1, "500ms"
			r.rate = 500 / 2 // of each source partition: every key once a second
			r.gate = make(chan struct{})
			r.onMessage = taking(500 * time.Microsecond)
			s := storetest.NewFaults(storetest.NewModel(), nil)
			p := r.start(s)
			messages, visits := uint64(0), uint64(0)
			for i, n := range []int{8, 2, 8, 3, 0} {
				<-time.After(step)
				now := p.Status()
				if m, v := now.Messages-messages, now.Visits-visits; m < 500*14 || v < 500*20 {
					t.Errorf("step %d had %d messages and %d visits", i, m, v)
				}
				messages, visits = now.Messages, now.Visits
				if n > 0 {
					p.must(p.Repartition(t.Context(), "counter", n))
				}
				for _, part := range p.Status().Partitions {
					if part.Restarts > 0 || part.Error != "" {
						t.Errorf("step %d: %d restarts, error %q", i, part.Restarts, part.Error)
					}
				}
			}
			close(r.gate)
			p.must(<-p.done)
			r.check()
			if twice := r.repeated(); len(twice) > 0 {
				t.Errorf("visited twice: %v", twice)
			}
		})
	})
}

// TestARepartitionDuringTheFinalPassIsDropped: it waits, says so, and all stay
// Completed (KV-15).
func TestARepartitionDuringTheFinalPassIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 200, 50)
		r.partitions, r.period = 1, "10s"
		r.dynamic = "max_epoch_duration = \"10ms\";"
		var last time.Time
		r.function = func() flow.Function { return slowVisits{newCountFunction(r), 20 * time.Millisecond, &last} }
		s := storetest.NewModel()
		p := r.start(s)
		<-time.After(time.Second)
		close(r.gate)
		for !p.VisitStreams()[0].FinalBegun {
			<-time.After(time.Millisecond)
		}
		time.AfterFunc(time.Millisecond, func() {
			if all := p.Problems(); !slices.ContainsFunc(all, func(p Problem) bool {
				return p.Path == "/computations/counter/repartition" && p.Warning && strings.Contains(p.Message, "waits until its final passes are over")
			}) {
				t.Errorf("nothing says that the repartition waits: %v", all)
			}
		})
		err := p.Repartition(t.Context(), "counter", 8)
		if verdictOf(err) != partition.Drop {
			t.Errorf("repartition during the final pass: %v", err)
		}
		p.must(<-p.done)
		r.check()
		r.partitions = 5
		if sum := r.run(s); !sum.Already {
			t.Error("a completed pipeline with another number of partitions ran again")
		}
	})
}

// TestACompletedScannerStartsAgain: with finite=false and a repartition, also to the
// same number; its passes go on counting (KV-15, KV-16).
func TestACompletedScannerStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 50)
		r.edit = func(text string) string { // nobody reads its output
			for _, gone := range []string{
				" output_stream_ids = [counts];", "\n      streams_dependency = {counts = [sweep]};",
				"\n      sinks = {out = {sink_class_name = memory; input_stream_ids = [counts]}}",
			} {
				text = strings.Replace(text, gone, "", 1)
			}
			return text
		}
		r.function = func() flow.Function { return silent{newCountFunction(r)} }
		s := storetest.NewModel()
		p := r.start(s)
		p.must(p.RunNow(t.Context(), "counter", "sweep", 0))
		<-time.After(time.Second)
		close(r.gate)
		p.must(<-p.done)
		parts, err := s.Partitions(t.Context())
		if err != nil || parts[0].State != store.Completed {
			t.Fatal(parts, err)
		}
		r.dynamic = ""
		edit := r.edit
		r.edit = func(text string) string {
			return edit(strings.Replace(text, "sweep = {period", "sweep = {finite = %false; period", 1))
		}
		p = r.start(s)
		p.must(<-p.done) // completed, and nobody asked for it to start again
		r.partitions = 4
		p = r.start(s)
		if n := p.visits(time.Second); n == 0 {
			t.Error("no visits after a scanner was started again")
		}
		for _, part := range p.VisitStreams()[0].Parts {
			if part.Pass < 2 {
				t.Errorf("partition %d is in pass %d again", part.Partition, part.Pass)
			}
			if part.Run != (visit.Run{}) {
				t.Errorf("partition %d obeys a run-now of long ago again: %s", part.Partition, part.Run)
			}
		}
		p.pause()
	})
}

// silent emits nothing.
type silent struct{ *countFunction }

func (f silent) OnVisit(context.Context, flow.Runtime, flow.Visit, flow.OutputCollector) error {
	return nil
}

// TestBadRepartitionsAreRefused: with what there is.
func TestBadRepartitionsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 100, 10)
		if err := r.pipeline().Repartition(t.Context(), "counter", 4); !errors.Is(err, ErrNotRunning) {
			t.Errorf("before Run: %v", err)
		}
		p := r.start(storetest.NewModel())
		for _, c := range []struct {
			computation string
			n           int
			want        string
		}{
			{"counters", 4, "there are counter"},
			{"reader", 4, "follow their files"},
			{"counter", -1, "desired_partition_count"},
			{"counter", 1 << 20, "desired_partition_count"},
		} {
			if err := p.Repartition(t.Context(), c.computation, c.n); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s into %d: %v, want %q", c.computation, c.n, err, c.want)
			}
		}
		p.must(p.Repartition(t.Context(), "counter", 3))
		p.pause()
	})
}
