package yson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonParser reads JSON (RFC 8259). Integers without point and exponent are
// int64, or uint64 above its range; larger ones are refused, not rounded.
type jsonParser struct{ cursor }

func parseJSON(data []byte) (*Node, error) {
	p := &jsonParser{newCursor(data)}
	node, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.skipSpace(); !p.done() {
		return nil, p.fail("want the end of the text, got %s", p.found())
	}
	return node, nil
}

func (p *jsonParser) value() (*Node, error) {
	p.skipSpace()
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	node := &Node{Pos: p.at()}
	return node, p.valueInto(node)
}

func (p *jsonParser) valueInto(n *Node) (err error) {
	switch c := p.peek(); {
	case c == '{':
		n.Kind = KindMap
		n.Map, err = p.object(n.Pos)
	case c == '[':
		n.Kind = KindList
		n.List, err = p.array(n.Pos)
	case c == '"':
		n.Kind = KindString
		n.Text, err = p.quoted()
	case c == '-' || c >= '0' && c <= '9':
		err = p.number(n)
	case isWordStart(c):
		err = p.word(n)
	default:
		err = p.fail("want a value, got %s", p.found())
	}
	return err
}

func (p *jsonParser) word(n *Node) error {
	switch word := p.takeWhile(isWordByte); word {
	case "true", "false":
		n.Kind, n.Bool = KindBoolean, word == "true"
	case "null":
	default:
		return p.failAt(n.Pos, `unknown literal %s: use true, false or null, or quote a string`, word)
	}
	return nil
}

func (p *jsonParser) object(open Pos) (entries []Entry, err error) {
	seen := keySet{}
	for more, err := p.first('}', open); more || err != nil; more, err = p.next('}', open) {
		if err != nil {
			return nil, err
		}
		entry := Entry{Pos: p.at()}
		if entry.Key, err = p.key(); err != nil {
			return nil, err
		}
		if err = seen.add(&p.cursor, entry.Key, entry.Pos); err != nil {
			return nil, err
		}
		if entry.Value, err = p.value(); err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

func (p *jsonParser) key() (string, error) {
	if p.peek() != '"' {
		return "", p.fail("want a quoted key, got %s", p.found())
	}
	key, err := p.quoted()
	if err != nil {
		return "", err
	}
	if p.skipSpace(); p.peek() != ':' {
		return "", p.fail(`want ":" after the key %q, got %s`, key, p.found())
	}
	p.pos++
	return key, nil
}

func (p *jsonParser) array(open Pos) (items []*Node, err error) {
	for more, err := p.first(']', open); more || err != nil; more, err = p.next(']', open) {
		if err != nil {
			return nil, err
		}
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// first passes an opening bracket and reports whether an item follows.
func (p *jsonParser) first(end byte, open Pos) (bool, error) {
	p.pos++
	p.skipSpace()
	if p.done() {
		return false, p.unclosed(end, open)
	}
	if p.peek() == end {
		p.pos++
		return false, nil
	}
	return true, nil
}

// next passes what follows an item and reports whether another one comes.
func (p *jsonParser) next(end byte, open Pos) (bool, error) {
	p.skipSpace()
	switch {
	case p.done():
		return false, p.unclosed(end, open)
	case p.peek() == end:
		p.pos++
		return false, nil
	case p.peek() == ',':
		p.pos++
		p.skipSpace()
		if p.peek() == end {
			return false, p.fail("no comma is allowed before %q", end)
		}
		return true, nil
	default:
		return false, p.fail(`want "," or %q (for the bracket %s), got %s`, end, open.roughly(), p.found())
	}
}

func (p *jsonParser) unclosed(end byte, open Pos) error {
	return p.failAt(open, "this bracket is not closed: want %q before the end of the text", end)
}

func (p *jsonParser) number(n *Node) (err error) {
	text := p.takeWhile(func(c byte) bool { return isNumberByte(c) && c != 'u' })
	switch {
	case !isJSONNumber(text):
		return p.failAt(n.Pos, "%s is no number", text)
	case strings.ContainsAny(text, ".eE"):
		n.Kind = KindDouble
		n.Double, err = strconv.ParseFloat(text, 64)
	default:
		n.Kind = KindInt64
		if n.Int, err = strconv.ParseInt(text, 10, 64); err != nil {
			n.Kind, n.Int = KindUint64, 0
			n.Uint, err = strconv.ParseUint(text, 10, 64)
		}
	}
	if err != nil {
		return p.failAt(n.Pos, "%s does not fit in 64 bits", text)
	}
	return nil
}

// isJSONNumber holds for -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?.
func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, s := cutDigits(s)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		fraction, rest := cutDigits(rest)
		if fraction == "" {
			return false
		}
		s = rest
	}
	if s == "" {
		return true
	}
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	exponent, rest := cutDigits(s)
	return exponent != "" && rest == ""
}

func cutDigits(s string) (digits, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

func (p *jsonParser) quoted() (string, error) {
	start := p.at()
	var text []byte
	for p.pos++; !p.done(); {
		c := p.data[p.pos]
		switch {
		case c == '"':
			p.pos++
			if !utf8.Valid(text) {
				return "", p.failAt(start, "this string is not valid UTF-8")
			}
			return string(text), nil
		case c == '\\':
			p.pos++
			var err error
			if text, err = p.escape(text); err != nil {
				return "", err
			}
		case c < 0x20:
			return "", p.fail("a control character in a string must be escaped, as %s", `\n or \u0000`)
		default:
			text = append(text, c)
			p.pos++
		}
	}
	return "", p.failAt(start, `this string is not closed: want " before the end of the text`)
}

func (p *jsonParser) escape(text []byte) ([]byte, error) {
	at, c := p.at(), p.peek()
	if strings.IndexByte(`"\/bfnrt`, c) >= 0 && c != 0 {
		p.pos++
		return append(text, simpleEscapes[c]), nil
	}
	if c == 'u' {
		if r, ok := p.unicode(); ok {
			return utf8.AppendRune(text, r), nil
		}
	}
	return nil, p.failAt(at, `bad escape in a string: use \", \\, \/, \b, \f, \n, \r, \t or \u0000`)
}

// unicode reads u and four digits, and the second half of a surrogate pair.
func (p *jsonParser) unicode() (rune, bool) {
	p.pos++
	v, n := p.digits(16, 4)
	r := rune(v)
	if n < 4 || !utf16.IsSurrogate(r) {
		return r, n == 4
	}
	if p.peek() != '\\' || p.pos+1 == len(p.data) || p.data[p.pos+1] != 'u' {
		return 0, false
	}
	p.pos += 2
	v, n = p.digits(16, 4)
	r = utf16.DecodeRune(r, rune(v))
	return r, n == 4 && r != utf8.RuneError
}
