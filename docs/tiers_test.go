//go:build unix

package docs

import (
	"context"
	"errors"

	"github.com/rondo-flow/rondo/flow"
)

// The function of an example in visits.md, word for word.

// customer is what is known of one, and the tier that was told last.
type customer struct {
	Cents int64
	Tier  string
}

type tiers struct {
	Gold  int64 `yson:"gold,required"` // from processing_function_parameters
	state *flow.State[customer]
}

func (t *tiers) OnMessage(_ context.Context, rt flow.Runtime, payment flow.Message, _ flow.OutputCollector) error {
	state := t.state.Open(rt, payment)
	c, _, err := state.Get()
	c.Cents += payment.Payload.Int64("cents")
	return errors.Join(err, state.Set(c))
}

func (t *tiers) OnVisit(_ context.Context, rt flow.Runtime, user flow.Visit, out flow.OutputCollector) error {
	state := t.state.Open(rt, user)
	c, _, err1 := state.Get()
	key, err2 := user.Key.Row() // hash, user
	tier := "basic"
	if c.Cents >= t.Gold {
		tier = "gold"
	}
	if err := errors.Join(err1, err2); err != nil || tier == c.Tier {
		return err
	}
	c.Tier = tier
	m, err := rt.MessageBuilder("changes").SetValue("user", key[1]).Set("tier", tier).Finish()
	return errors.Join(err, out.AddMessage(m), state.Set(c))
}
