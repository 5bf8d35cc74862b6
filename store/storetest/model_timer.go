package storetest

import (
	"cmp"
	"context"
	"slices"

	"github.com/rondo-flow/rondo/store"
)

type timerKey struct {
	computation string
	id          store.TimerID
}

func (d *modelData) applyTimers(c *store.Commit) {
	for _, id := range c.TimersGone {
		delete(d.timers, timerKey{c.Computation, id})
	}
	for _, t := range c.TimersSet {
		k := timerKey{c.Computation, t.TimerID}
		if event, ok := d.timers[k]; ok {
			t.Event = min(t.Event, event)
		}
		d.timers[k] = t.Event
	}
}

// ListTimers sorts all timers that match, and cuts.
func (m *Model) ListTimers(ctx context.Context, r store.TimerRequest) (a *store.TimerAnswer, err error) {
	err = m.do(ctx, func(d *modelData) error {
		a = &store.TimerAnswer{Timers: d.timersOf(r), End: true}
		bytes := 0
		for i := range a.Timers {
			bytes += a.Timers[i].Size()
			if r.MaxRows > 0 && i == r.MaxRows || r.MaxBytes > 0 && bytes > r.MaxBytes && i > 0 {
				a.Timers, a.End = a.Timers[:i], false
				break
			}
		}
		return nil
	})
	return a, err
}

// LeastTimerEvent looks at all timers that match.
func (m *Model) LeastTimerEvent(ctx context.Context, r store.TimerRequest) (least int64, any bool, err error) {
	err = m.do(ctx, func(d *modelData) error {
		for _, t := range d.timersOf(r) {
			if !any || t.Event < least {
				least, any = t.Event, true
			}
		}
		return nil
	})
	return least, any, err
}

func (d *modelData) timersOf(r store.TimerRequest) []store.Timer {
	var out []store.Timer
	for k, event := range d.timers {
		id := k.id
		if k.computation == r.Computation && id.Stream == r.Stream && id.Key >= r.Lower &&
			(r.Upper == "" || id.Key < r.Upper) && id.Place().Compare(r.After) > 0 {
			out = append(out, store.Timer{TimerID: id, Event: event})
		}
	}
	slices.SortFunc(out, func(a, b store.Timer) int { return a.Compare(b.TimerID) })
	return out
}

// KeyTimers looks at all timers for each key.
func (m *Model) KeyTimers(ctx context.Context, computation string, keys []string) (out [][]store.TimerID, err error) {
	err = m.do(ctx, func(d *modelData) error {
		for _, key := range keys {
			var ids []store.TimerID
			for k := range d.timers {
				if k.computation == computation && k.id.Key == key {
					ids = append(ids, k.id)
				}
			}
			slices.SortFunc(ids, func(a, b store.TimerID) int {
				return cmp.Or(cmp.Compare(a.Trigger, b.Trigger), cmp.Compare(a.Stream, b.Stream))
			})
			out = append(out, ids)
		}
		return nil
	})
	return out, err
}
