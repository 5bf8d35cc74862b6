package partition

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// preset stores timers as epochs before did; their event timestamp is 5 earlier.
func (d *drive) preset(stream string, hash uint64, triggers ...int64) {
	for _, trigger := range triggers {
		d.timers[store.TimerID{Key: timerKey(keyOf(hash)), Trigger: trigger, Stream: stream}] = trigger - 5
	}
}

func (d *drive) outputWatermark() string { return fmt.Sprint(d.machine.outputs[0].report.Watermark) }

func TestTimersFireWhenTheWatermarkReachesThem(t *testing.T) {
	t.Run("in order of trigger, once, the result with the deletion", func(t *testing.T) {
		d := timed(t, nil)
		d.setAt(10, 40, 20, 30)
		d.setAt(20, 20)
		d.watermark("s", 19)
		d.run(time.Second)
		want(t, "fired", d.emitted, "[]")
		want(t, "stored", len(d.timers), 4)
		want(t, "status", d.machine.Status(d.now).Timers, "[{t 4 false 20 19}]")
		d.watermark("s", 30)
		d.run(time.Second)
		want(t, "fired", d.emitted, "[10@20(15) 20@20(15) 10@30(25)]")
		want(t, "stored", len(d.timers), 1)
		d.restart()
		d.watermark("s", 100)
		d.run(time.Second)
		want(t, "fired", d.emitted, "[10@20(15) 20@20(15) 10@30(25) 10@40(35)]")
		want(t, "totals", d.cfg.Job.Totals.Timers, 4)
	})
	t.Run("equal ones are one, with the smaller event timestamp", func(t *testing.T) {
		d := timed(t, func(d *drive) {
			d.handle = func(c *call) {
				if c.timer != nil {
					c.emit(fmt.Sprint(c.timer.Event))
					return
				}
				c.set("t", 20, 7)
				c.set("t", 20, 9)
			}
			d.timers[store.TimerID{Key: timerKey(keyOf(10)), Trigger: 20, Stream: "t"}] = 8
		})
		d.send("s", message{keyOf(10), "m"})
		d.run(time.Second)
		d.watermark("s", 20)
		d.run(time.Second)
		want(t, "fired", d.emitted, "[7]")
	})
	t.Run("one that is set in the past fires at the next epoch, and may set itself anew", func(t *testing.T) {
		d := timed(t, func(d *drive) {
			d.handle = func(c *call) {
				if c.timer == nil {
					c.set("t", 5, 5)
					return
				}
				n := len(d.fired)
				if c.emit(fmt.Sprint(n)); n < 2 {
					c.set("t", 5, 5) // the same again
				}
			}
		})
		d.watermark("s", 20)
		d.send("s", message{keyOf(10), "m"})
		d.run(time.Second)
		want(t, "epochs", d.orders, "[message t t t]")
		want(t, "fired", d.emitted, "[0 1 2]")
		want(t, "stored", len(d.timers), 0)
	})
	t.Run("a delay, and the least of several streams", func(t *testing.T) {
		d := newDrive(t, "s s2", "", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Watch: []Watch{{"s", 0}, {"s2", 10}}}}
			d.preset("t", 10, 20)
		})
		d.watermark("s", 20)
		d.watermark("s2", 29)
		d.run(time.Second)
		want(t, "fired", len(d.fired), 0)
		d.watermark("s2", 30)
		d.run(time.Second)
		want(t, "fired", len(d.fired), 1)
	})
	t.Run("not before the messages that hold the watermark are committed", func(t *testing.T) {
		d := timed(t, func(d *drive) { d.cfg.Params.MaxRows = 1 })
		d.preset("t", 10, 0)
		d.send("s", message{keyOf(10), "a"}, message{keyOf(10), "b"}) // their event timestamp is 0
		d.restart()
		d.watermark("s", 100)
		d.run(time.Second)
		want(t, "order", d.orders, "[message t message]")
	})
}

