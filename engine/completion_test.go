package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// pinging counts rows by key, sends a ping at each visit or timer, and counts the
// pings that come back.
type pinging struct {
	state *flow.State[pinged]
	timer bool
}

type pinged struct{ Rows, Pings, Back int64 }

func newPinging(timer bool) pinging {
	return pinging{flow.NewState("/pinged", flow.CBOR[pinged]()), timer}
}

func (f pinging) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	h := f.state.Open(rt, m)
	s, _, err := h.Get()
	if err != nil {
		return err
	}
	if m.StreamID == "rows" {
		s.Rows++
		if f.timer {
			err = out.AddTimer(flow.TimerRequest{TriggerTimestamp: m.EventTimestamp + flow.Time(time.Second)})
		}
	} else {
		s.Back++
	}
	return errors.Join(err, h.Set(s))
}

func (f pinging) ping(rt flow.Runtime, of flow.Keyed, out flow.OutputCollector) error {
	h := f.state.Open(rt, of)
	s, _, err := h.Get()
	if err != nil {
		return err
	}
	s.Pings++
	key, err := flow.KeyOf(of).Row()
	if err != nil {
		return err
	}
	m, err := rt.MessageBuilder("pings").SetValue("key", key[1]).Set("value", s.Pings).Set("at", s.Pings).Finish()
	return errors.Join(err, h.Set(s), out.AddMessage(m))
}

func (f pinging) OnVisit(_ context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	return f.ping(rt, v, out)
}

func (f pinging) OnTimer(_ context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	return f.ping(rt, t, out)
}

// chaining sets each timer from the one before, up to the fifth.
type chaining struct{ pinging }

func (f chaining) OnTimer(ctx context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	s, _, err := f.state.Open(rt, t).Get()
	if err == nil && s.Pings < 5*s.Rows {
		err = out.AddTimer(flow.TimerRequest{TriggerTimestamp: t.TriggerTimestamp + flow.Time(time.Hour)})
	}
	return errors.Join(err, f.pinging.OnTimer(ctx, rt, t, out))
}

const byKey = `group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(key)"}; {name=key;type=string}];`

// graphs are pipelines over the rig's reader, with the order in which their
// computations complete; those in brackets do not.
var graphs = map[string]struct {
	computations, dynamic string
	order                 string
}{
	"a chain completes from its source to its end": {
		`relay = { computation_class_name = passthrough; input_stream_ids = [rows]; output_stream_ids = [pings]; ` + byKey + ` };
     echo = { computation_class_name = passthrough; input_stream_ids = [pings]; output_stream_ids = [pongs]; ` + byKey + ` };
     end = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [pongs]; ` + byKey + ` key_visitor_streams = {}; };`,
		"", "reader relay echo end",
	},
	"a loop fed by visits that wait for the independent input": {
		`tester = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [rows; pongs]; output_stream_ids = [pings]; ` + byKey + `
       key_visitor_streams = {sweep = {upstream_streams = [rows]}}; streams_dependency = {pings = [sweep]} };
     echo = { computation_class_name = passthrough; input_stream_ids = [pings]; output_stream_ids = [pongs]; ` + byKey + ` };`,
		"", "reader echo tester",
	},
	"a loop fed by timers that wait for the independent input": {
		`tester = { computation_class_name = transform; processing_function = by_timer; input_stream_ids = [rows; pongs]; output_stream_ids = [pings]; ` + byKey + `
       timer_streams = {alarm = {}}; streams_dependency = {alarm = [rows]; pings = [alarm]} };
     echo = { computation_class_name = passthrough; input_stream_ids = [pings]; output_stream_ids = [pongs]; ` + byKey + ` };`,
		"", "reader echo tester",
	},
	"timers of system time fire at the end of their input": {
		`tester = { computation_class_name = transform; processing_function = by_timer; input_stream_ids = [rows]; output_stream_ids = [pings]; ` + byKey + `
       timer_streams = {alarm = {time_type = system_time}} };
     end = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [pings]; ` + byKey + ` };`,
		"", "reader tester end",
	},
	"a chain of timers that set each other ends": {
		`tester = { computation_class_name = transform; processing_function = by_chain; input_stream_ids = [rows]; output_stream_ids = [pings]; ` + byKey + `
       timer_streams = {alarm = {}}; allow_timer_self_dependency = %true; streams_dependency = {alarm = [rows; alarm]} };
     end = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [pings]; ` + byKey + ` };`,
		"", "reader tester end",
	},
	"a visitor without an end holds its partition, and no output that it does not feed": {
		`tester = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [rows]; output_stream_ids = [pings; copies]; ` + byKey + `
       key_visitor_streams = {sweep = {}}; streams_dependency = {pings = [sweep]; copies = [rows]} };
     echo = { computation_class_name = passthrough; input_stream_ids = [pings]; output_stream_ids = [pongs]; ` + byKey + ` };
     reader_of_copies = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [copies]; ` + byKey + ` };`,
		"tester = {key_visitor_streams = {sweep = {finite = %false; period = \"1s\"}}};", "reader reader_of_copies [echo tester]",
	},
	"a visitor that follows its own output never completes": {
		`tester = { computation_class_name = transform; processing_function = by_visit; input_stream_ids = [rows; pongs]; output_stream_ids = [pings]; ` + byKey + `
       key_visitor_streams = {sweep = {}}; streams_dependency = {pings = [sweep]} };
     echo = { computation_class_name = passthrough; input_stream_ids = [pings]; output_stream_ids = [pongs]; ` + byKey + ` };`,
		"tester = {key_visitor_streams = {sweep = {period = \"1s\"}}};", "reader [echo tester]",
	},
}

