package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store/storetest"
)

// asking keeps the last value of a row, sends it at each visit, and counts what comes
// back.
type asking struct {
	value *flow.State[int64]
	back  *flow.State[int64]

	mu     sync.Mutex
	latest map[string]int64 // what the last visit of a key carried
	visits int
	asked  int
}

func (f *asking) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, _ flow.OutputCollector) error {
	if m.StreamID == "rows" {
		return f.value.Open(rt, m).Set(m.Payload.Int64("value"))
	}
	h := f.back.Open(rt, m)
	n, _, err := h.Get()
	f.mu.Lock()
	f.asked++
	f.mu.Unlock()
	return errors.Join(err, h.Set(n+1))
}

func (f *asking) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	value, _, err := f.value.Open(rt, v).Get()
	key, err2 := v.Key.Row()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	f.mu.Lock()
	f.latest[key[1].AsString()] = value
	f.visits++
	f.mu.Unlock()
	m, err := rt.MessageBuilder("pings").SetValue("key", key[1]).Set("value", value).Set("at", value).Finish()
	return errors.Join(err, out.AddMessage(m))
}

// TestALoopFedByVisitsEnds: what visits ask comes back into the same computation,
// which waits for the independent input alone, and sees its last values.
func TestALoopFedByVisitsEnds(t *testing.T) {
	t.Run("FIN-26 loop fed by visits, narrowed wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 0, 0)
			r.rows = nil
			for key := range 10 {
				row := func(version int64) schema.Row {
					return schema.Row{schema.String(strconv.Itoa(key)), schema.Int64(version), schema.Int64(version)}
				}
				r.rows = append(r.rows, []schema.Row{row(1), row(2)}) // the second comes when the gate opens
			}
			r.gate = make(chan struct{})
			time.AfterFunc(5*time.Second, func() { close(r.gate) })
			f := &asking{value: flow.NewState("/value", flow.CBOR[int64]()), back: flow.NewState("/back", flow.CBOR[int64]()), latest: map[string]int64{}}
			r.functions = map[string]flow.Function{"asking": f}
			p, err := r.prepare(graphSpec(
				`tester = { computation_class_name = transform; processing_function = asking; input_stream_ids = [rows; pongs]; output_stream_ids = [pings]; `+byKey+`
       key_visitor_streams = {sweep = {upstream_streams = [rows]}}; streams_dependency = {pings = [sweep]} };
     echo = { computation_class_name = passthrough; input_stream_ids = [pings]; output_stream_ids = [pongs]; `+byKey+` };`,
				`tester = {key_visitor_streams = {sweep = {period = "1s"}}};`))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			sum, err := p.Run(t.Context(), storetest.NewModel())
			if took := time.Since(began); err != nil || !sum.Completed || took > 2*time.Minute {
				t.Errorf("%+v after %s, error %v", sum, took, err)
			}
			if want := fmt.Sprint(map[string]int64{"0": 2, "1": 2, "2": 2, "3": 2, "4": 2, "5": 2, "6": 2, "7": 2, "8": 2, "9": 2}); fmt.Sprint(f.latest) != want {
				t.Errorf("the latest visits carry %v, want %s", f.latest, want)
			}
			if f.visits < 40 || f.asked != f.visits {
				t.Errorf("of %d visits, %d questions came back", f.visits, f.asked)
			}
		})
	})
}