func TestTimersOfCompletedStreamsAreDue(t *testing.T) {
	d := timed(t, func(d *drive) {
		d.cfg.Outputs = []Output{{"out", []string{"s", "t"}}}
	})
	d.setAt(10, 1<<60, 20)
	d.watermark("s", 10)
	d.run(time.Second)
	want(t, "fired", len(d.fired), 0)
	d.complete("s")
	d.run(time.Second)
	want(t, "fired", d.emitted, fmt.Sprintf("[10@20(15) 10@%d(%d)]", 1<<60, 1<<60-5))
	want(t, "completed", d.finished, true)
	want(t, "output", d.cfg.Job.Report.Streams[0].State, store.Finished)
}

func TestClocks(t *testing.T) {
	second := int64(time.Second)
	t.Run("real time wakes the partition for its timers", func(t *testing.T) {
		d := newDrive(t, "s", "", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Clock: RealClock}}
			d.preset("t", 10, d.now.Wall+second/4, d.now.Wall+30*second)
		})
		d.run(second250)
		want(t, "fired", len(d.fired), 0)
		d.run(2)
		want(t, "fired", len(d.fired), 1)
		d.complete("s")
		d.run(20 * time.Second)
		want(t, "completed before the last is due", d.finished, false)
		d.run(10 * time.Second)
		want(t, "completed", d.finished, true)
	})
	t.Run("system time is over once its streams are completed", func(t *testing.T) {
		d := newDrive(t, "s", "", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Clock: SystemClock, Watch: []Watch{{"s", time.Second}}, Parents: []string{"s"}}}
			d.preset("t", 10, d.now.Wall+second, d.now.Wall+1000*second)
		})
		d.run(1900 * time.Millisecond)
		want(t, "fired", len(d.fired), 0)
		d.run(200 * time.Millisecond)
		want(t, "fired", len(d.fired), 1)
		d.complete("s")
		d.run(time.Second)
		want(t, "completed", d.finished, true)
	})
	t.Run("system time waits for messages on their way and for those that wait here", func(t *testing.T) {
		d := newDrive(t, "s", "", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Clock: SystemClock, Watch: []Watch{{Stream: "s"}}, Parents: []string{"s"}}}
			d.preset("t", 10, d.now.Wall+second, d.now.Wall+2*second)
			began := d.now.Wall
			d.cfg.System = func(r *store.InboxRow) int64 { return began + second + int64(r.Number)*second/2 }
			d.cfg.Params.MaxRows, d.late = 1, true
		})
		began := d.now.Wall
		d.run(time.Minute)
		want(t, "fired while nothing is known", len(d.fired), 0)
		d.step(d.passed(began + second/2))
		d.run(time.Second)
		want(t, "fired while an early epoch is under way", len(d.fired), 0)
		d.step(d.passed(began + second))
		d.run(time.Second)
		want(t, "fired", len(d.fired), 1)
		d.send("s", message{keyOf(1), "a"}) // of the time in between
		d.step(d.passed(began + 3*second))
		d.work() // which reads it
		want(t, "fired while an earlier message waits", len(d.fired), 1)
		d.send("s", message{keyOf(1), "b"}) // of the very time
		d.step(d.passed(began + 3*second))
		d.run(time.Second)
		want(t, "order", d.orders, "[t message message t]")
	})
	t.Run("system time wakes the partition when a timer is due, and not for what is held back", func(t *testing.T) {
		d := newDrive(t, "s", "", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Clock: SystemClock, Watch: []Watch{{"s", second250}}, Parents: []string{"s"}}}
			d.preset("t", 10, d.now.Wall+3*int64(time.Millisecond))
			d.late = true
		})
		for d.worked(d.work()) {
		}
		due := d.now.Wall + 3*int64(time.Millisecond) + int64(second250)
		for _, ago := range []time.Duration{second250, time.Millisecond, 1} {
			d.now.Wall = due - int64(ago)
			d.step(d.passed(d.now.Wall - int64(time.Hour))) // an epoch under way holds it back
			want(t, "sleep before it is due", d.work().WakeAt-d.now.Mono, ago)
		}
		d.now.Wall = due
		want(t, "sleep while it is held back", d.work().WakeAt-d.now.Mono >= clockSteps, true)
		d.step(d.passed(due))
		d.work()
		want(t, "fired", len(d.fired), 1)
	})
	t.Run("a clock that steps forward is noticed within a second", func(t *testing.T) {
		d := newDrive(t, "s", "", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Clock: RealClock}}
			d.preset("t", 10, d.now.Wall+3600*second)
		})
		d.run(time.Second)
		d.now.Wall += 3600 * second
		d.run(time.Second)
		want(t, "fired", len(d.fired), 1)
	})
	t.Run("a clock that steps back takes nothing back", func(t *testing.T) {
		d := timed(t, func(d *drive) {
			d.cfg.Timers[0].Clock = RealClock
		})
		at := int(d.now.Wall)
		d.run(time.Second)
		d.now.Wall -= 3600 * second
		d.setAt(10, at)
		d.run(time.Second)
		want(t, "fired", len(d.fired), 1)
	})
	t.Run("a clock that steps back makes nobody look again and again", func(t *testing.T) {
		d := newDrive(t, "s", "", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Clock: RealClock}}
			d.preset("t", 10, d.now.Wall+second, d.now.Wall+second+5)
		})
		d.run(time.Second + 1) // the second one is due in a few nanoseconds
		want(t, "fired", len(d.fired), 1)
		d.now.Wall -= 3600 * second
		if r := d.work(); !r.Wake || r.WakeAt < d.now.Mono+time.Second {
			t.Errorf("it wants to wake in %s, while the clock makes up for an hour", r.WakeAt-d.now.Mono)
		}
	})
	t.Run("a visit stream moves the watermark of timers that follow it", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", func(d *drive) {
			d.cfg.Timers = []TimerStream{{Stream: "t", Watch: []Watch{{Stream: "sweep"}}, Parents: []string{"sweep"}}}
			d.preset("t", 10, d.now.Wall+5*second)
		})
		d.run(4900 * time.Millisecond)
		want(t, "fired", len(d.fired), 0)
		d.run(200 * time.Millisecond)
		want(t, "fired", len(d.fired), 1)
	})
}

