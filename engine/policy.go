package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/spec"
)

// What becomes of an input whose handler fails.
const (
	failErrors = "fail" // the epoch fails
	skipErrors = "skip" // the input is left out
	sendErrors = "dead_letter"
)

// policy is what becomes of inputs whose handlers fail (D-24, KV-27).
type policy struct {
	message string
	skip    map[string]bool // the visit streams that leave failed visits out
	letters int             // the output that takes dead letters, -1 for none
}

func newPolicy(n *node, d *spec.DynamicComputation) policy {
	p := policy{message: d.OnMessageError, skip: map[string]bool{}}
	for _, v := range n.visitors {
		p.skip[v.stream] = d.VisitStream(v.stream).OnVisitError == skipErrors
	}
	p.letters = slices.IndexFunc(n.out, func(s outStream) bool { return s.id == d.DeadLetterStream })
	return p
}

// failedMessage does with a message that failed, and left nothing behind, as the
// policy says.
func (p *functionProcessor) failedMessage(m *flow.Message, cause error) error {
	err := p.named(cause, m)
	if p.policy.message == failErrors {
		return err
	}
	if p.policy.message == sendErrors {
		if e := p.sendLetter(m, cause); e != nil {
			return errors.Join(err, fmt.Errorf("its dead letter cannot be written: %w", e))
		}
	}
	p.failed.add("/messages/"+m.StreamID+"/failed", err)
	p.rt.Count("failed_messages", 1)
	return nil
}

// sendLetter emits what failed, with the reason, at the event time of the message.
func (p *functionProcessor) sendLetter(m *flow.Message, cause error) error {
	if p.policy.letters < 0 {
		return errors.New("dead_letter_stream names no output")
	}
	s := &p.router.streams[p.policy.letters]
	row := make(schema.Row, s.schema.Len())
	for i, c := range s.schema.Columns() {
		switch c.Name {
		case spec.LetterReason:
			row[i] = schema.String(reasonOf(cause))
		case spec.LetterStream:
			row[i] = schema.String(m.StreamID)
		case spec.LetterMessage:
			row[i] = schema.String(m.ID.String())
		default:
			if at, ok := m.Payload.Schema().Index(c.Name); ok {
				row[i] = m.Payload.Row()[at]
			}
		}
	}
	if err := s.schema.Check(row); err != nil {
		return err
	}
	return p.router.emit(p.policy.letters, row, int64(m.EventTimestamp))
}

// longestReason bounds the reason of a letter, in bytes.
const longestReason = 4 << 10

// reasonOf is what went wrong, without the stack of a panic.
func reasonOf(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\ngoroutine ")
	if len(text) > longestReason {
		text = text[:longestReason]
	}
	return strings.ToValidUTF8(text, "")
}
