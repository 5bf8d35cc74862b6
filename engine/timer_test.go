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
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// alarms is the counting function with a timer for each row, seven seconds of
// event time after it. A firing emits the key and the trigger's second, in what is
// no pass. The final visit must come after all of them.
type alarms struct {
	*countFunction
	fired   *flow.State[countState]
	trigger func(m flow.Message) flow.Time
	fail    func(t flow.Timer) error
}

const firing = 999 // in place of a pass

func newAlarms(r *rig) *alarms {
	return &alarms{
		countFunction: newCountFunction(r),
		fired:         flow.NewState("/fired", flow.CBOR[countState]()),
		trigger:       func(m flow.Message) flow.Time { return m.EventTimestamp + flow.Time(7*time.Second) },
		fail:          func(flow.Timer) error { return nil },
	}
}

func (f *alarms) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	return errors.Join(
		f.countFunction.OnMessage(ctx, rt, m, out),
		out.AddTimer(flow.TimerRequest{TriggerTimestamp: f.trigger(m)}),
	)
}

func (f *alarms) OnTimer(_ context.Context, rt flow.Runtime, t flow.Timer, out flow.OutputCollector) error {
	h := f.fired.Open(rt, t)
	s, _, err := h.Get()
	if err != nil {
		return err
	}
	row, err := t.Key.Row()
	if err != nil {
		return err
	}
	m, err := rt.MessageBuilder("counts").SetValue("key", row[1]).Set("count", s.Count).
		Set("sum", int64(t.TriggerTimestamp)/int64(time.Second)).Set("pass", uint64(firing)).Set("final", false).Finish()
	return errors.Join(err, h.Set(countState{Count: s.Count + 1}), out.AddMessage(m), f.fail(t))
}

func (f *alarms) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	s, _, err := f.state.Open(rt, v).Get()
	fired, _, err2 := f.fired.Open(rt, v).Get()
	if v.Final && s.Count != fired.Count {
		err = errors.Join(err, fmt.Errorf("the final visit of %s sees %d of %d timers fired", v.Key, fired.Count, s.Count))
	}
	return errors.Join(err, err2, f.countFunction.OnVisit(ctx, rt, v, out))
}

// timerRig is a rig whose counter has timers with the given settings.
func timerRig(t *testing.T, n, keys int, settings string) *rig {
	r := newRig(t, n, keys)
	r.edit = func(text string) string {
		return strings.Replace(text, "streams_dependency = {counts = [sweep]}",
			"timer_streams = {alarm = {"+settings+"}}; streams_dependency = {counts = [sweep; alarm; rows]}", 1)
	}
	r.function = func() flow.Function { return newAlarms(r) }
	return r
}

// checkTimers demands that the timer of each row has fired once, in order for each
// key, and that the store has none left.
func (r *rig) checkTimers(s store.Timers) {
	r.t.Helper()
	want := map[string][]int64{}
	for _, part := range r.rows {
		for _, row := range part {
			key := row[0].AsString()
			want[key] = append(want[key], row[2].AsInt64()+7)
		}
	}
	got := map[string][]int64{}
	for _, m := range r.sink.written {
		if m.Payload.Uint64("pass") == firing {
			key := m.Payload.String("key")
			if n := int64(len(got[key])); m.Payload.Int64("count") != n {
				r.t.Errorf("timer %d of key %s finds %d fired before", n, key, m.Payload.Int64("count"))
			}
			got[key] = append(got[key], m.Payload.Int64("sum"))
		}
	}
	for key := range want {
		slices.Sort(want[key])
		if !slices.Equal(got[key], want[key]) {
			r.t.Errorf("timers of key %s: %v, want %v", key, got[key], want[key])
		}
	}
	if len(got) != len(want) {
		r.t.Errorf("timers of %d keys fired, want %d", len(got), len(want))
	}
	a, err := s.ListTimers(r.t.Context(), store.TimerRequest{Computation: "counter", Stream: "alarm", After: store.TimersFront})
	if err != nil || len(a.Timers) > 0 || !a.End {
		r.t.Errorf("%d timers are left in the store (%v)", len(a.Timers), err)
	}
}

func TestTimersFireOnceThroughStoreFaults(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := timerRig(t, 600, 57, "")
		r.partitions = 1 + rng.IntN(4)
		s := storetest.NewModel()
		r.run(storetest.NewFaults(s, func(c storetest.Call) storetest.Fault {
			if (c.Op == storetest.OpListTimers || c.Op == storetest.OpLeastTimerEvent) && rng.IntN(10) == 0 {
				return storetest.Unavailable()
			}
			return someFault(rng, c)
		}))
		r.check()
		r.checkTimers(s)
	})
}

