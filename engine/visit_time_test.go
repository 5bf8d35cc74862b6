package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store/storetest"
)

// alarmed sets a timer five seconds after each row, by the time of visits, and sends
// a ping at each visit.
type alarmed struct {
	pinging
	mu    sync.Mutex
	after []time.Duration // how long each timer took
}

func (f *alarmed) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return errors.Join(f.pinging.OnMessage(ctx, rt, m, out), out.AddTimer(flow.TimerRequest{TriggerTimestamp: m.SystemTimestamp + flow.Time(5*time.Second)}))
}

func (f *alarmed) OnTimer(_ context.Context, _ flow.Runtime, t flow.Timer, _ flow.OutputCollector) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.after = append(f.after, t.SystemTimestamp.Sub(t.TriggerTimestamp)+5*time.Second)
	return nil
}

// downstream compares what visits emitted with the watermark that was announced.
type downstream struct {
	mu        sync.Mutex
	seen      int
	late      int
	watermark flow.Time
	system    flow.Time
}

func (f *downstream) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen++
	if at, known := rt.MinWatermark(); known {
		if f.watermark = at; m.EventTimestamp < at {
			f.late++
		}
	}
	f.system = m.SystemTimestamp
	return nil
}

// TestVisitsHaveATimeOfTheirOwn: readers of what visits emit see a watermark that
// follows the clock, and nothing late; timers may follow the visit stream; the
// status shows its watermark (KV-45, KV-46).
func TestVisitsHaveATimeOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 60, 10)
		f, end := &alarmed{pinging: newPinging(false)}, &downstream{}
		r.functions = map[string]flow.Function{"alarmed": f, "end": end}
		p, err := r.prepare(graphSpec(
			`tester = { computation_class_name = transform; processing_function = alarmed; input_stream_ids = [rows]; output_stream_ids = [pings]; `+byKey+`
       timer_streams = {alarm = {streams = [sweep]}}; key_visitor_streams = {sweep = {}}; streams_dependency = {alarm = [rows]; pings = [sweep]} };
     reader_of_pings = { computation_class_name = transform; processing_function = end; input_stream_ids = [pings]; `+byKey+` };`,
			`tester = {desired_partition_count = 1; key_visitor_streams = {sweep = {finite = %false; period = "1s"}}};
     reader_of_pings = {desired_partition_count = 1};`))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*time.Minute, func() {
			v := p.VisitStreams()[0]
			if lag := time.Duration(time.Now().UnixNano() - v.Watermark.Value); !v.Watermark.Known || lag < 0 || lag > 2*time.Second {
				t.Errorf("the status shows the watermark %+v, %s behind the clock", v.Watermark, lag)
			}
			p.Pause()
		})
		if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
			t.Fatal(err)
		}
		if end.seen < 500 || end.late > 0 {
			t.Errorf("%d messages of visits were seen, %d of them late", end.seen, end.late)
		}
		if behind := end.system.Sub(end.watermark); behind < 0 || behind > clockedBound {
			t.Errorf("the watermark downstream is %s behind the clock", behind)
		}
		if len(f.after) < 10 { // one a key and epoch
			t.Errorf("%d timers fired, want one for each of 10 keys", len(f.after))
		}
		for _, after := range f.after {
			if after < 5*time.Second || after > 8*time.Second {
				t.Errorf("a timer fired after %s, want five seconds and the lag of the visits", after)
			}
		}
	})
}

// clockedBound is how far a watermark that moves with the clock may be behind it: it
// is told every half a minute at the latest.
const clockedBound = 32 * time.Second