const second250 = 250*time.Millisecond - 1

func TestAKeyThatIsClearedHasNoTimers(t *testing.T) {
	d := timed(t, func(d *drive) {
		was := d.handle
		d.handle = func(c *call) {
			if was(c); c.payload == "clear" {
				c.clear()
			}
		}
	})
	d.setAt(10, 20, 30)
	d.setAt(20, 20)
	d.run(time.Second)
	d.send("s", message{keyOf(10), "set 40"}, message{keyOf(10), "clear"}, message{keyOf(10), "set 50"})
	d.work()                           // reads them
	d.machine.timers[0].watermark = 25 // the timers come beside them, and later
	d.run(time.Second)
	want(t, "order", d.orders[len(d.orders)-1], "message message message t")
	d.watermark("s", 100)
	d.run(time.Second)
	want(t, "fired", d.emitted, "[20@20(15) 10@50(45)]")
}

// TestTheWindowIsBounded: however many timers are stored, few are held, and they
// fire in order, with those that are set meanwhile.
func TestTheWindowIsBounded(t *testing.T) {
	timersHeld := DefaultParams().HoldTimers
	n := int64(3 * timersHeld)
	d := timed(t, func(d *drive) {
		for i := range n {
			d.preset("t", uint64(i%97), 3*(i*7919%n))
		}
		d.cfg.Outputs = []Output{{"out", []string{"s", "t"}}}
	})
	expect := timersOf(d.timers)
	held := func() {
		if w := d.machine.timers[0]; len(w.window) > timersHeld || w.bytes > timerBytesHeld {
			t.Fatalf("the window holds %d timers, %d bytes", len(w.window), w.bytes)
		}
	}
	for at := int64(0); at < 5*n; at += 3 * int64(timersHeld) / 2 {
		for _, trigger := range []int64{at + 4, at + 3*int64(timersHeld) + 1, at + 3*n/2 + 2, 8 * n} {
			d.setAt(5, int(trigger))
			expect = append(expect, store.Timer{TimerID: store.TimerID{Key: timerKey(keyOf(5)), Trigger: trigger, Stream: "t"}, Event: trigger - 5})
		}
		d.watermark("s", at)
		for range 40 {
			d.run(time.Millisecond)
			held()
		}
		if at > 0 && len(d.timers) > 2*timersHeld && at < 3*n && d.machine.timers[0].whole {
			t.Fatal("the window claims to have everything")
		}
		d.run(11 * time.Second) // for a survey
		if w := d.machine.outputs[0].report.Watermark; w < at-8 || w > at {
			t.Fatalf("the watermark of the output is %d at %d", w, at)
		}
	}
	d.watermark("s", 8*n)
	d.run(time.Second)
	slices.SortFunc(expect, func(a, b store.Timer) int { return a.Compare(b.TimerID) })
	expect = slices.CompactFunc(expect, func(a, b store.Timer) bool { return a.TimerID == b.TimerID })
	byKey, fired := map[string]int64{}, map[store.TimerID]bool{}
	for _, f := range d.fired {
		if f.Trigger < byKey[f.Key] && f.Key != timerKey(keyOf(5)) || fired[f.TimerID] {
			t.Fatalf("%v fired after %d, or twice", f, byKey[f.Key])
		}
		byKey[f.Key], fired[f.TimerID] = f.Trigger, true
	}
	for _, e := range expect {
		if !fired[e.TimerID] {
			t.Fatalf("%v has not fired", e)
		}
	}
}