func TestTimersFireOnceThroughKills(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := timerRig(t, 600, 57, "")
		r.onMessage = taking(time.Millisecond)
		s := storetest.NewModel()
		for range 12 {
			life, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(200))*time.Millisecond)
			p := r.pipeline()
			if rng.IntN(3) == 0 {
				time.AfterFunc(time.Duration(rng.IntN(100))*time.Millisecond, func() { _ = p.Stop() }) // it never pauses
			}
			_, _ = p.Run(life, storetest.NewFaults(s, nil))
			cancel()
		}
		if sum := r.run(s); sum.Timers != 600 {
			t.Errorf("%d timers over all runs, want 600", sum.Timers)
		}
		r.check()
		r.checkTimers(s)
	})
}

// TestRealTimeTimersKeepThePipelineOpen: the clock wakes the partition for them,
// after a restart too, and it is completed only after the last.
func TestRealTimeTimersKeepThePipelineOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := timerRig(t, 100, 100, "time_type = real_time")
		began := time.Now()
		r.function = func() flow.Function {
			f := newAlarms(r)
			f.trigger = func(m flow.Message) flow.Time {
				return flow.Time(began.Add(time.Duration(m.Payload.Int64("value")+1) * time.Second).UnixNano())
			}
			return heedless{f} // its final visits come before timers that are not due
		}
		s := storetest.NewModel()
		life, cancel := context.WithTimeout(t.Context(), 20*time.Second+time.Second/2)
		defer cancel()
		_, _ = r.pipeline().Run(life, storetest.NewFaults(s, nil))
		a, err := s.ListTimers(t.Context(), store.TimerRequest{Computation: "counter", Stream: "alarm", After: store.TimersFront})
		if err != nil || len(a.Timers) != 80 {
			t.Errorf("%d timers are left after 20.5 s, want 80 (%v)", len(a.Timers), err)
		}
		r.run(s)
		if spent := time.Since(began); spent < 100*time.Second || spent > 101*time.Second {
			t.Errorf("the last timer was set to 100 s, and all is completed after %s", spent)
		}
	})
}

func TestTimersInBatchesGiveTheSameFigures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := timerRig(t, 600, 57, "streams_with_delays = {rows = \"3s\"}")
		r.function = func() flow.Function { return batchAlarms{batchCount{newAlarms(r)}, newAlarms(r)} }
		s := storetest.NewModel()
		r.run(s)
		r.check()
		r.checkTimers(s)
	})
}

type batchAlarms struct {
	batchCount
	alarms *alarms
}

func (b batchAlarms) OnMessages(ctx context.Context, rt flow.Runtime, msgs []flow.Message, out flow.OutputCollector) error {
	for _, m := range msgs {
		if err := b.row.OnMessage(ctx, rt, m, out.WithParents(m.ID)); err != nil {
			return err
		}
	}
	return nil
}

func (b batchAlarms) OnTimers(ctx context.Context, rt flow.Runtime, timers []flow.Timer, out flow.OutputCollector) error {
	for _, t := range timers {
		if err := b.alarms.OnTimer(ctx, rt, t, out.WithParents(t.ID)); err != nil {
			return err
		}
	}
	return nil
}

// TestFailedTimersAreLeftOutWhole: a timer that fails is named and leaves nothing
// behind but a dead letter, and it does not fire again (D-24).
func TestFailedTimersAreLeftOutWhole(t *testing.T) {
	for _, what := range []string{"skip", "dead_letter; dead_letter_stream = letters"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testFailedTimers(t, what) })
		})
	}
}

func testFailedTimers(t *testing.T, what string) {
	r := timerRig(t, 200, 200, "")
	letters := strings.Contains(what, "letters")
	r.dynamic = "on_timer_error = " + what + ";"
	edit := r.edit
	r.edit = func(text string) string {
		if text = edit(text); !letters {
			return text
		}
		text = strings.Replace(text, "counts = {schema", "letters = {schema = [{name=reason;type=string};{name=stream_id;type=string};{name=key;type=string}]}; counts = {schema", 1)
		text = strings.Replace(text, "output_stream_ids = [counts]", "output_stream_ids = [counts; letters]", 1)
		return strings.Replace(text, "input_stream_ids = [counts]", "input_stream_ids = [letters]", 1)
	}
	r.function = func() flow.Function {
		f := newAlarms(r)
		f.fail = func(t flow.Timer) error {
			if t.EventTimestamp.Std().Second()%10 == 3 {
				return errors.New("sour milk")
			}
			return nil
		}
		return heedless{f}
	}
	p := r.pipeline()
	s := storetest.NewModel()
	sum, err := p.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Counts["failed_timers"] == 0 || sum.Timers != 200 {
		t.Errorf("%d timers and counts %v", sum.Timers, sum.Counts)
	}
	shown := ""
	for _, part := range p.Status().Partitions {
		for _, f := range part.Failed {
			shown += f.Path + ": " + f.Message + "\n"
		}
	}
	if !strings.Contains(shown, "/timers/alarm/failed: ") || !strings.Contains(shown, "sour milk") {
		t.Errorf("the status shows %q", shown)
	}
	r.checkFailedTimers(letters, sum)
}

