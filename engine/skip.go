package engine

import (
	"fmt"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/internal/invariants"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
)

// skippedCount counts the messages that skip_if_expression left out.
const skippedCount = "skipped_by_expression"

// skipper is a skip_if_expression for the rows of each stream that a computation
// reads; nil skips nothing.
type skipper map[string]*schema.Expression

func newSkipper(n *node, d *spec.DynamicComputation) skipper {
	if d.SkipIfExpression == "" {
		return nil
	}
	s := skipper{}
	add := func(stream string, rows *schema.Schema) {
		var err error
		s[stream], err = schema.CompileExpression(d.SkipIfExpression, rows)
		invariants.Assert(err == nil, "an expression that was checked does not compile")
	}
	for _, in := range n.inputs {
		add(in.stream, in.schema)
	}
	if n.sourceStream != "" {
		add(n.sourceStream, n.sourceSchema)
	}
	return s
}

// skips tells whether a row is left out; null is false.
func (s skipper) skips(stream string, row schema.Row) (bool, error) {
	e := s[stream]
	if e == nil {
		return false, nil
	}
	v, err := e.Eval(row)
	if err != nil {
		return false, fmt.Errorf("skip_if_expression: %w", err)
	}
	return !v.IsNull() && v.AsBoolean(), nil
}

// skipsMessage tells whether a message is left out, and counts it.
func (p *functionProcessor) skipsMessage(m *flow.Message) (bool, error) {
	if p.skip == nil {
		return false, nil
	}
	skips, err := p.skip.skips(m.StreamID, m.Payload.Row())
	if skips {
		p.rt.Count(skippedCount, 1)
	}
	return skips, err
}

// kept are the messages of the epoch that are not left out. One for which that
// cannot be told fails, as the policy says.
func (p *functionProcessor) kept() ([]flow.Message, error) {
	if p.skip == nil {
		return p.messages, nil
	}
	var kept []flow.Message
	for i := range p.messages {
		m := &p.messages[i]
		skips, err := p.skipsMessage(m)
		switch {
		case err != nil:
			p.busy.begin(p.clock.mono(), m.Key)
			err = p.failedMessage(m, err)
		case !skips:
			kept = append(kept, *m)
		}
		if err != nil {
			return nil, err
		}
	}
	return kept, nil
}