func TestTimersAndOutputs(t *testing.T) {
	outputs := func(d *drive) { d.cfg.Outputs = []Output{{"out", []string{"s", "t"}}} }
	t.Run("a timer that is set holds the watermark at its event timestamp", func(t *testing.T) {
		d := timed(t, outputs)
		d.setAt(10, 20)
		d.watermark("s", 17)
		d.run(time.Second)
		want(t, "watermark", d.outputWatermark(), "15")
		d.watermark("s", 30)
		d.run(time.Second)
		want(t, "watermark", d.outputWatermark(), "30")
	})
	t.Run("so do timers beyond the window, those set while the store is asked for theirs among them", func(t *testing.T) {
		for _, holding := range []bool{false, true} {
			d := timed(t, func(d *drive) {
				outputs(d)
				d.cfg.Params.HoldTimers = 4
				d.preset("t", 10, 100, 101, 102, 103, 104, 105, 106, 107)
				d.handle = func(c *call) {
					if c.payload == "early" {
						c.set("t", 1000, 60)
					}
				}
			})
			d.holding = holding // the survey's answer
			d.watermark("s", 50)
			d.run(time.Second)
			want(t, "asked", len(d.held) > 0, holding)
			d.send("s", message{keyOf(10), "early"})
			d.run(time.Second)
			d.release()
			d.watermark("s", 80)
			d.run(20 * time.Second)
			want(t, "watermark", d.outputWatermark(), "60")
		}
	})
	t.Run("an output that does not depend on timers is not held back, nor is its completion", func(t *testing.T) {
		d := timed(t, func(d *drive) {
			d.cfg.Outputs = []Output{{"out", []string{"s"}}}
			d.cfg.Timers[0].Clock = RealClock
		})
		d.setAt(10, int(d.now.Wall)+int(time.Hour))
		d.watermark("s", 30)
		d.complete("s")
		d.run(time.Second)
		want(t, "output", d.machine.outputs[0].report.State, store.Finished)
		want(t, "finished", d.finished, false)
	})
	t.Run("D-18 timers that feed a full output wait", func(t *testing.T) {
		d := timed(t, func(d *drive) {
			outputs(d)
			d.cfg.Timers = append(d.cfg.Timers, TimerStream{Stream: "free", Clock: RealClock})
			d.preset("t", 10, 20)
			d.preset("free", 10, 20)
		})
		d.step(Blocked{Outputs: []bool{true}})
		d.watermark("s", 30)
		d.run(time.Second)
		want(t, "order", d.orders, "[free]")
		d.step(Blocked{Outputs: []bool{false}})
		d.run(time.Second)
		want(t, "order", d.orders, "[free t]")
	})
	t.Run("a stop hands out no timer and tells so", func(t *testing.T) {
		d := timed(t, outputs)
		d.preset("t", 10, 20)
		d.restart()
		d.run(time.Second)
		d.step(Draining{})
		d.report("s").Streams[0].State = store.Drained
		d.watermark("s", 30)
		d.run(time.Second)
		want(t, "fired", len(d.fired), 0)
		want(t, "drained", d.machine.Ready(d.now).Drained, true)
		want(t, "output", d.machine.outputs[0].report.State, store.Drained)
	})
}