func (r *rig) checkFailedTimers(letters bool, sum *Summary) {
	r.t.Helper()
	n := int64(0)
	for _, m := range r.sink.written {
		if letters && m.Payload.String("reason") == "sour milk" && m.Payload.String("stream_id") == "alarm" && m.Payload.String("key") != "" ||
			!letters && m.Payload.Uint64("pass") == firing {
			n++
		}
	}
	failed := sum.Counts["failed_timers"]
	if want := map[bool]int64{true: failed, false: 200 - failed}[letters]; n != want {
		r.t.Errorf("%d messages came out of timers, want %d of which %d failed", n, want, failed)
	}
}

// heedless visits keys without looking at what fired.
type heedless struct{ *alarms }

func (f heedless) OnVisit(ctx context.Context, rt flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	return f.countFunction.OnVisit(ctx, rt, v, out)
}

// TestSkippedMessagesSetNoTimers, nor do they clear any: what a call did to timers is
// undone with the rest of it.
func TestSkippedMessagesSetNoTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := timerRig(t, 200, 20, "")
		r.dynamic = "on_message_error = skip;"
		r.function = func() flow.Function { return sourAlarms{newAlarms(r)} }
		s := storetest.NewModel()
		if sum := r.run(s); sum.Timers != 160 || sum.Counts["failed_messages"] != 40 {
			t.Errorf("%d timers fired, counts %v; want 160 and 40 failed messages", sum.Timers, sum.Counts)
		}
		for i := range r.rows {
			r.rows[i] = slices.DeleteFunc(r.rows[i], sourRow)
		}
		r.check()
		r.checkTimers(s)
	})
}

func sourRow(row schema.Row) bool { return row[1].AsInt64()%5 == 3 }

// sourAlarms clears the key, sets a timer, and fails, in some messages.
type sourAlarms struct{ *alarms }

func (f sourAlarms) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	if !sourRow(m.Payload.Row()) {
		return f.alarms.OnMessage(ctx, rt, m, out)
	}
	return errors.Join(rt.ClearKey(m), f.alarms.OnMessage(ctx, rt, m, out), errors.New("sour milk"))
}

// TestAClearedKeyHasNoTimers: ClearKey removes those that are stored, those of the
// same epoch that were set before, and those that are due in it; later ones stay
// (KV-31).
func TestAClearedKeyHasNoTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := timerRig(t, 0, 1, "")
		for i := range 100 {
			r.rows[0] = append(r.rows[0], schema.Row{schema.String(fmt.Sprint(i % 10)), schema.Int64(int64(i)), schema.Int64(int64(i / 10))})
		}
		r.function = func() flow.Function { return clearing{newAlarms(r)} }
		s := storetest.NewModel()
		r.run(s)
		fired := 0
		for _, m := range r.sink.written {
			if m.Payload.Uint64("pass") == firing {
				fired++
				if sum := m.Payload.Int64("sum"); sum < 8+7 {
					t.Errorf("key %s: a timer set to %d fires, and the key was cleared after it was set", m.Payload.String("key"), sum)
				}
			}
		}
		if fired != 2*10 {
			t.Errorf("%d timers fired, want the two of each key that were set last", fired)
		}
	})
}

// clearing clears the key in its ninth message, and then sets the timer.
type clearing struct{ *alarms }

func (f clearing) OnMessage(ctx context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	if m.Payload.Int64("value")/10 == 8 {
		if err := rt.ClearKey(m); err != nil {
			return err
		}
	}
	m.EventTimestamp += 1 // triggers differ from those of other rows of the second
	return f.alarms.OnMessage(ctx, rt, m, out)
}

func (f clearing) OnVisit(context.Context, flow.Runtime, flow.Visit, flow.OutputCollector) error {
	return nil
}

// setting does one thing with timers in a message or visit.
type setting struct {
	*alarms
	message func(flow.Message, flow.OutputCollector) error
	visit   func(flow.Visit, flow.OutputCollector) error
}

