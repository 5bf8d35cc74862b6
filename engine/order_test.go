package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
	"github.com/rondo-flow/rondo/yson"
)

// ordering demands that the rows of a key come in the order of each source partition
// that they are from, which is that of their values. What it remembers is state: a
// failed epoch does not count.
type ordering struct {
	rig   *rig
	where string
	last  *flow.State[lastValues]
	flow.RowFunction
}

// lastValues are the largest values so far of the two source partitions.
type lastValues struct{ Even, Odd int64 }

func newOrdering(r *rig, where string, then flow.RowFunction) ordering {
	return ordering{r, where, flow.NewState("/last", flow.CBOR[lastValues]()), then}
}

func (f ordering) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	h := f.last.Open(rt, m)
	last, _, err := h.Get()
	if err != nil {
		return err
	}
	value := m.Payload.Int64("value")
	of := &last.Even
	if value%2 == 1 {
		of = &last.Odd
	}
	if value+1 <= *of {
		f.rig.t.Errorf("%s: key %s has %d after %d", f.where, m.Key, value, *of-1)
	}
	*of = value + 1
	return errors.Join(err, h.Set(last), f.RowFunction.OnMessage(ctx, rt, m, out))
}

// orderingCounter also answers visits.
type orderingCounter struct {
	ordering
	flow.RowVisitFunction
}

// TestOrderHoldsThroughRepartitioning: messages of one producer partition to one key
// come in the order produced, while the partitions of producer and consumer are
// replaced, jobs fail, and the pipeline is paused and started again (D-8).
func TestOrderHoldsThroughRepartitioning(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := newRig(t, 1200, 31)
		r.period = "300ms"
		r.gate = make(chan struct{})
		ordered := ""
		if rng.IntN(3) == 0 {
			ordered = "input_ordering = {};"
		}
		r.edit = func(text string) string {
			text = relayed(t, ordered+"computation_class_name = transform; processing_function = relay")(text)
			return edited(t, `farm_hash(value)"}; {name=value;type=int64}]`, `farm_hash(key)"}; {name=key;type=string}]`,
				"reader = {max", "relay = {desired_partition_count = 2}; reader = {max")(text)
		}
		r.onMessage = taking(time.Duration(rng.IntN(3)) * time.Millisecond)
		r.functions = map[string]flow.Function{"relay": newOrdering(r, "relay", copying("rows"))}
		r.function = func() flow.Function {
			f := newCountFunction(r)
			return orderingCounter{newOrdering(r, "counter", f), f}
		}
		type step struct {
			wait  time.Duration
			node  string
			count int
		}
		var steps []step // drawn before the faults are, beside the test
		for range 6 {
			s := step{time.Duration(rng.IntN(150)) * time.Millisecond, "counter", 1 + rng.IntN(6)}
			if rng.IntN(2) == 0 {
				s.node = "relay"
			}
			steps = append(steps, s)
		}
		paused := rng.IntN(len(steps))
		s := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
			if c.Op == storetest.OpRelayout {
				c.Op = storetest.OpCommit // as often, and with lost outcomes
			}
			return someFault(rng, c)
		})
		p := r.start(s)
		for i, step := range steps {
			<-time.After(step.wait)
			if i == paused {
				p.pause()
				p = r.start(s)
			}
			_, err := p.SetDynamic(t.Context(), fmt.Sprintf("computations.%s.desired_partition_count", step.node), yson.Int64(int64(step.count)), 0)
			p.must(err)
		}
		close(r.gate)
		p.must(<-p.done)
		r.check()
	})
}
