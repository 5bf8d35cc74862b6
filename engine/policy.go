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
	timer   string
	skip    map[string]bool // the visit streams that leave failed visits out
	letters int             // the output that takes dead letters, -1 for none
}

func newPolicy(n *node, d *spec.DynamicComputation) policy {
	p := policy{message: d.OnMessageError, timer: d.OnTimerError, skip: map[string]bool{}}
	for _, v := range n.visitors {
		p.skip[v.stream] = d.VisitStream(v.stream).OnVisitError == skipErrors
	}
	p.letters = slices.IndexFunc(n.out, func(s outStream) bool { return s.id == d.DeadLetterStream })
	return p
}

// letter is an input that failed, as far as its dead letter tells of it.
type letter struct {
	meta        *flow.Meta
	cause       error
	path, count string // where it shows, and the counter
	column      func(name string) (schema.Value, bool)
}

// failedMessage does with a message that failed, and left nothing behind, as the
// policy says.
func (p *functionProcessor) failedMessage(m *flow.Message, cause error) error {
	return p.failedInput(p.policy.message, p.named(cause, m), letter{
		meta: &m.Meta, cause: cause, path: "/messages/" + m.StreamID + "/failed", count: "failed_messages",
		column: func(name string) (v schema.Value, ok bool) {
			at, ok := m.Payload.Schema().Index(name)
			if ok {
				v = m.Payload.Row()[at]
			}
			return v, ok
		},
	})
}

func (p *functionProcessor) failedInput(what string, err error, l letter) error {
	if what == failErrors {
		return err
	}
	if what == sendErrors {
		if e := p.sendLetter(&l); e != nil {
			return errors.Join(err, fmt.Errorf("its dead letter cannot be written: %w", e))
		}
	}
	p.failed.add(l.path, err)
	p.rt.Count(l.count, 1)
	return nil
}

// sendLetter emits what failed, with the reason, at the event time of the input.
func (p *functionProcessor) sendLetter(l *letter) error {
	if p.policy.letters < 0 {
		return errors.New("dead_letter_stream names no output")
	}
	s := &p.router.streams[p.policy.letters]
	row := make(schema.Row, s.schema.Len())
	for i, c := range s.schema.Columns() {
		switch c.Name {
		case spec.LetterReason:
			row[i] = schema.String(reasonOf(l.cause))
		case spec.LetterStream:
			row[i] = schema.String(l.meta.StreamID)
		case spec.LetterMessage:
			row[i] = schema.String(l.meta.ID.String())
		default:
			if v, ok := l.column(c.Name); ok {
				row[i] = v
			}
		}
	}
	if err := s.schema.Check(row); err != nil {
		return err
	}
	// Its own time may be what is wrong with it.
	return p.router.emitAt(p.policy.letters, row, int64(l.meta.EventTimestamp))
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