func (s setting) OnMessage(_ context.Context, rt flow.Runtime, m flow.Message, out flow.OutputCollector) error {
	h := s.state.Open(rt, m)
	return errors.Join(h.Set(countState{Count: 1}), s.message(m, out))
}

func (s setting) OnVisit(_ context.Context, _ flow.Runtime, v flow.Visit, out flow.OutputCollector) error {
	return s.visit(v, out)
}

func TestTimersThatMayNotBeSetSayWhatToDo(t *testing.T) {
	no := func(flow.Message, flow.OutputCollector) error { return nil }
	noVisit := func(flow.Visit, flow.OutputCollector) error { return nil }
	for name, c := range map[string]struct {
		settings string
		message  func(flow.Message, flow.OutputCollector) error
		visit    func(flow.Visit, flow.OutputCollector) error
		want     string
	}{
		"KV-41 from a visit whose stream is no parent": {
			"", no,
			func(v flow.Visit, out flow.OutputCollector) error {
				_ = out.WithParents(v.ID).AddTimer(flow.TimerRequest{TriggerTimestamp: v.EventTimestamp})
				return nil
			},
			`timer stream alarm does not depend on sweep, which this was set from: add "alarm" = [rows; sweep] to streams_dependency of counter`,
		},
		"of a stream that there is not": {
			"", func(_ flow.Message, out flow.OutputCollector) error {
				return out.AddTimer(flow.TimerRequest{StreamID: "alarms"})
			}, noVisit,
			`computation counter has no timer stream "alarms": it has ["alarm"]`,
		},
		"without saying which of two": {
			"}; other = {", func(_ flow.Message, out flow.OutputCollector) error { return out.AddTimer(flow.TimerRequest{}) }, noVisit,
			`computation counter has several timer streams: say which in StreamID, one of ["alarm" "other"]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := timerRig(t, 20, 10, c.settings)
				r.function = func() flow.Function { return setting{newAlarms(r), c.message, c.visit} }
				p := r.pipeline()
				var shown string
				time.AfterFunc(time.Second, func() {
					for _, s := range p.Status().Partitions {
						shown += s.Error
					}
					p.Pause()
				})
				if _, err := p.Run(t.Context(), storetest.NewModel()); err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(shown, c.want) {
					t.Errorf("the error is %q, want %q", shown, c.want)
				}
			})
		})
	}
	t.Run("a function without OnTimer", func(t *testing.T) {
		r := timerRig(t, 1, 1, "")
		r.function = func() flow.Function { return newCountFunction(r) }
		_, err := r.prepare(r.edit(fmt.Sprintf(rigSpec, 1, "", "1s")))
		if err == nil || !strings.Contains(err.Error(), "*engine.countFunction has no OnTimer or OnTimers, but the computation has timer streams") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a timer stream that is taken away", func(t *testing.T) {
		r := timerRig(t, 20, 10, "")
		s := storetest.NewModel()
		r.run(s)
		r.edit = func(text string) string { return text }
		_, err := r.pipeline().Run(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), "spec.computations.counter.timer_streams.alarm is gone, and timers of it may be set") {
			t.Errorf("error %v", err)
		}
	})
}

// TestTimersFireOnceThroughRepartitioning: timers lie under their keys' hashes, so
// whoever has the range has them (D-13, D-14).
func TestTimersFireOnceThroughRepartitioning(t *testing.T) {
	forSeeds(t, func(t *testing.T, rng *rand.Rand) {
		r := timerRig(t, 600, 57, "")
		r.period = "300ms"
		r.gate = make(chan struct{})
		r.onMessage = taking(time.Duration(rng.IntN(3)) * time.Millisecond)
		var waits [3]time.Duration // drawn before the faults draw from other goroutines
		for i := range waits {
			waits[i] = time.Duration(rng.IntN(400)) * time.Millisecond
		}
		s := storetest.NewFaults(storetest.NewModel(), func(c storetest.Call) storetest.Fault { return someFault(rng, c) })
		p := r.start(s)
		for i, n := range []int{8, 2, 5} {
			<-time.After(waits[i])
			r.partitions = n
			p.must(p.Repartition(t.Context(), "counter", n))
		}
		for len(p.VisitStreams()[0].Parts) != 5 {
			<-time.After(time.Second)
		}
		close(r.gate)
		p.must(<-p.done)
		if n := p.Status().Timers; n != 600 {
			t.Errorf("%d timers are counted over all partitions, want 600", n)
		}
		r.check()
		r.checkTimers(s)
	})
}
