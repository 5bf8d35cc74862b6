//go:build unix

package docs

import (
	"context"
	"errors"

	"github.com/rondo-flow/rondo/flow"
)

// The function of external.md, word for word.

// account is what is known of a user: Plan by the table, Used by messages.
type account struct {
	Plan string // "" for one that the table has not had
	Used int64
}

type accounts struct{ state *flow.State[account] }

func (f *accounts) OnMessage(_ context.Context, rt flow.Runtime, usage flow.Message, _ flow.OutputCollector) error {
	state := f.state.Open(rt, usage)
	a, _, err := state.Get()
	a.Used += usage.Payload.Int64("bytes")
	return errors.Join(err, state.Set(a))
}

func (f *accounts) OnVisit(_ context.Context, rt flow.Runtime, user flow.Visit, out flow.OutputCollector) error {
	plans, err := flow.OpenJoined(rt, "/plans", user)
	if err != nil || !plans.Known() {
		return err // what is not known is left alone
	}
	row, present, err1 := plans.Row()
	state := f.state.Open(rt, user)
	a, _, err2 := state.Get()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	notice, before := "", a.Plan
	switch {
	case present && before == "":
		notice = "welcome"
	case present && before != row.String("plan"):
		notice = "changed"
	case !present && before != "":
		notice = "closed"
	default:
		return nil // it is as the table says; one whom it never had may come
	}
	if a.Plan = ""; present {
		a.Plan = row.String("plan")
	}
	key, err := user.Key.Row() // hash, user
	if err != nil {
		return err
	}
	m, err := rt.MessageBuilder("notices").SetValue("user", key[1]).Set("notice", notice).Set("plan", a.Plan).Set("used", a.Used).Finish()
	if err := errors.Join(err, out.AddMessage(m)); err != nil {
		return err
	}
	if !present {
		return rt.ClearKey(user)
	}
	return state.Set(a)
}
