package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// answering sets a system timer a little after each message was sent, and takes its
// time with messages. Each firing compares itself with the key's last, and with the
// time: only when all input has passed may a timer fire before its own.
type answering struct {
	*countFunction
	last  *flow.State[int64]
	slow  time.Duration
	input *dawdling
}

func newAnswering(r *rig, slow time.Duration, input *dawdling) flow.Function {
	return answering{newCountFunction(r), flow.NewState("/last", flow.CBOR[int64]()), slow, input}
}

func (f answering) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	<-time.After(f.slow)
	after := flow.Time(1+m.Payload.Int64("value")*31%300) * flow.Time(time.Millisecond)
	return errors.Join(
		f.countFunction.OnMessage(ctx, rt, m, out),
		out.AddTimer(flow.TimerRequest{TriggerTimestamp: m.SystemTimestamp + after + flow.Time(m.Payload.Int64("value"))}),
	)
}

func (f answering) OnTimer(_ context.Context, rt flow.Runtime, t flow.Timer, _ flow.OutputCollector) error {
	h := f.last.Open(rt, t)
	last, _, err := h.Get()
	if int64(t.TriggerTimestamp) < last {
		rt.Count("disorder", 1)
	}
	if t.SystemTimestamp < t.TriggerTimestamp && !f.input.ended() {
		rt.Count("early", 1)
	}
	return errors.Join(err, h.Set(int64(t.TriggerTimestamp)))
}

// dawdling passes rows on, and takes its time for each. It knows which of them have
// passed.
type dawdling struct {
	mu     sync.Mutex
	all    int
	each   time.Duration
	passed map[int64]bool
}

func newDawdling(all int, each time.Duration) *dawdling {
	return &dawdling{all: all, each: each, passed: map[int64]bool{}}
}

func (d *dawdling) ended() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.passed) == d.all
}

func (d *dawdling) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	<-time.After(d.each)
	d.mu.Lock()
	d.passed[m.Payload.Int64("value")] = true
	d.mu.Unlock()
	return out.AddMessage(flow.OutputMessage{StreamID: "rows", Payload: m.Payload, EventTimestamp: m.EventTimestamp})
}

// TestSystemTimersWaitForEarlierMessages: epochs of the producer take long and
// messages wait for a slow function, and no timer fires before one that an earlier
// message sets for the same key; the same through faults of the store, which leave it
// open what was committed.
func TestSystemTimersWaitForEarlierMessages(t *testing.T) {
	for seed := range uint64(6) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			r := timerRig(t, 800, 7, "time_type = system_time")
			r.partitions, r.period = 1+rng.IntN(3), "1s"
			input := newDawdling(800, 2*time.Millisecond)
			r.functions = map[string]flow.Function{"dawdle": input}
			r.edit = func(edit func(string) string) func(string) string {
				return func(text string) string {
					text = relayed(t, "computation_class_name = transform; processing_function = dawdle")(edit(text))
					return edited(t, "counter = {desired", "relay = {desired_partition_count = 2}; counter = {desired")(text)
				}
			}(r.edit)
			slow := time.Duration(rng.IntN(3)) * time.Millisecond
			r.function = func() flow.Function { return newAnswering(r, slow, input) }
			r.gate = make(chan struct{}) // or all would fire at the end of the input
			time.AfterFunc(2*time.Second, func() { close(r.gate) })
			sum := r.run(storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
				if seed == 0 {
					return storetest.Fault{}
				}
				return someFault(rng, c)
			}))
			r.check()
			if sum.Timers != 800 || sum.Counts["disorder"] > 0 || sum.Counts["early"] > 0 {
				t.Errorf("seed %d: %d timers fired, counts %v; want 800, in order and not before their time", seed, sum.Timers, sum.Counts)
			}
		})
	}
}
