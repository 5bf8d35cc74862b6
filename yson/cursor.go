package yson

import "fmt"

// cursor walks through text and knows line and column. Lines are counted while
// white space and strings are passed, the only places where they end.
type cursor struct {
	data      []byte
	binary    bool // has no lines
	pos       int
	line      int // from 1
	lineStart int
	depth     int
}

func newCursor(data []byte) cursor { return cursor{data: data, line: 1} }

func (c *cursor) at() Pos {
	if c.binary {
		return Pos{Column: c.pos + 1}
	}
	return Pos{Line: c.line, Column: c.pos - c.lineStart + 1}
}

func (c *cursor) done() bool { return c.pos >= len(c.data) }

// peek returns the next byte, 0 at the end.
func (c *cursor) peek() byte {
	if c.done() {
		return 0
	}
	return c.data[c.pos]
}

// newline notes that the byte before pos ended a line.
func (c *cursor) newline() {
	c.line++
	c.lineStart = c.pos
}

func (c *cursor) skipSpace() {
	for !c.done() {
		switch c.data[c.pos] {
		case '\n':
			c.pos++
			c.newline()
		case ' ', '\t', '\r', '\v', '\f':
			c.pos++
		default:
			return
		}
	}
}

// takeWhile returns the bytes from pos on for which ok holds, and passes them.
func (c *cursor) takeWhile(ok func(byte) bool) string {
	start := c.pos
	for !c.done() && ok(c.data[c.pos]) {
		c.pos++
	}
	return string(c.data[start:c.pos])
}

func (c *cursor) failAt(at Pos, format string, args ...any) error {
	return Problems{{Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...)}}
}

func (c *cursor) fail(format string, args ...any) error { return c.failAt(c.at(), format, args...) }

// found describes the next byte for a message.
func (c *cursor) found() string {
	if c.done() {
		return c.end()
	}
	return fmt.Sprintf("%q", c.data[c.pos:c.pos+1])
}

// end names the end of what is read, for a message.
func (c *cursor) end() string {
	if c.binary {
		return "the end of the data"
	}
	return "the end of the text"
}

// enter goes one level down; every successful enter needs a leave.
func (c *cursor) enter() error {
	if c.depth == maxDepth {
		return c.fail("nested deeper than %d levels", maxDepth)
	}
	c.depth++
	return nil
}

func (c *cursor) leave() { c.depth-- }

// keySet refuses the second use of a key in a map.
type keySet map[string]Pos

func (s keySet) add(c *cursor, key string, at Pos) error {
	if first, twice := s[key]; twice {
		return c.failAt(at, "key %q is given twice, first %s: remove one", key, first.roughly())
	}
	s[key] = at
	return nil
}
