package spec

import (
	"slices"

	"github.com/rondo-flow/rondo/schema"
)

// The columns of a dead-letter stream that say what happened; all of them are
// strings (D-24).
const (
	LetterReason  = "reason"
	LetterStream  = "stream_id"
	LetterMessage = "message_id"
)

// checkDeadLetters makes sure that every failed message of the computation fits
// into the stream, so that no letter can fail in its turn.
func (c *checker) checkDeadLetters(at place, comp *Computation, letters *Stream) {
	if letters == nil || letters.Schema == nil {
		return // told elsewhere
	}
	if _, ok := letters.Schema.Index(LetterReason); !ok {
		c.add(at, "%s has no column %s: add {name=%s; type=string} to its schema", letters.ID, LetterReason, LetterReason)
	}
	for _, col := range letters.Schema.Columns() {
		if slices.Contains([]string{LetterReason, LetterStream, LetterMessage}, col.Name) {
			if col.Type != schema.TypeString {
				c.add(at, "column %s of %s is %s: it must be string", col.Name, letters.ID, col.Type)
			}
			continue
		}
		c.checkLetterColumn(at, comp, letters.ID, col)
	}
	c.checkTimerLetters(at, comp, letters)
	for _, in := range upstreamsOf(comp) {
		if parents := comp.Dependencies[letters.ID]; !slices.Contains(parents, in) {
			c.add(at, "%s does not depend on %s, whose messages it may take: add \"%s\" = %s to streams_dependency of %s",
				letters.ID, in, letters.ID, list(append(slices.Clone(parents), in)), comp.ID)
		}
	}
}

// checkTimerLetters checks what letters of timers need besides: they have the columns
// of the key alone.
func (c *checker) checkTimerLetters(at place, comp *Computation, letters *Stream) {
	if c.spec.Dynamic.Computation(comp.ID).OnTimerError != "dead_letter" {
		return
	}
	for _, timer := range comp.TimerStreamIDs() {
		if parents := comp.Dependencies[letters.ID]; !slices.Contains(parents, timer) {
			c.add(at, "%s does not depend on %s, whose timers it may take: add \"%s\" = %s to streams_dependency of %s",
				letters.ID, timer, letters.ID, list(append(slices.Clone(parents), timer)), comp.ID)
		}
	}
	for _, col := range letters.Schema.Columns() {
		if _, inKey := comp.GroupBy.Index(col.Name); col.Required && !inKey && col.Name != LetterReason && col.Name != LetterStream && col.Name != LetterMessage {
			c.add(at, "column %s of %s is required, but a timer has the columns of the key alone: make it optional", col.Name, letters.ID)
		}
	}
}

// checkLetterColumn checks a column that takes its value from the failed message.
func (c *checker) checkLetterColumn(at place, comp *Computation, letters string, col schema.Column) {
	found := false
	for _, in := range upstreamsOf(comp) {
		s := c.spec.Pipeline.SchemaOf(comp, in)
		if s == nil {
			return
		}
		i, ok := s.Index(col.Name)
		switch {
		case !ok && col.Required:
			c.add(at, "column %s of %s is required, but %s does not have it: make it optional", col.Name, letters, in)
		case !ok:
		case s.Columns()[i].Type != col.Type:
			c.add(at, "column %s of %s is %s, but that of %s is %s: give them one type", col.Name, letters, col.Type, in, s.Columns()[i].Type)
		case col.Required && !s.Columns()[i].MustNotBeNull():
			c.add(at, "column %s of %s is required, but that of %s may be null: make it optional", col.Name, letters, in)
		}
		found = found || ok
	}
	if !found {
		c.add(at, "no input of %s has a column %s, as %s has: a letter has the columns %s, %s, %s and those of the inputs",
			comp.ID, col.Name, letters, LetterReason, LetterStream, LetterMessage)
	}
}
