//go:build unix

package docs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rondo-flow/rondo/flow"
)

// The function of an example in visits.md, word for word.

// daily keeps what a user paid, by day, until the day is over.
type daily struct{ paid *flow.State[map[string]int64] }

func day(t flow.Time) string { return t.Std().Format(time.DateOnly) }

func (d *daily) OnMessage(_ context.Context, rt flow.Runtime, payment flow.Message, _ flow.OutputCollector) error {
	state := d.paid.Open(rt, payment)
	paid, known, err := state.Get()
	if !known {
		paid = map[string]int64{}
	}
	paid[day(payment.EventTimestamp)] += payment.Payload.Int64("cents")
	return errors.Join(err, state.Set(paid))
}

func (d *daily) OnVisit(_ context.Context, rt flow.Runtime, user flow.Visit, out flow.OutputCollector) error {
	state := d.paid.Open(rt, user)
	paid, _, err1 := state.Get()
	key, err2 := user.Key.Row() // hash, user
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	dates := slices.Sorted(maps.Keys(paid))
	if now, known := rt.Watermark("payments"); !user.Final {
		dates = slices.DeleteFunc(dates, func(date string) bool { return !known || date >= day(now) })
	}
	if len(dates) == 0 {
		return nil // what sets nothing writes nothing
	}
	for _, date := range dates {
		m, err := rt.MessageBuilder("sums").SetValue("user", key[1]).Set("day", date).Set("cents", paid[date]).Finish()
		if err := errors.Join(err, out.AddMessage(m)); err != nil {
			return err
		}
		delete(paid, date)
	}
	if len(paid) == 0 {
		return state.Clear()
	}
	return state.Set(paid)
}
