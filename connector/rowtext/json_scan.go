package rowtext

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// cursor walks over the JSON text of one line. Its methods leave it behind
// what they read; each error says where it is.
type cursor struct {
	text string
	at   int
}

func (c *cursor) fail(format string, args ...any) error {
	return &Error{Offset: c.at, Err: fmt.Errorf(format, args...)}
}

// peek returns the byte at the cursor, 0 at the end (no JSON text has a NUL).
func (c *cursor) peek() byte {
	if c.at < len(c.text) {
		return c.text[c.at]
	}
	return 0
}

func (c *cursor) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

// expect skips space, reads the byte b, and skips space again.
func (c *cursor) expect(b byte, why string) error {
	c.space()
	if c.peek() != b {
		return c.fail("%s, want %s", c.found(), why)
	}
	c.at++
	c.space()
	return nil
}

// found says what is at the cursor.
func (c *cursor) found() string {
	if c.at >= len(c.text) {
		return "the line ends"
	}
	r, _ := utf8.DecodeRuneInString(c.text[c.at:])
	return fmt.Sprintf("found %q", r)
}

// more reads the comma before another element, or the closing bracket.
func (c *cursor) more(closing byte) (bool, error) {
	c.space()
	switch c.peek() {
	case ',':
		c.at++
		c.space()
		return true, nil
	case closing:
		c.at++
		return false, nil
	default:
		return false, c.fail("%s, want ',' or %q", c.found(), closing)
	}
}

// number reads a number.
func (c *cursor) number() (string, error) {
	start := c.at
	if c.peek() == '-' {
		c.at++
	}
	if c.peek() == '0' {
		c.at++
	} else if err := c.digits(); err != nil {
		return "", err
	}
	if c.peek() == '.' {
		c.at++
		if err := c.digits(); err != nil {
			return "", err
		}
	}
	if c.peek()|0x20 == 'e' {
		c.at++
		if c.peek() == '+' || c.peek() == '-' {
			c.at++
		}
		if err := c.digits(); err != nil {
			return "", err
		}
	}
	return c.text[start:c.at], nil
}

func (c *cursor) digits() error {
	start := c.at
	for c.at < len(c.text) && c.text[c.at]-'0' <= 9 {
		c.at++
	}
	if c.at == start {
		return c.fail("%s in a number, want a digit", c.found())
	}
	return nil
}

// literal reads true, false or null.
func (c *cursor) literal() (string, error) {
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(c.text[c.at:], word) {
			c.at += len(word)
			return word, nil
		}
	}
	return "", c.fail("%s, want a JSON value", c.found())
}

// maxDepth bounds the nesting of values, and with it the stack.
const maxDepth = 10000

// skip reads one value of any kind.
func (c *cursor) skip(depth int) error {
	var err error
	switch b := c.peek(); {
	case b == '"':
		_, err = c.str()
	case b == '{' || b == '[':
		err = c.skipNested(b, depth)
	case b == '-' || b-'0' <= 9:
		_, err = c.number()
	default:
		_, err = c.literal()
	}
	return err
}

func (c *cursor) skipNested(open byte, depth int) error {
	return c.nested(open, depth, func(string) error { return c.skip(depth + 1) })
}

// nested reads the object or list at the cursor and calls element for each of
// its values, with the name in an object.
func (c *cursor) nested(open byte, depth int, element func(name string) error) error {
	if depth >= maxDepth {
		return c.fail("more than %d levels of nesting", maxDepth)
	}
	c.at++
	c.space()
	closing := open + 2 // '{' to '}', '[' to ']'
	if c.peek() == closing {
		c.at++
		return nil
	}
	for more := true; more; {
		name := ""
		var err error
		if open == '{' {
			if name, err = c.name(); err != nil {
				return err
			}
		}
		if err = element(name); err != nil {
			return err
		}
		if more, err = c.more(closing); err != nil {
			return err
		}
	}
	return nil
}

// name reads the name of a field and the colon behind it.
func (c *cursor) name() (string, error) {
	if c.peek() != '"' {
		return "", c.fail("%s, want a field name in quotes", c.found())
	}
	name, err := c.str()
	if err != nil {
		return "", err
	}
	return name, c.expect(':', "':' after the name of a field")
}
