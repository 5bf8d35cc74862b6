package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/partition"
	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/store"
)

// timerPlan is a timer stream. index is its number in ids, behind those of outputs
// and visit streams.
type timerPlan struct {
	index  uint16
	config partition.TimerStream
}

func timersOf(c *spec.Computation) (plans []timerPlan) {
	for i, id := range c.TimerStreamIDs() {
		t := c.TimerStreams[id]
		plans = append(plans, timerPlan{
			index: uint16(len(c.Outputs) + len(c.VisitStreams) + i),
			config: partition.TimerStream{
				Stream: id, Clock: clockOf(t), Watch: watchesOf(c, t), Parents: c.Dependencies[id],
			},
		})
	}
	return plans
}

func clockOf(t *spec.TimerStream) partition.TimerClock {
	switch t.TimeType {
	case spec.TimeSystem:
		return partition.SystemClock
	case spec.TimeReal, spec.TimeCurrent:
		return partition.RealClock
	default:
		return partition.EventClock
	}
}

// watchesOf are the streams whose watermarks count: those with delays, else those
// listed, else the parents.
func watchesOf(c *spec.Computation, t *spec.TimerStream) (out []partition.Watch) {
	if len(t.Delays) > 0 {
		for _, id := range slices.Sorted(maps.Keys(t.Delays)) {
			out = append(out, partition.Watch{Stream: id, Delay: t.Delays[id]})
		}
		return out
	}
	streams := t.Streams
	if len(streams) == 0 {
		streams = c.Dependencies[t.ID]
	}
	for _, id := range streams {
		out = append(out, partition.Watch{Stream: id})
	}
	return out
}

// readTimers answers the machine. It is done at once, since no epoch comes before.
func (j *job) readTimers(ctx context.Context, reads []partition.ReadTimers) error {
	for _, r := range reads {
		a, err := j.env.store.ListTimers(ctx, *r.Request)
		if err != nil {
			return fmt.Errorf("read timers of %s: %w", r.Request.Stream, err)
		}
		j.machine.Step(j.env.clock.now(), partition.TimersRead{Stream: r.Stream, Timers: a.Timers, End: a.End})
	}
	return nil
}

// surveyTimers asks beside the job, as a list does.
func (j *job) surveyTimers(ctx context.Context, r partition.ReadTimers) {
	j.lists.Add(1)
	go func() {
		defer j.lists.Done()
		least, any, err := j.env.store.LeastTimerEvent(ctx, *r.Request)
		j.answers <- partition.TimersSurveyed{Stream: r.Stream, Least: least, Any: any, Failed: err != nil}
		j.box.wake()
	}()
}

// timerOp is something that an epoch did to timers, in order: it set one, one
// fired, or a key was cleared (then only the key is given).
type timerOp struct {
	kind timerChange
	id   store.TimerID
	at   int64 // the event timestamp of one that was set
}

type timerChange uint8

const (
	timerSet timerChange = iota
	timerFired
	timersCleared
)

// timerEdits turns what an epoch did into what it leaves: the timers that are set
// at its end, and the keys that were cleared.
func timerEdits(ops []timerOp) (set []store.Timer, cleared []string) {
	at := map[store.TimerID]int64{}
	keys := map[string]bool{}
	for _, op := range ops {
		switch event, known := at[op.id]; op.kind {
		case timerSet:
			if at[op.id] = op.at; known {
				at[op.id] = min(op.at, event)
			}
		case timerFired:
			delete(at, op.id) // what was set before it is the one that fired
		case timersCleared:
			keys[op.id.Key] = true
			maps.DeleteFunc(at, func(id store.TimerID, _ int64) bool { return id.Key == op.id.Key })
		}
	}
	for id, event := range at {
		set = append(set, store.Timer{TimerID: id, Event: event})
	}
	slices.SortFunc(set, func(a, b store.Timer) int { return a.Compare(b.TimerID) })
	return set, slices.Sorted(maps.Keys(keys))
}

// finishTimers puts into the result what the epoch did to timers. Those of keys
// that were cleared are looked up now.
func (p *functionProcessor) finishTimers(ctx context.Context, res *result) error {
	if len(p.rt.timers) == 0 {
		return nil
	}
	set, cleared := timerEdits(p.rt.timers)
	res.processed.TimersSet = set
	if len(cleared) == 0 {
		return nil
	}
	found, err := p.timers.KeyTimers(ctx, p.node.id, cleared)
	if err != nil {
		return fmt.Errorf("read the timers of %d keys: %w", len(cleared), err)
	}
	gone := slices.Concat(found...)
	slices.SortFunc(gone, store.TimerID.Compare)
	res.processed.TimersGone = gone
	return nil
}

// AddTimer sets a timer that depends on all inputs of the call.
func (r *callRuntime) AddTimer(t flow.TimerRequest) error { return r.addTimer(t, r.parents) }

func (n narrowed) AddTimer(t flow.TimerRequest) error { return n.call.addTimer(t, n.parents) }

// addTimer sets a timer. As for messages, those parents count that its stream
// depends on, and there has to be one (KV-41).
func (r *callRuntime) addTimer(t flow.TimerRequest, parents []parent) error {
	plan, err := r.timerStream(t.StreamID)
	if err != nil {
		return r.fail(err)
	}
	stream := plan.config.Stream
	event, ok := earliest(parents, plan.config.Parents)
	if !ok {
		return r.fail(r.undeclared("timer stream", "set", stream, parents, plan.config.Parents))
	}
	key := parents[0].key
	for i := range parents {
		if parents[i].key != key {
			return r.fail(fmt.Errorf("a timer of %s belongs to one key, and the inputs of this call have several: set it with WithParents of the inputs of its key", stream))
		}
	}
	if t.EventTimestamp != 0 {
		event = t.EventTimestamp
	}
	id := store.TimerID{Key: key, Trigger: int64(t.TriggerTimestamp), Stream: stream}
	r.timers = append(r.timers, timerOp{kind: timerSet, id: id, at: int64(event)})
	return nil
}

func (r *callRuntime) timerStream(id string) (*timerPlan, error) {
	plans := r.node.timers
	if id == "" && len(plans) == 1 {
		return &plans[0], nil
	}
	var known []string
	for i := range plans {
		if plans[i].config.Stream == id {
			return &plans[i], nil
		}
		known = append(known, plans[i].config.Stream)
	}
	switch {
	case len(plans) == 0:
		return nil, fmt.Errorf("computation %s has no timer streams: list one in timer_streams, such as timer_streams = {timeout = {}}", r.node.id)
	case id == "":
		return nil, fmt.Errorf("computation %s has several timer streams: say which in StreamID, one of %q", r.node.id, known)
	default:
		return nil, fmt.Errorf("computation %s has no timer stream %q: it has %q", r.node.id, id, known)
	}
}
