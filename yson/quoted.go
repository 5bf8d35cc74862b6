package yson

import "unicode/utf8"

// simpleEscapes maps the byte after a backslash to what it stands for.
var simpleEscapes = map[byte]byte{
	'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '"': '"', '\'': '\'', '?': '?', '/': '/',
	'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v',
}

// quoted reads a quoted string of YSON text; it may hold any bytes, line ends
// too.
func (p *textParser) quoted() (string, error) {
	start := p.at()
	var text []byte
	for p.pos++; !p.done(); {
		c := p.data[p.pos]
		p.pos++
		switch c {
		case '"':
			return string(text), nil
		case '\\':
			var err error
			if text, err = p.escape(text); err != nil {
				return "", err
			}
		case '\n':
			p.newline()
			text = append(text, c)
		default:
			text = append(text, c)
		}
	}
	return "", p.failAt(start, `this string is not closed: want " before %s`, p.end())
}

// escape reads what follows a backslash.
func (p *textParser) escape(text []byte) ([]byte, error) {
	c := p.peek()
	if b, ok := simpleEscapes[c]; ok {
		p.pos++
		return append(text, b), nil
	}
	at := p.at()
	switch {
	case c == 'x':
		p.pos++
		if v, n := p.digits(16, 2); n > 0 {
			return append(text, byte(v)), nil
		}
	case c >= '0' && c <= '7':
		if v, _ := p.digits(8, 3); v <= 0xff {
			return append(text, byte(v)), nil
		}
	case c == 'u' || c == 'U':
		want := 4
		if c == 'U' {
			want = 8
		}
		p.pos++
		if v, n := p.digits(16, want); n == want && utf8.ValidRune(rune(v)) {
			return utf8.AppendRune(text, rune(v)), nil
		}
	}
	return nil, p.failAt(at, `unknown escape in a string: use \n, \t, \\, \", \x00, \000 or \u0000`)
}

// digits reads up to limit digits of the base and returns their value and count.
func (c *cursor) digits(base, limit int) (value uint32, n int) {
	for n < limit && !c.done() {
		d := hexDigit(c.data[c.pos])
		if d < 0 || d >= base {
			break
		}
		value = value*uint32(base) + uint32(d)
		c.pos++
		n++
	}
	return value, n
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	default:
		return -1
	}
}
