package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
)

// snoozing has a source on workers of one group, and timers by system time on the others.
const snoozing = `{ name = snoozing; spec = {
  streams = { rows = {schema = [{name=n;type=string}]}; out = {schema = [{name=n;type=string}]} };
  computations = {
    reader = { computation_class_name = source_passthrough; output_stream_ids = [rows]; worker_group = readers;
      source_streams = {made = {source_class_name = datagen; parameters = {partitions = 2; rate = 100; keys = {count = 100}; columns = {n = {kind = key}}}}} };
    snooze = { computation_class_name = transform; processing_function = snooze; timer_streams = {alarm = {time_type = system_time}};
      group_by_schema = [{name=hash;type=uint64;required=%true;expression="farm_hash(n)"}; {name=n;type=string}];
      input_stream_ids = [rows]; output_stream_ids = [out]; streams_dependency = {out = [alarm]};
      sinks = {out = {sink_class_name = queue; input_stream_ids = [out]; parameters = {path = out}}} } } };
  dynamic_spec = {computations = {snooze = {desired_partition_count = 3}}} }`

// snooze sets a timer for each message, and emits its key when that fires.
type snooze struct{}

func (snooze) OnMessage(_ context.Context, _ flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return out.AddTimer(flow.TimerRequest{TriggerTimestamp: m.SystemTimestamp.Add(10 * time.Millisecond)})
}

func (snooze) OnTimer(_ context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	key, err := t.Key.Row()
	if err != nil {
		return err
	}
	m, err := rt.MessageBuilder("out").SetValue("n", key[1]).Finish()
	return errors.Join(err, out.AddMessage(m))
}

// TestSystemTimersHearOfOtherWorkers: they fire while the input goes on, which only the
// words of the worker that reads it allow; and again when another has taken its place.
func TestSystemTimersHearOfOtherWorkers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := &program{own: map[string]flow.Function{"snooze": snooze{}}}
	readers := &program{own: p.own, group: "readers"}
	r.must(r.submit(p, snoozing))
	r.hire(p)
	first := r.hire(readers)
	r.await("timers to fire", func() bool { return r.pulled("out") > 10 })
	first.stop()
	r.must(r.ended(first))
	fired := r.pulled("out")
	r.hire(readers)
	r.await("timers to fire again", func() bool { return r.pulled("out") > fired+200 })
}