// graphSpec is the rig's reader with other computations.
func graphSpec(computations, dynamic string) string {
	text := `{ spec = { streams = {`
	for _, id := range []string{"rows", "pings", "pongs", "copies"} {
		text += id + " = " + rowSchema + "; "
	}
	return text + `}; computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows]; source_streams = {memory = {source_class_name = memory}};
      watermark_strategy = {event_timestamp_assigner = {column = at; format = seconds}} };
    ` + computations + ` } }; dynamic_spec = { computations = { ` + dynamic + ` } } }`
}

// TestGraphsCompleteInOrder: the same through faults of the store, whatever is
// completed having said so to its consumers (KV-33, KV-38, KV-40, KV-44, D-16).
func TestGraphsCompleteInOrder(t *testing.T) {
	for name, g := range graphs {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				synctest.Test(t, func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 0))
					r := newRig(t, 60, 10)
					r.functions = map[string]flow.Function{"by_visit": newPinging(false), "by_timer": newPinging(true), "by_chain": chaining{newPinging(true)}}
					p, err := r.prepare(graphSpec(g.computations, g.dynamic))
					if err != nil {
						t.Fatal(err)
					}
					var completed completions
					faults := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault {
						completed.note(c)
						if seed == 0 {
							return storetest.Fault{}
						}
						return someFault(rng, c)
					})
					time.AfterFunc(20*time.Second, p.Pause)
					if _, err := p.Run(t.Context(), faults); err != nil {
						t.Fatal(err)
					}
					got := completed.order(p)
					if got != g.order {
						t.Errorf("seed %d: completed in the order %s, want %s", seed, got, g.order)
					}
				})
			}
		})
	}
}

// completions notes the commits that complete partitions. One that fails comes
// again, so the last one counts.
type completions struct {
	mu    sync.Mutex
	calls int
	last  map[store.PartitionID]int
}

func (c *completions) note(call storetest.Call) {
	if call.Op != storetest.OpCommit || !call.Commit.Done {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last == nil {
		c.last = map[store.PartitionID]int{}
	}
	c.calls++
	c.last[call.Commit.Partition] = c.calls
}

// order is that of computations by their last partitions, with those in brackets
// that have not completed.
func (c *completions) order(p *Pipeline) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, open := map[string]int{}, []string{}
	for _, part := range p.Status().Partitions {
		if part.Phase != Done && !slices.Contains(open, part.Computation) {
			open = append(open, part.Computation)
		}
		last[part.Computation] = max(last[part.Computation], c.last[part.ID])
	}
	for _, id := range open {
		delete(last, id)
	}
	done := slices.SortedFunc(maps.Keys(last), func(a, b string) int { return cmp.Compare(last[a], last[b]) })
	text := strings.Join(done, " ")
	if len(open) > 0 {
		slices.Sort(open)
		text += fmt.Sprint(" ", open)
	}
	return text
}
