package rowtext

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string literal. Without escapes the result is a part of the line.
func (c *cursor) str() (string, error) {
	start := c.at + 1
	for i := start; i < len(c.text); i++ {
		switch b := c.text[i]; {
		case b == '"':
			c.at = i + 1
			return c.text[start:i], nil
		case b == '\\':
			c.at = start
			return c.unescape()
		case b < ' ':
			c.at = i
			return "", c.control(b)
		}
	}
	c.at = len(c.text)
	return "", c.fail("the line ends inside a string")
}

func (c *cursor) control(b byte) error {
	return c.fail(`control character in a string, want it as \u%04x`, b)
}

// unescape reads the rest of a string literal, from behind its opening quote.
func (c *cursor) unescape() (string, error) {
	var b strings.Builder
	for c.at < len(c.text) {
		plain := c.at
		for plain < len(c.text) && c.text[plain] != '"' && c.text[plain] != '\\' && c.text[plain] >= ' ' {
			plain++
		}
		b.WriteString(c.text[c.at:plain])
		c.at = plain
		switch ch := c.peek(); {
		case c.at == len(c.text):
		case ch == '"':
			c.at++
			return b.String(), nil
		case ch == '\\':
			if err := c.escape(&b); err != nil {
				return "", err
			}
		default:
			return "", c.control(ch)
		}
	}
	return "", c.fail("the line ends inside a string")
}

const (
	escapes  = `"\/bfnrt`
	meanings = "\"\\/\b\f\n\r\t"
)

// escape reads one escape sequence.
func (c *cursor) escape(b *strings.Builder) error {
	c.at++
	ch := c.peek()
	if ch == 'u' {
		return c.unicode(b)
	}
	i := strings.IndexByte(escapes, ch)
	if i < 0 {
		return c.fail("%s after a backslash, want one of %su", c.found(), escapes)
	}
	c.at++
	b.WriteByte(meanings[i])
	return nil
}

// unicode reads uXXXX, or two of them that are a surrogate pair.
func (c *cursor) unicode(b *strings.Builder) error {
	start := c.at
	r, err := c.hex4()
	if err != nil {
		return err
	}
	if utf16.IsSurrogate(r) {
		low := rune(0)
		if strings.HasPrefix(c.text[c.at:], `\u`) {
			c.at++
			if low, err = c.hex4(); err != nil {
				return err
			}
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			c.at = start
			return c.fail("half of a surrogate pair stands alone")
		}
	}
	b.WriteRune(r)
	return nil
}

// hex4 reads u and four hexadecimal digits.
func (c *cursor) hex4() (rune, error) {
	c.at++
	var r rune
	for range 4 {
		switch b := c.peek(); {
		case b >= '0' && b <= '9':
			r = r<<4 | rune(b-'0')
		case b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F':
			r = r<<4 | rune(b&7+9)
		default:
			return 0, c.fail(`%s in \u, want four hexadecimal digits`, c.found())
		}
		c.at++
	}
	return r, nil
}
