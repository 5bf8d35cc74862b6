package partition

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/visit"
)

// timerKey is the encoded key that the timers of a key are stored under.
func timerKey(k visit.Key) string { return string(schema.AppendHash(nil, k.Hash)) + k.Bytes }

func keyOfTimer(t store.TimerID) visit.Key {
	hash, _ := schema.KeyHash(t.Key)
	return visit.Key{Hash: hash, Bytes: t.Key[schema.HashKeyLen:]}
}

// timerEdits are the timers that an epoch sets and removes.
type timerEdits struct {
	set  map[store.TimerID]int64
	gone map[store.TimerID]bool
}

func newTimerEdits() timerEdits {
	return timerEdits{set: map[store.TimerID]int64{}, gone: map[store.TimerID]bool{}}
}

func (e timerEdits) add(t store.Timer) {
	if event, ok := e.set[t.TimerID]; ok {
		t.Event = min(t.Event, event)
	}
	e.set[t.TimerID] = t.Event
}

// clear removes the timers of a key, those that the epoch has set so far too.
func (e timerEdits) clear(stored map[store.TimerID]int64, key string) {
	for id := range stored {
		if id.Key == key {
			e.gone[id] = true
		}
	}
	maps.DeleteFunc(e.set, func(id store.TimerID, _ int64) bool { return id.Key == key })
}

func (e timerEdits) fill(p *Processed) {
	p.TimersGone = slices.SortedFunc(maps.Keys(e.gone), store.TimerID.Compare)
	p.TimersSet = timersOf(e.set)
}

func timersOf(m map[store.TimerID]int64) (out []store.Timer) {
	for id, event := range m {
		out = append(out, store.Timer{TimerID: id, Event: event})
	}
	slices.SortFunc(out, func(a, b store.Timer) int { return a.Compare(b.TimerID) })
	return out
}

// fire hands one timer over, unless its key was cleared before.
func (d *drive) fire(e *epoch, t *DueTimer) {
	if e.timers.gone[t.TimerID] {
		return
	}
	e.fired = append(e.fired, *t)
	d.call(e, &call{stream: t.TimerID.Stream, key: keyOfTimer(t.TimerID), timer: &t.Timer})
}

// answerTimers reads the stored timers; surveys read them all.
func (d *drive) answerTimers(r Ready) {
	for _, read := range r.ReadTimers {
		found := d.listTimers(read.Request)
		n := min(len(found), d.page(read.Request.MaxRows))
		d.step(TimersRead{read.Stream, found[:n], n == len(found)})
	}
	for _, survey := range r.SurveyTimers {
		e := TimersSurveyed{Stream: survey.Stream, Least: endOfTime}
		for _, t := range d.listTimers(survey.Request) {
			e.Least, e.Any = min(e.Least, t.Event), true
		}
		if d.holding {
			d.held = append(d.held, e)
			continue
		}
		d.step(e)
	}
}

func (d *drive) page(rows int) int {
	if d.timerPage > 0 {
		return min(rows, d.timerPage)
	}
	return rows
}

func (d *drive) listTimers(r *store.TimerRequest) []store.Timer {
	return slices.DeleteFunc(timersOf(d.timers), func(t store.Timer) bool {
		return t.Stream != r.Stream || t.Place().Compare(r.After) <= 0 || t.Key < r.Lower || r.Upper != "" && t.Key >= r.Upper
	})
}

// storeTimers applies what the commit says, as a store does.
func (d *drive) storeTimers(c *store.Commit) {
	if err := c.Validate(); err != nil {
		d.t.Fatal(err)
	}
	for _, id := range c.TimersGone {
		delete(d.timers, id)
	}
	timerEdits{set: d.timers}.addAll(c.TimersSet)
}

func (e timerEdits) addAll(set []store.Timer) {
	for _, t := range set {
		e.add(t)
	}
}

// timed makes a drive with one input and timers of one stream, which are set as
// messages "set T" come and whose firings are emitted as "key@trigger(event)".
func timed(t testing.TB, change func(d *drive)) *drive {
	return newDrive(t, "s", "", func(d *drive) {
		d.cfg.Timers = []TimerStream{{Stream: "t", Watch: []Watch{{Stream: "s"}}, Parents: []string{"s"}}}
		d.handle = func(c *call) {
			var trigger int64
			if _, err := fmt.Sscanf(c.payload, "set %d", &trigger); err == nil {
				c.set("t", trigger, trigger-5)
			}
			if c.timer != nil {
				c.emit(fmt.Sprintf("%d@%d(%d)", c.key.Hash, c.timer.Trigger, c.timer.Event))
			}
		}
		if change != nil {
			change(d)
		}
	})
}

// setAt sets timers by messages that carry no event time of their own.
func (d *drive) setAt(hash uint64, triggers ...int) {
	var list []message
	for _, trigger := range triggers {
		list = append(list, message{keyOf(hash), fmt.Sprintf("set %d", trigger)})
	}
	d.send("s", list...)
}

// watermark reports the watermark of an input.
func (d *drive) watermark(stream string, at int64) {
	r := d.report(stream)
	r.Streams[0].Watermark = at
	d.step(HandoverLost{[]store.Report{*r}})
}