// TestTimersAndMessagesShareAnEpoch: neither keeps the other from its turn.
func TestTimersAndMessagesShareAnEpoch(t *testing.T) {
	d := timed(t, func(d *drive) {
		d.cfg.Params.MaxRows = 10
		d.cost = 30 * time.Millisecond
		for i := range int64(100) {
			d.preset("t", 10, i)
		}
		d.cfg.Timers[0].Clock = RealClock
	})
	d.send("s", many(100)...)
	for range 10 {
		for d.work().Epoch == nil {
		}
	}
	messages, timers := int(d.cfg.Job.Totals.Messages), int(d.cfg.Job.Totals.Timers)
	if messages < 15 || timers < 15 {
		t.Errorf("in ten epochs of 100 ms, %d messages and %d timers of 30 ms each", messages, timers)
	}
}

func TestFinalPassesAndTimers(t *testing.T) {
	sweep := func(d *drive) { d.put("/s", "x", spacedHashes(5, 40)...) }
	before := func(d *drive, stream string) (n int) {
		for _, order := range d.orders {
			if order == stream {
				return n
			}
			n++
		}
		return -1
	}
	t.Run("KV-33 the final pass waits for due timers", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", func(d *drive) {
			sweep(d)
			d.cfg.Timers = []TimerStream{{Stream: "t", Watch: []Watch{{Stream: "s"}}, Parents: []string{"s"}}}
			d.preset("t", 10, 100)
			d.handle = func(c *call) {
				if c.timer != nil {
					c.state["/late"] = "x"
				}
			}
			d.cfg.Outputs = []Output{{"out", []string{"t"}}}
		})
		d.step(Blocked{Outputs: []bool{true}}) // the timer cannot fire
		d.complete("s")
		d.run(time.Second)
		want(t, "final", d.status(0).Final || d.status(0).FinalBegun, false)
		d.step(Blocked{Outputs: []bool{false}})
		d.run(10 * time.Second)
		want(t, "completed", d.finished, true)
		for _, v := range d.visits {
			if v.Final && v.Key == keyOf(10) && v.state["/late"] != "x" {
				t.Error("the final visit came before the timer")
			}
		}
	})
	t.Run("KV-33 it waits neither for timers that depend on its visits, nor for those not due", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", func(d *drive) {
			sweep(d)
			d.cfg.Timers = []TimerStream{
				{Stream: "follows", Watch: []Watch{{Stream: "sweep"}}, Parents: []string{"middle", "follows"}},
				{Stream: "middle", Clock: RealClock, Parents: []string{"sweep"}},
				{Stream: "later", Clock: RealClock, Parents: []string{"s"}},
			}
			d.preset("follows", 10, 1<<62)
			d.preset("later", 10, d.now.Wall+int64(20*time.Second))
		})
		d.complete("s")
		d.run(10 * time.Second)
		want(t, "empty", d.status(0).Empty, true)
		want(t, "the one that follows", before(d, "follows") > 0, true)
		want(t, "completed", d.finished, false)
		d.run(11 * time.Second)
		want(t, "completed", d.finished, true)
	})
	t.Run("KV-34 known at start, the first pass is the final one, once the timers are read", func(t *testing.T) {
		d := newDrive(t, "s", "sweep", func(d *drive) {
			sweep(d)
			d.cfg.Timers = []TimerStream{{Stream: "t", Watch: []Watch{{Stream: "s"}}, Parents: []string{"s"}}}
			d.report("s").Streams[0].State = store.Finished
		})
		d.run(10 * time.Second)
		want(t, "completed", d.finished, true)
		want(t, "visits", hashesOf(d.visits), spacedHashes(5, 40))
	})
}
