package rowtext

import (
	"strings"
	"unicode/utf8"
)

// AppendUTF8 appends a JSON text whose strings may hold any bytes, as JSON that
// is UTF-8: strings that are not become the objects that the encoder writes, names
// of fields have U+FFFD in place of such bytes. What is no JSON stays as it is.
func AppendUTF8(dst []byte, text string) []byte {
	c := cursor{text: text}
	for !utf8.ValidString(text[c.at:]) {
		start := strings.IndexByte(text[c.at:], '"')
		if start < 0 {
			break
		}
		start += c.at
		dst = append(dst, text[c.at:start]...)
		c.at = start
		s, err := c.str()
		if err != nil {
			return append(dst, text[start:]...)
		}
		switch end := c.at; {
		case utf8.ValidString(text[start:end]):
			dst = append(dst, text[start:end]...)
		case c.before(':'):
			dst = appendName(dst, s)
		default:
			dst = appendText(dst, s)
		}
	}
	return append(dst, text[c.at:]...)
}

// before tells whether the byte b is what comes next but for space.
func (c cursor) before(b byte) bool {
	c.space()
	return c.peek() == b
}
